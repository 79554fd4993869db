"""Trace: what an agent did on a task, in counts, turn by turn and call by call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from runner.endpoint.result import Outcome, StreamResult


class StopReason(StrEnum):
    """Why an agent's work ended."""

    NO_TOOL_CALLS = "no_tool_calls"
    """It answered without calling a tool: it thinks that it is done."""
    MAX_TURNS = "max_turns"
    TIME_LIMIT = "time_limit"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - no password
    COST_LIMIT = "cost_limit"
    TIME_BUDGET = "time_budget"
    """What its target may take in all was used up before the task had used up its own: it is not graded."""
    MONEY_BUDGET = "money_budget"
    """The same, of what its target may cost."""
    LENGTH = "length"
    """An answer was cut by its limit of output tokens and called no tool."""
    REFUSED = "refused"
    ERROR = "error"
    """A request failed; the task counts as attempted and is not graded."""


CUT_BY = {
    StopReason.TIME_BUDGET: "cut by the budget of time",
    StopReason.MONEY_BUDGET: "cut by the budget of money",
}
"""Ends of a task that say nothing of the model, in words."""


@dataclass(frozen=True)
class Invocation:
    """One tool call. ``detail`` says why one that is not ``ok`` is invalid."""

    turn: int
    name: str
    arguments: str
    ok: bool
    no_progress: bool
    seconds: float
    detail: str = ""


@dataclass(frozen=True)
class Turn:
    """One request and its answer."""

    number: int
    tool_calls: int
    outcome: Outcome
    finish_reason: str | None
    prompt_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True)
class AgentTrace:
    """One task from its first request to its end. A sum with an unknown part is None.

    ``wall_seconds`` is everything; ``tool_seconds`` is what of it our own tools took.
    """

    stop_reason: StopReason
    turns: tuple[Turn, ...]
    invocations: tuple[Invocation, ...]
    wall_seconds: float
    prompt_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    test_runs: int
    self_verified: bool
    """Its own last test run was green, nothing was changed after it, and the task is solved."""
    limits_not_kept: tuple[str, ...] = ()
    """Limits that could not be watched, because the endpoint does not tell its tokens."""

    @property
    def turn_count(self) -> int:
        """Requests that were sent."""
        return len(self.turns)

    @property
    def tool_call_count(self) -> int:
        """Calls that were made."""
        return len(self.invocations)

    @property
    def invalid_call_count(self) -> int:
        """Calls of unknown tools or files, with wrong arguments, or with a patch that does not fit."""
        return sum(not call.ok for call in self.invocations)

    @property
    def no_progress_call_count(self) -> int:
        """Calls that were made before with the same arguments while nothing had changed in between."""
        return sum(call.no_progress for call in self.invocations)

    @property
    def tool_seconds(self) -> float:
        """Time that our own tools took."""
        return sum(call.seconds for call in self.invocations)

    def without_texts(self) -> AgentTrace:
        """The same without anything that a model wrote: names of tools that do not exist go as well."""
        from runner.endpoint.suites.coding.tools import TOOLS

        known = {tool.name for tool in TOOLS}
        bare = tuple(
            replace(call, arguments="", detail="", name=call.name if call.name in known else "unknown")
            for call in self.invocations
        )
        return replace(self, invocations=bare)


def turn_of(number: int, result: StreamResult) -> Turn:
    """The turn that ``result`` is."""
    usage = result.usage
    return Turn(
        number,
        len(result.tool_calls),
        result.outcome,
        result.finish_reason,
        None if usage is None else usage.prompt_tokens,
        None if usage is None else usage.output_tokens,
    )


def total(values: Iterable[float | None]) -> float | None:
    """The sum, or None where a part is unknown."""
    known = list(values)
    return (
        None if any(value is None for value in known) else sum(value for value in known if value is not None)
    )
