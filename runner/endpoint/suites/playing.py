"""Playing: one trial of a case from its first request to its score; nothing an endpoint does raises."""

from __future__ import annotations

from dataclasses import dataclass

from runner.endpoint.ask import Ask
from runner.endpoint.request import Message
from runner.endpoint.result import Outcome, StreamResult
from runner.endpoint.suites.asking import Asking, Manner, continued, request_for, too_long, unfit
from runner.endpoint.suites.case import Case, Judge, Puzzle, Slot
from runner.endpoint.suites.coding.loop import AgentMeans, work
from runner.endpoint.suites.coding.trace import AgentTrace
from runner.endpoint.suites.score import CaseScore, Verdict, shown, skipped
from runner.endpoint.target import Target

MAX_REQUESTS = 12
"""Of one dialogue. Agents have limits of their own."""
SCORER_FAULTS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
_SCORED = frozenset({Outcome.OK, Outcome.LENGTH, Outcome.INCOMPLETE, Outcome.REFUSED})


@dataclass(frozen=True)
class Played:
    """A trial: its score beside, never instead of, what was measured.

    ``results`` has one entry for each request, in order; it is empty where the case was skipped.
    """

    case: Case
    slot: Slot
    seed: int
    score: CaseScore
    results: tuple[StreamResult, ...] = ()
    adjustments: tuple[str, ...] = ()
    agent: AgentTrace | None = None


async def play(
    case: Case, slot: Slot, ask: Ask, target: Target, manner: Manner, means: AgentMeans | None = None
) -> Played:
    """Ask one instance of ``case`` of ``target`` and score what comes back.

    Args:
        means: what agentic cases need: how candidate code is confined, and the limits of a task.
    """
    seed = case.seed(manner.base_seed, slot)
    why = unfit(case, target, manner.effort)
    if why:
        return Played(case, slot, seed, skipped(why))
    if case.coding is not None:
        asking = request_for(case, case.make(seed), slot, target, manner)
        done = await work(case.coding, asking.request, ask, means or AgentMeans())
        return Played(case, slot, seed, done.score, done.results, asking.adjustments, done.trace)
    puzzle = case.make(seed)
    asking = request_for(case, puzzle, slot, target, manner)
    why = too_long(asking, target)
    if why:
        return Played(case, slot, seed, skipped(why), adjustments=asking.adjustments)
    results = await _conversation(asking, puzzle, ask)
    judge = await _judge(puzzle, results[-1], means or AgentMeans())
    return Played(case, slot, seed, scored(results[-1], judge), results, asking.adjustments)


async def _judge(puzzle: Puzzle, result: StreamResult, means: AgentMeans) -> Judge:
    """The judge of the answer; where code has to be run it has been run already."""
    if puzzle.examine is None or result.outcome not in _SCORED:
        return puzzle.judge
    score = await puzzle.examine(result, means.workbench)
    return lambda _result: score


async def _conversation(asking: Asking, puzzle: Puzzle, ask: Ask) -> tuple[StreamResult, ...]:
    results: list[StreamResult] = []
    while True:
        result = await ask(asking.request)
        results.append(result)
        if result.outcome is not Outcome.OK or puzzle.follow is None or len(results) == MAX_REQUESTS:
            return tuple(results)
        more = puzzle.follow(len(results), result)
        if more is None:
            return tuple(results)
        asking = continued(asking, (turn_of(result), *more))


def turn_of(result: StreamResult) -> Message:
    """What the model said, as a turn of the next request; reasoning that is wanted back goes with it."""
    return Message(
        role="assistant", content=result.text, tool_calls=result.tool_calls, carried=result.carried
    )


def scored(result: StreamResult, judge: Judge) -> CaseScore:
    """The score of one answer.

    A cut answer is never right, even where it looks so: ``FINAL: 22`` may have been going to be 225.
    """
    if result.outcome is Outcome.SKIPPED_BUDGET:
        return skipped("the budget was spent")
    if result.outcome not in _SCORED:
        return CaseScore(Verdict.ERROR, None, _failure(result))
    if result.outcome is Outcome.REFUSED or (result.refusal and not result.text and not result.tool_calls):
        return CaseScore(Verdict.REFUSED, 0.0, shown(result.refusal) or "the provider's filter ended it")
    try:
        score = judge(result)
    except SCORER_FAULTS as error:
        return CaseScore(
            Verdict.ERROR, None, f"the scorer failed: {type(error).__name__}: {shown(str(error))}"
        )
    if result.truncated:
        how = (
            "cut by the token limit" if result.outcome is Outcome.LENGTH else "ended without a finish reason"
        )
        return CaseScore(
            Verdict.TRUNCATED, 0.0, how, score.answer, score.expected, score.confidence, score.metrics
        )
    return score


def _failure(result: StreamResult) -> str:
    if result.failure is None:
        return result.outcome.value
    return shown(f"{result.outcome.value}: {result.failure.code}")
