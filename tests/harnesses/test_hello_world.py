"""The shipped cassettes do on the bundled repository what their models are known for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from runner.datasets import (
    Dataset,
    Task,
    apply_patch,
    load_dataset,
    make_patch,
    reveal_hidden_files,
    run_check,
    seal,
)
from runner.records import CheckStatus
from runner.replay import ReplayServer, recorded_models
from runner.replay.cassette import Cassette, Scene, load_cassette
from runner.replay.turns import Edit
from runner.skills import skill
from tests.harnesses.rig import Result, Rig, assert_counts_agree

DATASETS = Path(__file__).parents[2] / "datasets"
CASSETTES = DATASETS / "cassettes"
YAML = DATASETS / "hello-world.yaml"
CAREFUL, HASTY = "replay-careful", "replay-hasty"
TASKS = (
    "quarter-hour-default",
    "entry-across-midnight",
    "totals-by-tag",
    "whole-minutes",
    "fair-rounding",
)
HASTY_SOLVES = {"quarter-hour-default", "entry-across-midnight"}
HASTY_FAILED_CALLS = {
    "quarter-hour-default": 2,
    "entry-across-midnight": 1,
    "totals-by-tag": 0,
    "whole-minutes": 2,
    "fair-rounding": 1,
}
"""Edits that do not match, an unknown tool, and arguments that are no JSON."""
HASTY_LEAVES_OUT_THE_NOTE = "entry-across-midnight"


@dataclass(frozen=True)
class Trial:
    """What a scripted model left behind."""

    result: Result
    note: str | None
    checks: dict[str, CheckStatus]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(YAML)


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer(CASSETTES) as running:
        yield running


def cassette(model: str) -> Cassette:
    return load_cassette(CASSETTES / "hello-world" / f"{model}.jsonl")


def run_trial(server: ReplayServer, task: Task, model: str, folder: Path) -> Trial:
    for name in ("home", "artifacts"):
        (folder / name).mkdir()

    checkout = seal(
        task.repo,
        task.ref,
        beside=DATASETS,
        cache=folder / "cache",
        workspace=folder / "workspace",
        git_dir=folder / "trusted.git",
    )
    rig = Rig(server, folder)
    prompt = skill("fix").prompt(task, artifacts=rig.artifacts, workspace=rig.workspace)
    run = f"{model}-{task.id}"
    result = replace(rig, prompt=prompt, run_id=run).run(scenario=f"hello-world/{task.id}", model=model)
    patch = make_patch(checkout)
    graded = seal(
        task.repo,
        task.ref,
        beside=DATASETS,
        cache=folder / "cache",
        workspace=folder / "graded",
        git_dir=folder / "graded.git",
    )
    assert apply_patch(graded, patch).ok
    checks = {}
    for check in task.checks:
        reveal_hidden_files(check, YAML, folder / "graded")
        ended = run_check(check.command, workspace=folder / "graded", timeout_seconds=check.timeout_seconds)
        checks[check.name] = ended.status
    note = rig.artifacts / "implementation.md"
    return Trial(result, note.read_text(encoding="utf-8") if note.exists() else None, checks)


def test_both_models_have_turns_for_every_task(dataset: Dataset) -> None:
    assert recorded_models(CASSETTES, "hello-world") == (CAREFUL, HASTY)
    for model in (CAREFUL, HASTY):
        assert set(cassette(model).tasks()) == {task.id for task in dataset.tasks} == set(TASKS)


def assert_edits_fail_where_the_script_says(done: Trial, model: str, task_id: str) -> None:
    actions = [action for turn in cassette(model).turns[Scene(task_id)] for action in turn.actions]
    planned = [action.mistake is None for action in actions if isinstance(action, Edit)]
    assert [ok for name, ok, _ in done.result.tools() if name == "edit_file"] == planned


def assert_both_sides_count_the_same(done: Trial) -> None:
    reading, count = done.result.reading, done.result.count
    assert_counts_agree(reading, count)
    assert reading.turns == count.requests == count.answered
    assert count.errors == {}


@pytest.mark.parametrize("task_id", TASKS)
def test_the_careful_model_solves_the_task(
    task_id: str, dataset: Dataset, server: ReplayServer, tmp_path: Path
) -> None:
    done = run_trial(server, dataset.task_by_id(task_id), CAREFUL, tmp_path)
    assert done.result.reading.stop_reason == "finished", done.result.stdout
    assert [call for call in done.result.tools() if not call[1]] == []
    assert set(done.checks.values()) == {CheckStatus.PASSED}
    assert done.note is not None
    assert skill("fix").missing_headings("implementation.md", done.note) == ()
    assert_edits_fail_where_the_script_says(done, CAREFUL, task_id)
    assert_both_sides_count_the_same(done)


@pytest.mark.parametrize("task_id", TASKS)
def test_the_hasty_model_wastes_turns_solves_two_tasks_and_once_forgets_the_note(
    task_id: str, dataset: Dataset, server: ReplayServer, tmp_path: Path
) -> None:
    done = run_trial(server, dataset.task_by_id(task_id), HASTY, tmp_path)
    assert done.result.reading.stop_reason == "finished"
    expected = CheckStatus.PASSED if task_id in HASTY_SOLVES else CheckStatus.FAILED
    assert done.checks["hidden-tests"] is expected
    assert (done.note is None) == (task_id == HASTY_LEAVES_OUT_THE_NOTE)
    assert sum(not ok for _, ok, _ in done.result.tools()) == HASTY_FAILED_CALLS[task_id]
    assert_edits_fail_where_the_script_says(done, HASTY, task_id)
    assert_both_sides_count_the_same(done)


def test_a_completion_pass_gets_its_own_turns(dataset: Dataset, server: ReplayServer, tmp_path: Path) -> None:
    for name in ("home", "artifacts", "workspace"):
        (tmp_path / name).mkdir()
    task = dataset.task_by_id(HASTY_LEAVES_OUT_THE_NOTE)
    rig = Rig(server, tmp_path)
    prompt = skill("fix").prompt(
        task, artifacts=rig.artifacts, workspace=rig.workspace, present=["patch.diff"]
    )
    result = replace(rig, prompt=prompt).run(scenario=f"hello-world/{task.id}", model=HASTY)
    assert result.reading.turns == 1
    assert "nothing left to do" in str(result.events[-2]["text"])
