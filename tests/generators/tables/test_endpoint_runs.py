"""Endpoint runs are read from the store; what is broken is named, and nothing a model wrote gets through."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from generators.tables.database import Database
from generators.tables.endpoint_runs import EndpointRuns, best_run, load_endpoint_runs
from tests.generators.tables.endpoint_made import FAST, MODEL, SLOW, MadeRun, MadeTarget, write_run

SMALL = MadeRun(instances=3, load=False, coding=False)


def loaded(results: Path) -> EndpointRuns:
    return load_endpoint_runs(results, demonstration=False)


def test_runs_come_from_the_oldest_to_the_newest(tmp_path: Path) -> None:
    for run_id, day in (("b", 2), ("c", 0), ("a", 5)):
        write_run(tmp_path, replace(SMALL, run_id=run_id, day=day))
    found = loaded(tmp_path)
    assert [run.run_id for run in found.of(MODEL)] == ["c", "b", "a"]
    assert found.models == (MODEL,)
    assert found.broken == ()
    assert all(run.notes == () for run in found.runs)


def test_a_store_without_benchmarks_has_none(tmp_path: Path) -> None:
    assert loaded(tmp_path / "nothing") == EndpointRuns()


def test_what_a_model_wrote_is_not_kept(tmp_path: Path) -> None:
    write_run(tmp_path, SMALL)
    [run] = loaded(tmp_path).runs
    text = "".join(trial.model_dump_json() for trial in run.trials)
    assert "secret words" not in text
    assert '"answer":"4' not in text
    assert all(request.fragments == () for trial in run.trials for request in trial.requests)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("manifest.json", None, "there is no manifest"),
        ("manifest.json", "{", "not readable as JSON"),
        ("manifest.json", '{"kind": "bench-manifest", "schema_version": 99}', "reads up to 1"),
        ("summary.json", None, "invoke bench --resume r1"),
        ("summary.json", "[]", "not a JSON object"),
        ("trials.jsonl", "nonsense\n", "not readable as JSON"),
    ],
)
def test_a_broken_file_is_named_and_the_other_runs_are_read(
    tmp_path: Path, name: str, content: str | None, reason: str
) -> None:
    broken = write_run(tmp_path, SMALL)
    write_run(tmp_path, replace(SMALL, run_id="r2"))
    if content is None:
        (broken.folder / name).unlink()
    else:
        (broken.folder / name).write_text(content, encoding="utf-8")
    found = loaded(tmp_path)
    assert [run.run_id for run in found.runs] == ["r2"]
    [named] = found.broken
    assert named.folder == f"endpoint/{MODEL}/r1"
    assert reason in named.reason


def test_a_folder_with_a_name_that_is_none_is_named(tmp_path: Path) -> None:
    run = write_run(tmp_path, SMALL)
    shutil.copytree(run.folder, run.folder.parent / "Bad Name")
    [named] = loaded(tmp_path).broken
    assert "cannot be part of a path" in named.reason


def test_a_copied_run_is_told_from_its_own_folder(tmp_path: Path) -> None:
    run = write_run(tmp_path, SMALL)
    shutil.copytree(run.folder, run.folder.parent / "copy")
    [named] = loaded(tmp_path).broken
    assert named.reason == f"its manifest is of another run, {MODEL}/r1"


def test_a_demonstration_among_real_results_is_not_shown_with_them(tmp_path: Path) -> None:
    run = write_run(tmp_path, replace(SMALL, demonstration=True))
    shutil.copytree(run.folder, tmp_path / "endpoint" / MODEL / run.run_id)
    found = loaded(tmp_path)
    assert found.runs == ()
    assert "the built-in server" in found.broken[0].reason
    assert load_endpoint_runs(tmp_path / "demonstration", demonstration=True).models == (MODEL,)


def test_figures_that_are_older_than_the_trials_are_told(tmp_path: Path) -> None:
    run = write_run(tmp_path, SMALL)
    lines = run.trials_path.read_bytes().splitlines(keepends=True)
    run.trials_path.write_bytes(b"".join(lines[:-1]))
    [read] = loaded(tmp_path).runs
    assert read.notes == ("the trials have changed since the figures were made: invoke bench --resume r1",)


def test_a_last_line_that_is_cut_ends_nothing(tmp_path: Path) -> None:
    run = write_run(tmp_path, SMALL)
    with run.trials_path.open("ab") as stream:
        stream.write(b'{"kind": "bench-tr')
    [read] = loaded(tmp_path).runs
    assert read.notes == ()


def test_mappings_with_one_label_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    run = write_run(tmp_path, SMALL)
    manifest = json.loads(run.manifest_path.read_text(encoding="utf-8"))
    for target in manifest["targets"]:
        target["label"] = "same"
    run.manifest_path.write_text(json.dumps(manifest), encoding="utf-8")
    [read] = loaded(tmp_path).runs
    assert list(read.labels.values()) == [FAST.identifier, SLOW.identifier]


def test_the_run_shown_is_complete_then_of_its_profile_then_new(tmp_path: Path) -> None:
    made = [
        replace(SMALL, run_id="old", profile="standard"),
        replace(SMALL, run_id="new", profile="standard", day=1),
        replace(SMALL, run_id="smoke", profile="smoke", day=2),
        replace(SMALL, run_id="cut", profile="standard", day=3, ended="partial"),
    ]
    for each in made:
        write_run(tmp_path, each)
    runs = loaded(tmp_path).runs

    def chosen(*names: str, profile: str = "standard") -> str | None:
        found = best_run(tuple(run for run in runs if run.run_id in names), profile)
        return found.run_id if found else None

    assert chosen("old", "new", "smoke", "cut") == "new"
    assert chosen("smoke", "cut") == "smoke"
    assert chosen("cut") == "cut"
    assert chosen("new", "smoke", profile="smoke") == "smoke"
    assert chosen() is None


def test_a_newer_methodology_is_never_mixed_with_an_older_one(tmp_path: Path) -> None:
    write_run(tmp_path, replace(SMALL, run_id="one"))
    write_run(tmp_path, replace(SMALL, run_id="two", profile="smoke", methodology=2, ended="partial"))
    found = best_run(loaded(tmp_path).runs)
    assert found is not None
    assert found.run_id == "two"


def test_the_exports_have_every_trial_and_no_unknown_as_zero(tmp_path: Path) -> None:
    write_run(tmp_path, MadeRun(instances=5, left_out=2, load=False, coding=False))
    database = Database((), endpoints=loaded(tmp_path))
    trials = database.frame("FROM endpoint_trials")
    targets = database.frame("FROM endpoint_targets ORDER BY mapping")
    database.close()
    assert len(trials) == 5 * 4 * 2
    assert trials["skipped"].notna().sum() == 4
    failed = trials[trials["outcome"] == "rate_limited"]
    assert len(failed) == 3
    assert failed["ttft_ms"].isna().all()
    slow, swift = targets.iloc[0], targets.iloc[1]
    assert (slow["mapping"], swift["mapping"]) == ("slow:eu", "swift")
    assert pd.isna(slow["cost_usd"]), "an unknown cost is null"
    assert slow["rate_limited_count"] == 3
    assert slow["rate_limited_of"] == 18
    assert swift["ttft_ms_n"] == 18
    assert pd.isna(swift["coding_solved"])


def test_the_spreadsheet_export_neutralises_formulas(tmp_path: Path) -> None:
    hostile = MadeTarget("swift", fails_every=2, failure="http_error")
    run = write_run(tmp_path, replace(SMALL, targets=(hostile,)))
    lines = run.trials_path.read_text(encoding="utf-8").replace('"429"', '"=HYPERLINK(1)"')
    run.trials_path.write_text(lines, encoding="utf-8")
    database = Database((), endpoints=loaded(tmp_path))
    database.export(tmp_path / "out")
    database.close()
    text = (tmp_path / "out" / "endpoint_trials.csv").read_text(encoding="utf-8")
    assert "'=HYPERLINK(1)" in text
    assert ",=HYPERLINK" not in text
