"""A matrix file becomes cells of one plan: interleaved, resumable, with every fault in one report."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.engine.matrix import OF_A_CELL, OF_A_DATASET, OF_A_MODEL, SHARED, read_matrix
from runner.engine.places import Places
from runner.engine.planning import make_plan
from runner.engine.resolution import complete, resolve_all
from runner.engine.settings import RunSettings
from runner.errors import ConfigurationError, UsageError
from runner.harnesses.loop import Loop
from runner.records import PlanRecord
from runner.store import ResultsStore, verify
from tests.engine.runs import demonstration, run, undo_last_trial
from tests.engine.standin import HARNESS, PROVIDER, script

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
SMALL = """
models: [replay-careful, replay-hasty]
harnesses: [loop]
skills: [fix]
datasets:
  - dataset: hello-world
    count: 2
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "matrix.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(folder: Path, text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_matrix(written(folder, text))
    return caught.value.message()


def test_every_combination_is_a_group_of_its_own_in_the_order_of_the_file(tmp_path: Path) -> None:
    groups = read_matrix(
        written(
            tmp_path,
            """
models:
  - replay-careful
  - {model: "vendor/m,1", provider: endpoint, endpoint: "http://h/v1", api_key_env: K, protocol: messages}
harnesses: [loop, pi]
skills: [fix]
datasets: [hello-world]
efforts: [null, high]
trials: 3
limits: {max_turns: 9, timeout_seconds: 60}
""",
        )
    )
    seen = [(group.model, group.harness, group.effort, group.provider) for group in groups]
    assert len(seen) == 8 == len(set(seen))
    assert seen[0] == (("replay-careful",), ("loop",), None, "")
    assert seen[-1] == (("vendor/m,1",), ("pi",), "high", "endpoint")
    assert {(group.trials, group.max_turns, group.timeout_seconds) for group in groups} == {(3, 9, 60)}
    assert groups[-1].protocol == ("messages",)
    assert groups[0].api_key_env is None


def test_every_setting_has_its_place_in_a_matrix() -> None:
    everywhere = OF_A_MODEL | OF_A_DATASET | OF_A_CELL | SHARED
    assert everywhere == set(RunSettings.model_fields)
    assert set() == SHARED & (OF_A_DATASET | OF_A_CELL)
    assert not {name for name in SHARED if name.startswith("price_")}


def test_prices_belong_to_the_model_they_are_of(tmp_path: Path) -> None:
    text = SMALL.replace("replay-hasty]", "{model: replay-hasty, price_input: 2.0, price_output: 8}]")
    prices = [group.price_output for group in read_matrix(written(tmp_path, text))]
    assert prices == [None, 8.0]
    assert "price_input: unknown key" in faults(tmp_path, SMALL + "limits: {price_input: 1}\n")


def test_a_key_of_an_entry_that_stands_beside_the_lists_is_told_where_it_belongs(tmp_path: Path) -> None:
    assert "tasks: belongs in an entry of datasets" in faults(tmp_path, SMALL + "tasks: [fair-rounding]\n")
    assert "provider: belongs in an entry of models" in faults(tmp_path, SMALL + "provider: replay\n")


def test_a_partial_match_leaves_cells_out(tmp_path: Path) -> None:
    text = SMALL.replace("[loop]", "[loop, pi, codex]")
    text += "exclude:\n  - {harness: pi}\n  - {harness: codex, model: replay-hasty}\n"
    left = [(group.harness[0], group.model[0]) for group in read_matrix(written(tmp_path, text))]
    assert left == [("loop", "replay-careful"), ("codex", "replay-careful"), ("loop", "replay-hasty")]


def test_all_faults_are_in_one_report_with_their_lines(tmp_path: Path) -> None:
    message = faults(
        tmp_path,
        """models:
  - {model: a, endpont: "http://h"}
  - {provider: replay}
harnesses: []
skils: [fix]
datasets:
  - {dataset: hello-world, count: -1}
trials: none
limits:
  max_turn: 4
exclude:
  - {harnes: pi}
  - {model: b}
""",
    )
    for part in (
        "line 2: endpont: unknown key (did you mean endpoint?)",
        "line 3: models: an entry needs model",
        "line 4: harnesses: must be a list",
        "line 5: skils: unknown key (did you mean skills?)",
        "skills: is missing",
        "line 10: max_turn: unknown key (did you mean max_turns?)",
        "line 12: harnes: unknown key (did you mean harness?)",
        "line 13: exclude: no entry has model b",
    ):
        assert part in message


