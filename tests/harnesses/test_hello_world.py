"""The shipped cassettes do on the bundled repository what their models are known for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
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
CAREFUL, HASTY = "replay-careful", "replay-hasty"
TASKS = (
    "quarter-hour-default",
    "entry-across-midnight",
    "totals-by-tag",
    "whole-minutes",
    "fair-rounding",
)
HASTY_SOLVES = {"quarter-hour-default", "entry-across-midnight"}
HASTY_LEAVES_OUT_THE_NOTE = "entry-across-midnight"


@dataclass(frozen=True)
class Trial:
    """What a scripted model left behind."""

    result: Result
    note: str | None
    checks: dict[str, CheckStatus]


Trials = Callable[[str, str], Trial]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(YAML)


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer(CASSETTES) as running:
        yield running


@pytest.fixture(scope="module")
def trials(dataset: Dataset, server: ReplayServer, tmp_path_factory: pytest.TempPathFactory) -> Trials:
    """The trial of a model at a task, run once however many tests look at it."""
    repositories = tmp_path_factory.mktemp("repositories")

    @cache
    def one(model: str, task_id: str) -> Trial:
        folder = tmp_path_factory.mktemp(f"{model}-{task_id}")
        return run_trial(server, dataset.task_by_id(task_id), model, folder, repositories)

    return one


def cassette(model: str) -> Cassette:
    return load_cassette(CASSETTES / "hello-world" / f"{model}.jsonl")


def run_trial(server: ReplayServer, task: Task, model: str, folder: Path, repositories: Path) -> Trial:
    for name in ("home", "artifacts"):
        (folder / name).mkdir()

    checkout = seal(
        task.repo,
        task.ref,
        beside=DATASETS,
        cache=repositories,
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
        cache=repositories,
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


@pytest.mark.parametrize("task_id", TASKS)
def test_the_careful_model_solves_the_task(task_id: str, trials: Trials) -> None:
    done = trials(CAREFUL, task_id)
    assert done.result.reading.stop_reason == "finished", done.result.stdout
    assert [call for call in done.result.tools() if not call[1]] == []
    assert set(done.checks.values()) == {CheckStatus.PASSED}
    assert done.note is not None
    assert skill("fix").missing_headings("implementation.md", done.note) == ()


@pytest.mark.parametrize("task_id", TASKS)
def test_the_hasty_model_solves_two_tasks_and_once_forgets_the_note(task_id: str, trials: Trials) -> None:
    done = trials(HASTY, task_id)
    assert done.result.reading.stop_reason == "finished"
    expected = CheckStatus.PASSED if task_id in HASTY_SOLVES else CheckStatus.FAILED
    assert done.checks["hidden-tests"] is expected
    assert (done.note is None) == (task_id == HASTY_LEAVES_OUT_THE_NOTE)


def test_the_hasty_model_wastes_turns_on_calls_that_fail(trials: Trials) -> None:
    failed = {task: sum(not ok for _, ok, _ in trials(HASTY, task).result.tools()) for task in TASKS}
    assert sum(failed.values()) >= 5
    assert failed["whole-minutes"] == 2, "an unknown tool and arguments that are no JSON"


@pytest.mark.parametrize("model", [CAREFUL, HASTY])
@pytest.mark.parametrize("task_id", TASKS)
def test_edits_fail_exactly_where_the_script_marks_a_mistake(
    task_id: str, model: str, trials: Trials
) -> None:
    done = trials(model, task_id)
    actions = [action for turn in cassette(model).turns[(task_id, "first")] for action in turn.actions]
    planned = [action.mistake is None for action in actions if isinstance(action, Edit)]
    assert [ok for name, ok, _ in done.result.tools() if name == "edit_file"] == planned


@pytest.mark.parametrize("model", [CAREFUL, HASTY])
@pytest.mark.parametrize("task_id", TASKS)
def test_both_sides_count_the_same_tokens_and_turns(task_id: str, model: str, trials: Trials) -> None:
    result = trials(model, task_id).result
    assert_counts_agree(result.reading, result.count)
    assert result.reading.turns == result.count.requests == result.count.answered
    assert result.count.errors == {}


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
