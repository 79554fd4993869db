"""The output of ``copilot``: the stream tells how the run ended, its event file what it used.

The stream has no token counts at all. Its last line names an exit code, which is 0 even where the agent was
stopped between two attempts: only a run whose last request was answered, and that nobody stopped, went well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.copilot_events import Answer, Events, read_events
from runner.harnesses.counts import (
    as_usage,
    lower_bound,
    not_reported,
    nothing_used,
    stopped_early,
    total,
    totals,
    usages,
)
from runner.harnesses.stream import NO_END, Event, count, items, mapping, objects, parsed, text
from runner.harnesses.trace import plain, tool_line
from runner.records import DataWarning, Usage

DELEGATES = "task"
CUT_SHORT = {"length", "max_tokens", "max_output_tokens"}
SUCCESS = "success"
PLACE = "session.usage_record of its event file, subagents included"
SOURCES = {
    "input_tokens": f"inputTokens less cacheReadTokens and cacheWriteTokens; {PLACE}",
    "output_tokens": f"outputTokens; {PLACE}",
    "cache_read_tokens": f"cacheReadTokens; {PLACE}",
    "cache_write_tokens": f"cacheWriteTokens; {PLACE}",
    "reasoning_tokens": f"reasoningTokens, 0 where left out; {PLACE}",
}


@dataclass
class _Heard:
    """What the lines of a stream say."""

    started: bool = False
    exit_code: int | None = None
    stopped: bool = False
    failure: str | None = None
    retries: int = 0
    answered: int = 0
    """Requests that were answered, whichever agent made them."""
    lost: int = 0
    """Requests that broke off after the server may have begun to work on them."""
    open: dict[str, int] = field(default_factory=dict)
    """Requests under way, by agent; the main one has no name."""
    last_answered: bool = False
    """Whether the main agent's last request was."""

    def hear(self, event: Event) -> None:
        """Add one line of the stream."""
        kind, data, agent = text(event.get("type"), 100), mapping(event.get("data")), _agent(event)
        self.started = self.started or kind.startswith(("session.", "assistant."))
        if kind == "model.call_start":
            self.open[agent] = self.open.get(agent, 0) + 1
            self.last_answered = self.last_answered and bool(agent)
        elif kind == "model.call_finished":
            self._finish(agent, text(data.get("outcome"), 100))
        elif kind == "model.call_failure":
            self.lost += count(data.get("statusCode")) is None
        elif kind == "assistant.turn_retry":
            self.retries += 1
        elif kind == "session.error":
            self.failure = text(data.get("message")) or "the agent failed without a message"
        elif kind == "abort":
            self.stopped = True
        elif kind == "result":
            self.exit_code = count(event.get("exitCode"))

    def _finish(self, agent: str, outcome: str) -> None:
        self.open[agent] = max(self.open.get(agent, 0) - 1, 0)
        self.answered += outcome == SUCCESS
        self.lost += outcome not in {SUCCESS, "error"}
        if not agent:
            self.last_answered = outcome == SUCCESS
            self.failure = None if self.last_answered else self.failure

    @property
    def in_flight(self) -> int:
        """Requests of which no end was heard."""
        return sum(self.open.values())

    @property
    def went_well(self) -> bool:
        """Whether the agent ended by itself after an answer."""
        return self.exit_code == 0 and self.last_answered and not self.stopped and self.failure is None


def read_run(stdout: Path, configuration: Path, model: str, warnings: Sequence[DataWarning] = ()) -> Reading:
    """The reading of a run. Never raises on broken, cut or missing output.

    Args:
        stdout: the stream.
        configuration: the agent's own folder, in which its event file lies.
        model: the model asked for, for records that name none.
        warnings: what the caller knows already.
    """
    heard = _Heard()
    for event in objects(stdout):
        heard.hear(event)
    events = read_events(configuration)
    answers = list(events.answers.values())
    unrecorded = max(heard.answered - len(answers), 0)
    # A killed agent may not have come to write its last record: what it did write is a lower bound.
    killed = heard.exit_code is None
    by_model = totals((answer.model or model, answer.counts) for answer in answers)
    silent = sum(answer.counts.all_zero for answer in answers) + (0 if killed else unrecorded)
    started = heard.started or bool(answers)
    good = heard.went_well and events.last_reason not in CUT_SHORT
    return Reading(
        stop_reason=_stop_reason(heard, events),
        is_error=not good,
        error=None if good else _error(heard, events),
        usage=None if silent else _usage(heard, answers),
        usage_by_model={} if silent else usages(by_model, SOURCES),
        turns=sum(answer.main for answer in answers) if started else None,
        retries=heard.retries if heard.started else None,
        warnings=(*_warnings(heard, silent, unrecorded if killed else 0, started=started), *warnings),
    )


def _usage(heard: _Heard, answers: list[Answer]) -> Usage | None:
    if answers:
        return as_usage(total(answer.counts for answer in answers), SOURCES)
    if heard.failure is not None and not heard.lost and not heard.in_flight:
        return nothing_used(SOURCES)
    return None


def _stop_reason(heard: _Heard, events: Events) -> str:
    if heard.stopped:
        return "stopped"
    if heard.exit_code is None:
        return "no-end"
    if not heard.went_well:
        return "failed"
    return events.last_reason or "completed"


def _error(heard: _Heard, events: Events) -> str:
    if heard.failure is not None:
        return heard.failure
    if heard.stopped:
        return "the agent was stopped"
    if heard.exit_code is None:
        return NO_END
    if heard.went_well:
        return f"the last answer ended by {events.last_reason}"
    return f"its last request was not answered (it names exit code {heard.exit_code})"


def _warnings(heard: _Heard, silent: int, unrecorded: int, *, started: bool) -> Iterator[DataWarning]:
    if silent:
        yield not_reported(silent)
    lost = heard.lost + heard.in_flight + unrecorded
    if lost:
        yield lower_bound(f"{lost} answers broke off or left no record")
    elif started and (heard.stopped or heard.exit_code is None):
        yield stopped_early()


def _agent(event: Event) -> str:
    return text(event.get("agentId"), 200)


def trace_event(line: str) -> str | None:
    """An answer, a tool call, a retry or a failure in a few words; None for the rest."""
    event = parsed(line)
    if event is None:
        return None
    kind, data = event.get("type"), mapping(event.get("data"))
    if kind == "assistant.message" and (data.get("content") or not items(data.get("toolRequests"))):
        return f"{'subagent' if _agent(event) else 'answer'}: {plain(data.get('content'))}".rstrip()
    if kind == "tool.execution_start":
        asked = mapping(data.get("arguments"))
        if data.get("toolName") == DELEGATES:
            return f"subagent: {plain(asked.get('description') or asked.get('prompt'))}".rstrip()
        return tool_line(data.get("toolName"), asked)
    if kind == "model.call_failure":
        return f"request failed: {plain(data.get('errorMessage'))}"
    if kind == "session.error":
        return f"error: {plain(data.get('message'))}"
    if kind == "result":
        return f"end: exit {plain(event.get('exitCode'))}"
    return None
