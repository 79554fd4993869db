"""One function in one answer: run, not read."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.ask import Outcome
from runner.endpoint.suites.case import Slot
from runner.endpoint.suites.coding.candidate import CandidateLimits, Workbench
from runner.endpoint.suites.coding.functions import FUNCTION, code_in, weighted_tail
from runner.endpoint.suites.coding.loop import AgentMeans
from runner.endpoint.suites.playing import play
from runner.endpoint.suites.score import CaseScore, Verdict
from tests.endpoint.suites.stage import MANNER, Script, said, target

PATIENT = AgentMeans(Workbench(limits=CandidateLimits(seconds=60, wall_seconds=300)))
QUICK = AgentMeans(Workbench(limits=CandidateLimits(seconds=0.3, wall_seconds=300)))
"""For what never ends."""
PUZZLE = FUNCTION.puzzle(1, Slot(1))
STEP, OFFSET = PUZZLE.facts["step"], PUZZLE.facts["offset"]
NAME = PUZZLE.messages[0].content.split("function ")[1].split("(")[0]
RIGHT = f"def {NAME}(values):\n    return sum(n * v for n, v in enumerate(values[::-{STEP}], 1)) + {OFFSET}\n"


def scored(text: str, outcome: Outcome = Outcome.OK) -> CaseScore:
    script = Script([said(text, outcome=outcome)])
    means = QUICK if "while True" in text else PATIENT
    return asyncio.run(play(FUNCTION, Slot(1), script, target(), MANNER, means)).score


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        f"```python\n{RIGHT}```",
        f"First:\n```py\nx = 1\n```\nThen:\n```python\n{RIGHT}```\nDone.",
        f"```\n{RIGHT}",
    ],
)
def test_a_right_function_passes_in_whatever_block(text: str) -> None:
    score = scored(text)
    assert score.verdict is Verdict.PASSED, score.reason
    assert score.metrics == {"compiled": 1.0, "checks_passed": 5.0, "checks_total": 5.0}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (f"def {NAME}(values):\n    return {OFFSET}\n", Verdict.FAILED),
        (RIGHT.replace("values[::", "values.sort() or values[::"), Verdict.FAILED),
        (f"def {NAME}(values):\n    while True: pass\n", Verdict.FAILED),
        (f"def {NAME}(values):\n    raise ValueError\n", Verdict.FAILED),
        (f"def {NAME}(values) return 1", Verdict.INVALID_FORMAT),
        ("def other(values):\n    return 1\n", Verdict.INVALID_FORMAT),
        ("I would rather not.", Verdict.INVALID_FORMAT),
        ("", Verdict.INVALID_FORMAT),
    ],
)
def test_everything_else_gets_its_class(text: str, verdict: Verdict) -> None:
    assert scored(text).verdict is verdict


def test_a_cut_function_is_cut_and_a_failed_request_is_not_run() -> None:
    assert scored(RIGHT, Outcome.LENGTH).verdict is Verdict.TRUNCATED
    assert scored(RIGHT, Outcome.TIMEOUT_TOTAL).verdict is Verdict.ERROR


def test_each_seed_has_a_rule_of_its_own() -> None:
    texts = {FUNCTION.puzzle(seed, Slot(1)).messages[0].content for seed in range(1, 6)}
    assert len(texts) == 5


def test_the_rule_by_hand() -> None:
    assert weighted_tail([10, 20, 30, 40, 50], 2, 7) == 50 + 2 * 30 + 3 * 10 + 7
    assert weighted_tail([], 3, 4) == 4


@given(st.text(max_size=200))
def test_no_text_breaks_the_search_for_code(text: str) -> None:
    assert len(code_in(text)) <= len(text)
