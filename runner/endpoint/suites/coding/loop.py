"""Loop: asks, does what tools are called for, and asks again, until the task ends for one of its reasons."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite

from runner.endpoint.ask import Ask
from runner.endpoint.request import AskRequest, Message
from runner.endpoint.result import Outcome, StreamResult
from runner.endpoint.suites.coding.candidate import Workbench
from runner.endpoint.suites.coding.repository import Repository
from runner.endpoint.suites.coding.task import CodingTask
from runner.endpoint.suites.coding.tools import Toolset
from runner.endpoint.suites.coding.trace import (
    CUT_BY,
    AgentTrace,
    Invocation,
    StopReason,
    Turn,
    total,
    turn_of,
)
from runner.endpoint.suites.score import CaseScore, Verdict, shown, skipped

MAX_CALLS_PER_TURN = 32
MAX_DETAIL = 200
CostOf = Callable[[StreamResult], "float | None"]


@dataclass(frozen=True)
class TaskLimits:
    """Where a task ends whether it is done or not; None is no limit.

    Looked at before every request; time before every tool call too, of which an answer may hold many.
    """

    max_turns: int | None = None
    """None: the task's own."""
    wall_seconds: float | None = 900.0
    total_tokens: int | None = 1_000_000
    cost_usd: float | None = None
    left_seconds: float | None = None
    """What is left of a budget that the task shares with others. Where that ends it, it is not graded."""
    left_usd: float | None = None


def _unknown(_result: StreamResult) -> float | None:
    return None


@dataclass(frozen=True)
class AgentMeans:
    """What the loop needs from outside.

    Args:
        cost_of: dollars of one request; None where they are not known.
        clock: seconds, for the limit of time.
    """

    workbench: Workbench = field(default_factory=Workbench)
    limits: TaskLimits = field(default_factory=TaskLimits)
    cost_of: CostOf = _unknown
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class Worked:
    """A task that ended, with every request that it took."""

    score: CaseScore
    trace: AgentTrace
    results: tuple[StreamResult, ...]
    files: dict[str, str]


@dataclass
class _Work:
    task: CodingTask
    request: AskRequest
    means: AgentMeans
    tools: Toolset
    began: float
    results: list[StreamResult] = field(default_factory=list)
    costs: list[float | None] = field(default_factory=list)
    invocations: list[Invocation] = field(default_factory=list)

    def limit_reached(self) -> StopReason | None:
        """The limit that keeps the next request from being sent."""
        limits = self.means.limits
        most = self.task.max_turns if limits.max_turns is None else limits.max_turns
        if len(self.results) >= most:
            return StopReason.MAX_TURNS
        late = self.out_of_time()
        if late is not None:
            return late
        tokens = sum((turn.prompt_tokens or 0) + (turn.output_tokens or 0) for turn in self.turns())
        if limits.total_tokens is not None and tokens >= limits.total_tokens:
            return StopReason.TOKEN_LIMIT
        spent = sum(cost for cost in self.costs if cost is not None)
        if limits.cost_usd is not None and spent >= limits.cost_usd:
            return StopReason.COST_LIMIT
        if limits.left_usd is not None and spent >= limits.left_usd:
            return StopReason.MONEY_BUDGET
        return None

    def out_of_time(self) -> StopReason | None:
        """Which limit of time is reached; None while none is. Of two that are, the task's own counts."""
        limits, lasted = self.means.limits, self.means.clock() - self.began
        if limits.wall_seconds is not None and lasted >= limits.wall_seconds:
            return StopReason.TIME_LIMIT
        late = limits.left_seconds is not None and lasted >= limits.left_seconds
        return StopReason.TIME_BUDGET if late else None

    def turns(self) -> tuple[Turn, ...]:
        """All turns so far."""
        return tuple(turn_of(number, result) for number, result in enumerate(self.results, 1))

    def not_kept(self) -> tuple[str, ...]:
        """Limits that were asked for and that some answer told too little to watch."""
        limits = self.means.limits
        blind = []
        if limits.total_tokens is not None and any(
            None in (turn.prompt_tokens, turn.output_tokens) for turn in self.turns()
        ):
            blind.append("tokens")
        if None in self.costs and (limits.cost_usd, limits.left_usd) != (None, None):
            blind.append("cost")
        return tuple(blind)


