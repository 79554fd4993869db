"""The tasks: a reference solution passes, leaving everything as it is does not, and no half solution does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runner.endpoint.suites.coding.candidate import CandidateLimits, Workbench
from runner.endpoint.suites.coding.cases import CODING_CASES, TASKS
from runner.endpoint.suites.coding.repository import Repository
from runner.endpoint.suites.coding.task import CodingTask

SOLUTIONS = Path(__file__).parents[3] / "data" / "coding-solutions"
PATIENT = Workbench(limits=CandidateLimits(seconds=60, wall_seconds=300))
QUICK = Workbench(limits=CandidateLimits(seconds=0.5, wall_seconds=300))
"""For what is to fail anyway, and may never end."""
BY_NAME = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.identifier)


def solution(task: CodingTask) -> dict[str, str]:
    root = SOLUTIONS / task.identifier
    written = {
        path.relative_to(root).as_posix().removesuffix(".txt"): path.read_text(encoding="utf-8")
        for path in root.rglob("*")
        if path.is_file()
    }
    assert written
    return {**task.files, **written}


def failures(task: CodingTask, files: dict[str, str], workbench: Workbench = QUICK) -> tuple[str, ...]:
    return asyncio.run(task.failures(files, workbench))


@BY_NAME
def test_the_reference_solution_passes_every_check_and_the_visible_tests(task: CodingTask) -> None:
    files = solution(task)
    assert failures(task, files, PATIENT) == ()
    run = asyncio.run(PATIENT.tests(files))
    assert run.green, run.report


@BY_NAME
def test_leaving_everything_as_it_is_fails(task: CodingTask) -> None:
    assert len(failures(task, dict(task.files))) >= 3


@BY_NAME
def test_an_empty_repository_fails_every_check(task: CodingTask) -> None:
    assert len(failures(task, {})) >= task.total - 1


@BY_NAME
def test_every_changed_file_matters(task: CodingTask) -> None:
    whole = solution(task)
    halves = {}
    for path in whole:
        if whole[path] == task.files.get(path) or path.endswith(("tree.py", "__init__.py")):
            continue
        half = {name: text for name, text in whole.items() if name != path}
        halves[path] = half | ({path: task.files[path]} if path in task.files else {})

    async def graded() -> list[tuple[str, ...]]:
        return await asyncio.gather(*(task.failures(half, QUICK) for half in halves.values()))

    needless = [path for path, found in zip(halves, asyncio.run(graded()), strict=True) if not found]
    assert needless == []


@BY_NAME
def test_the_checks_are_not_the_visible_tests(task: CodingTask) -> None:
    visible = "\n".join(text for path, text in task.files.items() if path.startswith("tests/"))
    lines = [check.code.splitlines()[-1].partition("result = ")[2] for check in task.checks]
    assert any(lines)
    shared = [line for line in lines if line and line in visible and line != "said"]
    assert shared == []


@BY_NAME
def test_editing_the_tests_changes_nothing(task: CodingTask) -> None:
    forged = {
        path: "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        pass\n"
        if path.startswith("tests/")
        else text
        for path, text in task.files.items()
    }
    assert asyncio.run(PATIENT.tests(forged)).green
    assert failures(task, forged) != ()


def test_there_are_at_least_six_and_they_grow() -> None:
    assert len(TASKS) >= 6
    sizes = [len(task.files) for task in TASKS]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 2 * sizes[0]
    ranks = ["easy", "medium", "hard"]
    assert sorted(TASKS, key=lambda task: ranks.index(task.difficulty)) == list(TASKS)


@BY_NAME
def test_every_repository_can_be_kept_by_the_tools(task: CodingTask) -> None:
    repository = Repository({})
    for path, text in task.files.items():
        repository.write(path, text)
    assert dict(repository.files) == dict(task.files)


def test_the_case_offers_the_tools_and_says_nothing_of_the_checks() -> None:
    for case, task in zip(CODING_CASES, TASKS, strict=True):
        puzzle = case.make(1)
        assert [tool.name for tool in puzzle.tools] == [
            "list_files",
            "read_file",
            "search",
            "write_file",
            "apply_patch",
            "run_tests",
        ]
        assert not any(check.code in puzzle.messages[0].content for check in task.checks)
        assert task.request in puzzle.messages[0].content
