"""The shipped cassettes, played by a small agent over every protocol: tasks solved, all artifacts written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from runner.datasets import Dataset, Task, load_dataset, reveal_hidden_files, run_check, seal
from runner.records import CheckStatus
from runner.replay import ReplayServer
from runner.replay.cassette import Scene
from runner.replay.turns import Turn, Write
from runner.skills import skill
from tests.replay.dialects import CHAT, DIALECTS, GENERATE, MESSAGES, RESPONSES, Dialect
from tests.replay.small_agent import SmallAgent

DATASETS = Path(__file__).parents[2] / "datasets"
YAML = DATASETS / "hello-world.yaml"
TASKS = ("quarter-hour-default", "entry-across-midnight", "totals-by-tag", "whole-minutes", "fair-rounding")
ACROSS = tuple(zip(TASKS, (MESSAGES, RESPONSES, CHAT, GENERATE, MESSAGES), strict=True))
CAREFUL, HASTY, SCRIPTED = "replay-careful", "replay-hasty", "replay-scripted"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(YAML)


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer(DATASETS / "cassettes") as running:
        yield running


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=60, trust_env=False) as client:
        yield client


def play(
    server: ReplayServer,
    http: httpx.Client,
    dialect: Dialect,
    folder: Path,
    task: Task,
    skill_name: str,
    *,
    model: str = CAREFUL,
    present: tuple[str, ...] = (),
) -> SmallAgent:
    """Let the small agent work on ``task`` in a sealed checkout."""
    (folder / "artifacts").mkdir(exist_ok=True)
    seal(
        task.repo,
        task.ref,
        beside=DATASETS,
        cache=folder / "cache",
        workspace=folder / "workspace",
        git_dir=folder / "trusted.git",
    )
    prompt = skill(skill_name).prompt(
        task, artifacts=folder / "artifacts", workspace=folder / "workspace", present=present
    )
    run = folder.name
    base = server.url_for(run=run, scenario=f"hello-world/{task.id}")
    agent = SmallAgent(http, dialect, base, model, folder / "workspace")
    assert agent.work(prompt)
    count = server.count(run)
    assert agent.totals == count.told.model_dump()
    assert (count.errors, count.broken) == ({}, 0)
    return agent


def written(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (folder / "artifacts").iterdir()}


def checks(task: Task, folder: Path) -> set[CheckStatus]:
    statuses = set()
    for check in task.checks:
        reveal_hidden_files(check, YAML, folder / "workspace")
        ended = run_check(
            check.command, workspace=folder / "workspace", timeout_seconds=check.timeout_seconds
        )
        statuses.add(ended.status)
    return statuses


@pytest.mark.parametrize(
    ("skill_name", "task_id", "dialect"),
    [("swe3", *each) for each in ACROSS] + [("swe2", *each) for each in ACROSS[-2:]],
    ids=lambda value: value.name if isinstance(value, Dialect) else value,
)
def test_the_careful_model_solves_the_task_and_writes_every_artifact(
    skill_name: str,
    task_id: str,
    dialect: Dialect,
    dataset: Dataset,
    server: ReplayServer,
    http: httpx.Client,
    tmp_path: Path,
) -> None:
    task = dataset.task_by_id(task_id)
    play(server, http, dialect, tmp_path, task, skill_name)
    found, contract = written(tmp_path), skill(skill_name)
    assert set(found) == set(contract.artifacts) - {"patch.diff"}
    assert {name: contract.missing_headings(name, text) for name, text in found.items()} == dict.fromkeys(
        found, ()
    )
    assert checks(task, tmp_path) == {CheckStatus.PASSED}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_one_recording_solves_a_task_over_every_protocol(
    dialect: Dialect, dataset: Dataset, server: ReplayServer, http: httpx.Client, tmp_path: Path
) -> None:
    task = dataset.task_by_id("quarter-hour-default")
    play(server, http, dialect, tmp_path, task, "fix")
    assert set(written(tmp_path)) == {"implementation.md"}
    assert checks(task, tmp_path) == {CheckStatus.PASSED}


LEFT_OUT = {
    "quarter-hour-default": "review.md",
    "entry-across-midnight": "review.md",
    "totals-by-tag": "testing.md",
    "whole-minutes": "review.md",
    "fair-rounding": "testing.md",
}
MADE_UP_FOR = {"quarter-hour-default", "fair-rounding"}


def names_written(turns: Sequence[Turn]) -> set[str]:
    actions = [action for turn in turns for action in turn.actions]
    return {action.path.rpartition("/")[2] for action in actions if isinstance(action, Write)}


def test_hasty_leaves_one_artifact_out_of_every_task(server: ReplayServer) -> None:
    cassette = server.library.cassettes[("hello-world", HASTY)]
    wanted = set(skill("swe3").artifacts) - {"patch.diff"}
    first = {task: names_written(cassette.turns[Scene(task, skill="swe3")]) for task in TASKS}
    assert {task: wanted - names for task, names in first.items()} == {
        task: {name} for task, name in LEFT_OUT.items()
    }
    top_ups = {task: names_written(cassette.turns[Scene(task, "top-up", "swe3")]) for task in TASKS}
    assert top_ups == {task: {name} if task in MADE_UP_FOR else set() for task, name in LEFT_OUT.items()}


@pytest.mark.parametrize("task_id", ["fair-rounding", "whole-minutes"])
def test_the_hasty_model_leaves_one_out_and_sometimes_makes_up_for_it(
    task_id: str, dataset: Dataset, server: ReplayServer, http: httpx.Client, tmp_path: Path
) -> None:
    task = dataset.task_by_id(task_id)
    first, second = tmp_path / f"{task_id}-first", tmp_path / f"{task_id}-second"
    first.mkdir()
    second.mkdir()
    play(server, http, CHAT, first, task, "swe3", model=HASTY)
    wanted = set(skill("swe3").artifacts) - {"patch.diff"}
    assert wanted - set(written(first)) == {LEFT_OUT[task_id]}
    (second / "artifacts").mkdir()
    present = tuple(sorted(written(first)))
    agent = play(server, http, CHAT, second, task, "swe3", model=HASTY, present=present)
    assert set(written(second)) == ({LEFT_OUT[task_id]} if task_id in MADE_UP_FOR else set())
    assert len(agent.done) <= 1


DOCUMENTS = sorted((DATASETS / "cassettes" / "hello-world" / "documents").glob("*/*.md"))


def test_every_document_belongs_to_a_task_and_speaks_of_its_files(dataset: Dataset) -> None:
    names = {"github-issue.md", "lld.md", "review.md", "testing.md", "implementation.md"}
    assert {(path.parent.name, path.name) for path in DOCUMENTS} == {
        (task.id, name) for task in dataset.tasks for name in names
    }
    designs = [path for path in DOCUMENTS if path.name == "lld.md"]
    assert all("`clockbook/" in path.read_text(encoding="utf-8") for path in designs)
    assert len({path.read_bytes() for path in DOCUMENTS}) == len(DOCUMENTS)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("task", ["plain", "shell-only", "answer-only", "subagent-foreground", "nap", "json"])
def test_every_scenario_that_ends_can_be_played_over_every_protocol(
    task: str, dialect: Dialect, server: ReplayServer, http: httpx.Client, tmp_path: Path
) -> None:
    run = f"{task}-{dialect.name}"
    base = server.url_for(run=run, scenario=f"scenarios/{task}")
    agent = SmallAgent(http, dialect, base, SCRIPTED, tmp_path)
    assert agent.work(f"Play.\nworkspace: {tmp_path}\n")
    assert agent.totals == server.count(run).told.model_dump()
    if task == "plain":
        assert (tmp_path / "scripted.txt").read_text(encoding="utf-8") == "one\nthree\n"


def test_the_counts_of_scenarios_tell_their_answers_apart(server: ReplayServer) -> None:
    cassette = server.library.cassettes[("scenarios", SCRIPTED)]
    fresh = [turn.usage.uncached for turns in cassette.turns.values() for turn in turns]
    assert len(set(fresh)) == len(fresh)