async def work(task: CodingTask, first: AskRequest, ask: Ask, means: AgentMeans) -> Worked:
    """Let the model behind ``ask`` do ``task``; ``first`` is the request that begins it.

    The tree it leaves behind is graded whatever ended the work, a failed request and a budget that it shares
    with others apart.
    """
    repository = Repository(task.files)
    tools = Toolset(repository, means.workbench)
    state = _Work(task, first, means, tools, means.clock())
    reason = None
    while reason is None:
        reason = state.limit_reached() or await _turn(state, ask)
    worked_for = means.clock() - state.began
    files = dict(repository.files)
    is_graded = reason is not StopReason.ERROR and reason not in CUT_BY
    failures = await task.failures(files, means.workbench) if is_graded else ()
    score = _score(state, reason, failures)
    trace = AgentTrace(
        stop_reason=reason,
        turns=state.turns(),
        invocations=tuple(state.invocations),
        wall_seconds=worked_for,
        prompt_tokens=_whole(total(turn.prompt_tokens for turn in state.turns())),
        output_tokens=_whole(total(turn.output_tokens for turn in state.turns())),
        cost_usd=total(state.costs),
        test_runs=tools.test_runs,
        self_verified=score.passed and tools.verified,
        limits_not_kept=state.not_kept(),
    )
    return Worked(score, trace, tuple(state.results), files)


async def _turn(state: _Work, ask: Ask) -> StopReason | None:
    result = await ask(state.request)
    state.results.append(result)
    cost = state.means.cost_of(result)
    state.costs.append(cost if cost is not None and isfinite(cost) else None)
    if result.outcome is Outcome.REFUSED:
        return StopReason.REFUSED
    if result.outcome not in {Outcome.OK, Outcome.LENGTH}:
        return StopReason.ERROR
    if not result.tool_calls:
        return StopReason.LENGTH if result.outcome is Outcome.LENGTH else StopReason.NO_TOOL_CALLS
    said = Message(
        role="assistant", content=result.text, tool_calls=result.tool_calls, carried=result.carried
    )
    answers = []
    for number in range(len(result.tool_calls)):
        late = state.out_of_time()
        if late is not None:
            return late
        answers.append(await _performed(state, number, result))
    turns = (*state.request.messages, said, *answers)
    state.request = state.request.model_copy(update={"messages": turns})
    return None


async def _performed(state: _Work, number: int, result: StreamResult) -> Message:
    call = result.tool_calls[number]
    repeated = state.tools.no_progress(call.name, call.arguments)
    began = state.means.clock()
    if number >= MAX_CALLS_PER_TURN:
        text, valid = f"no more than {MAX_CALLS_PER_TURN} calls are done in one turn", False
    else:
        outcome = await state.tools.call(call.name, call.arguments)
        text, valid = outcome.text, outcome.ok
    state.invocations.append(
        Invocation(
            turn=len(state.results),
            name=call.name[:80],
            arguments=call.arguments,
            ok=valid,
            no_progress=repeated,
            seconds=max(state.means.clock() - began, 0.0),
            detail="" if valid else text[:MAX_DETAIL],
        )
    )
    return Message(role="tool", content=text, tool_call_id=call.identifier)


def _score(state: _Work, reason: StopReason, failures: tuple[str, ...]) -> CaseScore:
    task = state.task
    if reason is StopReason.ERROR:
        last = state.results[-1]
        why = last.outcome.value if last.failure is None else f"{last.outcome.value}: {last.failure.code}"
        return CaseScore(Verdict.ERROR, None, shown(why), metrics=_metrics(state))
    if reason in CUT_BY:
        return skipped(CUT_BY[reason])
    held = task.total - len(failures)
    metrics = {**_metrics(state), "checks_passed": float(held), "checks_total": float(task.total)}
    expected = "all checks pass"
    if not failures:
        return CaseScore(Verdict.PASSED, 1.0, "", "all checks pass", expected, metrics=metrics)
    classes = {StopReason.REFUSED: Verdict.REFUSED, StopReason.LENGTH: Verdict.TRUNCATED}
    verdict = classes.get(reason, Verdict.FAILED)
    answer = f"{held} of {task.total} checks pass"
    return CaseScore(verdict, 0.0, shown(f"{reason.value}; {failures[0]}"), answer, expected, metrics=metrics)


def _metrics(state: _Work) -> dict[str, float]:
    calls = state.invocations
    return {
        "turns": float(len(state.results)),
        "tool_calls": float(len(calls)),
        "invalid_calls": float(sum(not call.ok for call in calls)),
        "no_progress_calls": float(sum(call.no_progress for call in calls)),
        "test_runs": float(state.tools.test_runs),
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
