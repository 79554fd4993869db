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
from runner.replay.cassette import Cassette, load_cassette
from runner.replay.turns import Edit
from runner.skills import skill
from tests.harnesses.rig import Result, Rig, assert_counts_agree

DATASETS = Path(__file__).parents[2] / "datasets"
CASSETTES = DATASETS / "cassettes"
YAML = DATASETS / "hello-world.yaml"
TASKS = (
    "quarter-hour-default",
    "entry-across-midnight",
    "totals-by-tag",
    "whole-minutes",
    "fair-rounding",
)
HASTY_SOLVES = {"quarter-hour-default", "entry-across-midnight"}
HASTY_LEAVES_OUT_THE_NOTE = "entry-across-midnight"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(YAML)


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer(CASSETTES) as running:
        yield running


def cassette(model: str) -> Cassette:
    return load_cassette(CASSETTES / "hello-world" / f"{model}.jsonl")


@dataclass(frozen=True)
class Trial:
    """What a scripted model left behind."""

    result: Result
    note: str | None
    checks: dict[str, CheckStatus]


def trial(server: ReplayServer, task: Task, model: str, folder: Path) -> Trial:
    for name in ("home", "artifacts"):
        (folder / name).mkdir()
    places = {"beside": DATASETS, "cache": folder / "cache"}
    checkout = seal(
        task.repo, task.ref, workspace=folder / "workspace", git_dir=folder / "trusted.git", **places
    )
    rig = Rig(server, folder)
    prompt = skill("fix").prompt(task, artifacts=rig.artifacts, workspace=rig.workspace)
    result = replace(rig, prompt=prompt).run(scenario=f"hello-world/{task.id}", model=model)
    patch = make_patch(checkout)
    graded = seal(task.repo, task.ref, workspace=folder / "graded", git_dir=folder / "graded.git", **places)
    assert apply_patch(graded, patch).ok
    checks = {}
    for check in task.checks:
        reveal_hidden_files(check, YAML, folder / "graded")
        run = run_check(check.command, workspace=folder / "graded", timeout_seconds=check.timeout_seconds)
        checks[check.name] = run.status
    note = rig.artifacts / "implementation.md"
    return Trial(result, note.read_text(encoding="utf-8") if note.exists() else None, checks)


def test_both_models_have_turns_for_every_task(dataset: Dataset) -> None:
    assert recorded_models(CASSETTES, "hello-world") == ("replay-careful", "replay-hasty")
    for model in ("replay-careful", "replay-hasty"):
        assert set(cassette(model).tasks()) == {task.id for task in dataset.tasks} == set(TASKS)


@pytest.mark.parametrize("task_id", TASKS)
def test_the_careful_model_solves_the_task(
    task_id: str, dataset: Dataset, server: ReplayServer, tmp_path: Path
) -> None:
    done = trial(server, dataset.task_by_id(task_id), "replay-careful", tmp_path)
    assert done.result.reading.stop_reason == "finished", done.result.stdout
    assert [call for call in done.result.tools() if not call[1]] == []
    assert set(done.checks.values()) == {CheckStatus.PASSED}
    assert done.note is not None
    assert skill("fix").missing_headings("implementation.md", done.note) == ()


@pytest.mark.parametrize("task_id", TASKS)
def test_the_hasty_model_fails_some_tasks_and_wastes_turns(
    task_id: str, dataset: Dataset, server: ReplayServer, tmp_path: Path
) -> None:
    done = trial(server, dataset.task_by_id(task_id), "replay-hasty", tmp_path)
    assert done.result.reading.stop_reason == "finished"
    assert not all(ok for _, ok, _ in done.result.tools()) or task_id == "totals-by-tag"
    expected = CheckStatus.PASSED if task_id in HASTY_SOLVES else CheckStatus.FAILED
    assert done.checks["hidden-tests"] is expected
    assert (done.note is None) == (task_id == HASTY_LEAVES_OUT_THE_NOTE)


@pytest.mark.parametrize("model", ["replay-careful", "replay-hasty"])
def test_edits_fail_exactly_where_the_script_marks_a_mistake(
    model: str, dataset: Dataset, server: ReplayServer, tmp_path: Path
) -> None:
    for task in dataset.tasks:
        folder = tmp_path / task.id
        folder.mkdir()
        done = trial(server, task, model, folder)
        actions = [a for turn in cassette(model).turns[(task.id, "first")] for a in turn.actions]
        planned = [action.mistake is None for action in actions if isinstance(action, Edit)]
        assert [ok for name, ok, _ in done.result.tools() if name == "edit_file"] == planned
        run_count = done.result.count
        assert run_count.errors == {}
        assert run_count.broken == 0


def test_the_counts_of_both_sides_agree_on_a_shipped_task(dataset: Dataset, tmp_path: Path) -> None:
    with ReplayServer(CASSETTES) as server:
        done = trial(server, dataset.task_by_id("whole-minutes"), "replay-careful", tmp_path)
    assert_counts_agree(done.result.reading, done.result.count)
    assert done.result.reading.turns == done.result.count.requests


def test_a_completion_pass_gets_its_own_turns(dataset: Dataset, server: ReplayServer, tmp_path: Path) -> None:
    for name in ("home", "artifacts", "workspace"):
        (tmp_path / name).mkdir()
    task = dataset.task_by_id(HASTY_LEAVES_OUT_THE_NOTE)
    rig = Rig(server, tmp_path)
    prompt = skill("fix").prompt(
        task, artifacts=rig.artifacts, workspace=rig.workspace, present=["patch.diff"]
    )
    result = replace(rig, prompt=prompt).run(scenario=f"hello-world/{task.id}", model="replay-hasty")
    assert result.reading.turns == 1
    assert "nothing left to do" in str(result.events[-2]["text"])
