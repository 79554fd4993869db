"""Coding cases: every task as a case that a profile can hold."""

from __future__ import annotations

from runner.endpoint.suites.case import Case, Feature, Kind, Puzzle, user
from runner.endpoint.suites.coding.task import CodingTask
from runner.endpoint.suites.coding.tasks import bus, orders, reckon, reorder, resolver, shelf, spans
from runner.endpoint.suites.coding.tools import TOOLS
from runner.endpoint.suites.score import failed

SYSTEM = (
    "You change a small Python repository. You see it only through your tools. Look at what is there "
    "before you change it, and keep to the way it is written. Use the standard library alone. Run the "
    "tests before you stop. Checks that you cannot see decide whether everything that was asked for works, "
    "so do all of it. When you are done, answer with a short summary and call no tool."
)
TURN_TOKENS = 16_384
TASKS: tuple[CodingTask, ...] = (
    shelf.TASK,
    spans.TASK,
    reorder.TASK,
    bus.TASK,
    reckon.TASK,
    resolver.TASK,
    orders.TASK,
)


def coding_case(task: CodingTask) -> Case:
    """The case of ``task``: what begins its conversation. The loop sees to the rest."""
    puzzle = Puzzle(
        (user(task.request),),
        judge=lambda _result: failed("", "all checks pass", "a task is graded by its checks"),
        expected="all checks pass",
        system=SYSTEM,
        tools=TOOLS,
        tool_choice="auto",
    )
    return Case(
        identifier=task.identifier,
        title=task.title,
        kind=Kind.AGENTIC,
        category="coding",
        dimension="agentic-tool-use",
        difficulty=task.difficulty,
        description=f"{len(task.files)} files, {task.lines_about} lines, {task.total} hidden checks.",
        make=lambda _seed: puzzle,
        runs=2,
        max_output_tokens=TURN_TOKENS,
        needs=frozenset({Feature.TOOLS}),
        coding=task,
    )


CODING_CASES: tuple[Case, ...] = tuple(coding_case(task) for task in TASKS)
