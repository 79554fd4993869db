"""Settings of a run: file and flags together, all faults in one report."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.engine.settings import (
    RunSettings,
    changed,
    read_settings,
    settings_from_strings,
    settings_to_strings,
)
from runner.errors import ConfigurationError


def written(folder: Path, text: str) -> Path:
    path = folder / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_file_and_flags_the_defaults_hold() -> None:
    assert read_settings(None, {"model": None}) == RunSettings()


def test_flags_win_over_the_file_and_an_absent_flag_does_not(tmp_path: Path) -> None:
    config = written(tmp_path, "model: [a, b]\nmax_turns: 30\nseed: 4\n")
    settings = read_settings(config, {"max_turns": "50", "seed": None})
    assert (settings.model, settings.max_turns, settings.seed) == (("a", "b"), 50, 4)


def test_comma_lists_become_lists() -> None:
    assert read_settings(None, {"model": "a, b,,c"}).model == ("a", "b", "c")


def test_agent_is_another_name_for_harness(tmp_path: Path) -> None:
    assert read_settings(None, {"agent": "pi"}).harness == ("pi",)
    assert read_settings(written(tmp_path, "agent: pi\n"), {}).harness == ("pi",)
    assert read_settings(written(tmp_path, "harness: loop\n"), {"agent": "pi"}).harness == ("pi",)


@pytest.mark.parametrize("flags", [{"agent": "pi", "harness": "loop"}, {}])
def test_two_names_for_the_harness_that_contradict_are_refused(tmp_path: Path, flags: dict[str, str]) -> None:
    config = None if flags else written(tmp_path, "agent: pi\nharness: loop\n")
    with pytest.raises(ConfigurationError, match="another name for harness"):
        read_settings(config, flags)


def test_a_key_in_place_of_its_variables_name_is_refused_and_never_shown() -> None:
    with pytest.raises(ConfigurationError, match="not a key") as caught:
        read_settings(None, {"api_key_env": "sk-ant-hunter2-hunter2"})
    assert "hunter2" not in caught.value.message()


def test_every_fault_is_in_one_report_with_a_hint(tmp_path: Path) -> None:
    config = written(tmp_path, "max_turn: 3\nconcurrency: 0\ntimeout_seconds: soon\n")
    with pytest.raises(ConfigurationError) as caught:
        read_settings(config, {})
    message = caught.value.message()
    assert "max_turn: unknown key (did you mean max_turns?)" in message
    assert "concurrency" in message
    assert "timeout_seconds" in message
    assert str(config) in message


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- a\n- b\n", "keys and values"),
        ("a: [", "not YAML: line 1, column 5: expected the node content"),
        ("!!python/object/apply:os.system ['true']", "not YAML"),
        ("1: 2\n", "keys and values"),
        ("seed: 1\nseed: 2\n", "'seed' is given twice"),
    ],
)
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        read_settings(written(tmp_path, text), {})


def test_a_missing_or_enormous_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_settings(tmp_path / "nothing.yaml", {})
    with pytest.raises(ConfigurationError, match="larger than"):
        read_settings(written(tmp_path, "#" * 300_000), {})


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    assert read_settings(written(tmp_path, "# nothing yet\n"), {}) == RunSettings()


SETTINGS = st.builds(
    RunSettings,
    model=st.lists(st.sampled_from(["a", "vendor/b", "c:1"]), max_size=3).map(tuple),
    trials=st.integers(1, 5),
    seed=st.integers(0, 99),
    budget_usd=st.none() | st.floats(0, 1000),
    fail_under=st.none() | st.floats(0, 100),
)


@given(st.lists(SETTINGS, min_size=1, max_size=4))
def test_a_plan_gives_back_the_settings_it_was_made_with(groups: list[RunSettings]) -> None:
    assert settings_from_strings(settings_to_strings(groups)) == tuple(groups)


@given(SETTINGS)
def test_a_plan_of_before_groups_is_read_too(settings: RunSettings) -> None:
    older = {"run_settings": settings.model_dump_json(exclude_defaults=True)}
    assert settings_from_strings(older) == (settings,)


def test_changing_keeps_what_is_not_given() -> None:
    before = RunSettings(model=("a",), seed=9)
    after = changed(before, {"concurrency": "4", "seed": None})
    assert (after.model, after.seed, after.concurrency) == (("a",), 9, 4)
