"""Functions: one function in one answer, run against hidden checks; no tools, no repository."""

from __future__ import annotations

import re

from runner.endpoint.result import StreamResult
from runner.endpoint.suites.case import Case, Kind, Puzzle, user
from runner.endpoint.suites.coding.candidate import Workbench
from runner.endpoint.suites.coding.task import Check
from runner.endpoint.suites.draw import Draw
from runner.endpoint.suites.extraction import spoken
from runner.endpoint.suites.score import CaseScore, failed, invalid, passed

MODULE = "answer"
MAX_CODE = 50_000
_FENCE = re.compile(r"```[A-Za-z0-9_+-]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)


def code_in(text: str) -> str:
    """The program in an answer: the last fenced block that defines something, else all of the text."""
    said = spoken(text)
    blocks = [block for block in _FENCE.findall(said) if "def " in block]
    return (blocks[-1] if blocks else said).strip()[:MAX_CODE]


def weighted_tail(values: list[int], step: int, offset: int) -> int:
    """What the function is to compute: every ``step``-th value from the end by its place, plus an offset."""
    picked = values[::-1][::step]
    return sum(place * value for place, value in enumerate(picked, 1)) + offset


def seeded_function(seed: int) -> Puzzle:
    """A rule with two drawn numbers in it, so that no solution can have been learnt by heart."""
    draw = Draw(seed)
    step, offset = draw.integer(2, 4), draw.integer(1, 16)
    name = f"tail_sum_{draw.integer(100, 999)}"
    inputs = [
        [],
        [draw.integer(-9, 9)],
        *([draw.integer(-50, 50) for _ in range(size)] for size in (4, 9, 13)),
    ]
    checks = tuple(
        Check(
            f"list of {len(values)}",
            f"from {MODULE} import {name}\nvalues = {values!r}\nresult = [{name}(values), values]",
            [weighted_tail(values, step, offset), list(values)],
        )
        for values in inputs
    )
    text = (
        f"Write a Python function {name}(values). It takes a list of whole numbers and looks at it from "
        f"the end: the last value, then the one {step} places before it, and so on in steps of {step} "
        "until the list is exhausted. It multiplies the first value it looks at by 1, the second by 2, "
        f"the third by 3, and so on, adds the products, adds {offset}, and returns the sum. For an empty "
        f"list it returns {offset}. The list must not be changed. Answer with the function in one code "
        "block and nothing else; use the standard library alone."
    )

    async def examine(result: StreamResult, workbench: Workbench) -> CaseScore:
        """Run the answer on the workbench against the checks."""
        return await graded(result.text, name, checks, workbench)

    def judge(_result: StreamResult) -> CaseScore:
        """The score of an answer that was not run: failed."""
        return failed("", "all checks pass", "a function is graded by running it")

    return Puzzle(
        (user(text),), judge, "all checks pass", examine=examine, facts={"step": step, "offset": offset}
    )


async def graded(text: str, name: str, checks: tuple[Check, ...], workbench: Workbench) -> CaseScore:
    """The score of an answer that should hold a function called ``name``."""
    expected = "all checks pass"
    code = code_in(text)
    if f"def {name}" not in code:
        return invalid(f"the answer defines no function {name}", expected)
    try:
        compile(code, MODULE, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = f"the code cannot be compiled: {type(error).__name__}"
        return invalid(reason, expected, metrics={"compiled": 0.0})
    runs = await workbench.checks({f"{MODULE}.py": code}, [check.code for check in checks])
    failures = [why for check, run in zip(checks, runs, strict=True) if (why := check.failure(run))]
    held = len(checks) - len(failures)
    metrics = {"compiled": 1.0, "checks_passed": float(held), "checks_total": float(len(checks))}
    if not failures:
        return passed(expected, expected, metrics)
    return failed(f"{held} of {len(checks)} checks pass", expected, failures[0], metrics)


FUNCTION = Case(
    identifier="sandboxed_function",
    title="One function, hidden checks",
    kind=Kind.QUALITY,
    category="coding",
    dimension="coding",
    difficulty="medium",
    description="A function after a rule with drawn numbers, run in a process of its own.",
    make=seeded_function,
    runs=2,
    max_output_tokens=2048,
    seeded=True,
)