def test_wrong_values_are_named_with_the_line_of_their_entry(tmp_path: Path) -> None:
    message = faults(
        tmp_path, SMALL.replace("count: 2", "count: -2") + "trials: none\nlimits:\n  max_turns: 0\n"
    )
    assert "line 7: count:" in message
    assert "line 8: trials:" in message
    assert "line 10: max_turns:" in message
    assert message.count("count:") == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "keys and values"),
        ("- a\n", "keys and values"),
        ("models: [", "not YAML: line 1, column 10: expected the node content"),
        ("models: [a]\nmodels: [b]\n", "given twice"),
        ("!!python/object/apply:os.system ['true']", "not YAML"),
        (SMALL + "exclude: [{harness: loop}]\n", "everything is excluded"),
        (SMALL + "exclude: [{model: replay-hasty, skill: fxi}]\n", "skill fxi (did you mean fix?)"),
        (SMALL + "exclude: {harness: loop}\n", "must be a list"),
        (SMALL + "exclude: [loop]\n", "must hold some of"),
        (SMALL + "limits: 3\n", "limits: must hold"),
        (SMALL + "seed: 1\nlimits: {seed: 2}\n", "given at the top as well"),
        (SMALL.replace("[loop]", "[loop, 3]"), "an entry must be a name"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    assert complaint in faults(tmp_path, text)


def test_a_missing_enormous_or_endless_matrix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_matrix(tmp_path / "nothing.yaml")
    with pytest.raises(ConfigurationError, match="larger than"):
        read_matrix(written(tmp_path, "#" * 300_000))
    names = ", ".join(f"m{number}" for number in range(200))
    axes = f"models: [{names}]\nharnesses: [{names}]\nskills: [fix]\ndatasets: [d]\n"
    assert "40000 cells are more than 10000" in faults(tmp_path, axes)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = written(tmp_path_factory.getbasetemp(), text.encode("utf-8", "ignore").decode())
    with contextlib.suppress(ConfigurationError):
        assert read_matrix(path)


def plan_of(places: Places) -> PlanRecord:
    [plan] = demonstration(places).plans()
    return plan


def test_a_matrix_is_one_plan_that_interleaves_its_cells(places: Places, tmp_path: Path) -> None:
    path = written(tmp_path, SMALL + "trials: 2\nseed: 3\n")
    code, output = run(places, matrix=path)
    assert code == 0
    plan = plan_of(places)
    cells = [planned.identity.cell.model.slug for planned in plan.trials]
    assert sorted(cells[:4]) == sorted(cells[4:]) == ["replay-careful"] * 2 + ["replay-hasty"] * 2
    assert plan.seed == 3
    assert "8 of 8 trials finished" in output
    assert verify(places.roots().demonstration) == []


def test_a_program_is_asked_for_its_version_once_however_many_trials_it_has(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    answer = Loop.version

    def counted(self: Loop, installed: Path) -> str:
        asked.append(installed)
        return answer(self, installed)

    monkeypatch.setattr(Loop, "version", counted)
    groups = resolve_all([complete(RunSettings(trials=3), places)], places)
    plan = make_plan(groups, ResultsStore(places.results), now=NOW)
    assert len(plan.trials) == 30
    assert len(asked) == 1


def test_an_interrupted_matrix_goes_on_with_what_is_left(places: Places, tmp_path: Path) -> None:
    run(places, matrix=written(tmp_path, SMALL))
    store, plan = demonstration(places), plan_of(places)
    victim = undo_last_trial(store, plan.plan_id)
    code, output = run(places, resume=True)
    assert (code, "3 of 4 trials are there already" in output) == (0, True)
    assert (victim / "trial.json").is_file()
    assert verify(store.root) == []


def test_models_of_several_providers_and_datasets_run_in_one_plan(places: Places, tmp_path: Path) -> None:
    other = places.datasets / "other.yaml"
    text = (places.datasets / "hello-world.yaml").read_text(encoding="utf-8")
    text = text.replace("name: hello-world", "name: other").replace("scope: hello-world", "scope: other")
    other.write_text(text, encoding="utf-8")
    script(places, "change(); note()\nsay(cost=0.1)\n")
    path = written(
        tmp_path,
        f"""
models:
  - {{model: m, provider: "{PROVIDER}"}}
  - {{model: n, provider: "{PROVIDER}", context_window: 300000, hosting: self-hosted, precision: fp8}}
harnesses: ["{HARNESS}"]
skills: [fix]
datasets: [{{dataset: hello-world, count: 1}}, {{dataset: other, count: 2}}]
concurrency: 3
""",
    )
    code, _ = run(places, matrix=path, environment={})
    records = [stored.record for stored in ResultsStore(places.results).trials()]
    assert code == 0
    found = sorted((r.identity.cell.model.slug, r.identity.cell.dataset) for r in records)
    assert found == [("m", "hello-world"), ("m", "other"), ("m", "other"),
                     ("n", "hello-world"), ("n", "other"), ("n", "other")]  # fmt: skip
    serving = {r.identity.cell.model.slug: r.serving for r in records}
    assert (serving["m"].precision, serving["n"].precision) == (None, "fp8")
    assert (serving["m"].context_window, serving["n"].context_window) == (200_000, 300_000)


def test_two_entries_of_one_cell_are_refused(places: Places, tmp_path: Path) -> None:
    text = SMALL.replace(
        "[replay-careful, replay-hasty]", "[replay-careful, {model: replay-careful, faults: slow5}]"
    )
    with pytest.raises(UsageError, match="fill the same cell"):
        run(places, matrix=written(tmp_path, text))


def test_demonstrations_and_real_runs_do_not_share_a_matrix(places: Places, tmp_path: Path) -> None:
    text = SMALL.replace("replay-hasty]", f"{{model: m, provider: '{PROVIDER}'}}]")
    with pytest.raises(UsageError, match="stores of their own"):
        run(places, matrix=written(tmp_path, text))


def test_flags_that_shape_what_is_measured_cannot_stand_beside_a_matrix(
    places: Places, tmp_path: Path
) -> None:
    path = written(tmp_path, SMALL)
    with pytest.raises(UsageError, match="--model cannot stand beside it"):
        run(places, {"model": "replay-careful"}, matrix=path)
    assert run(places, {"trials": "1", "seed": "8", "concurrency": "1"}, matrix=path, dry_run=True)[0] == 0
    with pytest.raises(UsageError, match="--matrix"):
        run(places, matrix=path, resume=True)
