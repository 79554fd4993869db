"""The output of ``opencode``: the stream tells how the run ended, the database what it used.

The stream has the answers of the main session only, each with its id, so that the two can be laid over each
other: a database that is gone leaves the stream, and a stream that was cut leaves the database. No event says
that the run is over; the last answer's reason does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.base import Reading
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
from runner.harnesses.opencode_state import Answer, State, counts_of, read_state
from runner.harnesses.stream import NO_END, Event, mapping, objects, parsed, text
from runner.harnesses.trace import plain, tool_line
from runner.records import DataWarning, Usage

ENDED_WELL = "stop"
GOES_ON = {"", "tool-calls", "unknown"}
"""Reasons of an answer after which it asks again: over Responses, those of one without token counts too."""
DELEGATES = "task"
PLACE = "step-finish parts of all sessions in its database"
SOURCES = {
    "input_tokens": f"tokens.input; {PLACE}",
    "output_tokens": f"tokens.output and tokens.reasoning; {PLACE}",
    "cache_read_tokens": f"tokens.cache.read; {PLACE}",
    "cache_write_tokens": f"tokens.cache.write; {PLACE}",
    "reasoning_tokens": f"tokens.reasoning; {PLACE}",
}
STREAM_SOURCES = dict.fromkeys(SOURCES, "step_finish events; subagents are not in them")


@dataclass
class _Heard:
    """What the lines of a stream say."""

    started: bool = False
    open: bool = False
    reason: str = ""
    failure: str | None = None
    delegated: bool = False
    answers: dict[str, Answer] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Whether the run came to an end of its own."""
        return self.failure is not None or (not self.open and self.reason not in GOES_ON)

    def hear(self, event: Event) -> None:
        """Add one line of the stream."""
        kind, part = text(event.get("type"), 100), mapping(event.get("part"))
        if kind == "step_start":
            self.started, self.open, self.failure = True, True, None
        elif kind == "tool_use":
            self.delegated = self.delegated or part.get("tool") == DELEGATES
        elif kind == "step_finish":
            self.started, self.open = True, False
            self.reason = text(part.get("reason"), 100)
            name = text(part.get("id"), 200) or f"line {len(self.answers)}"
            self.answers[name] = Answer(counts_of(mapping(part.get("tokens"))), main=True)
        elif kind == "error":
            self.started, self.failure = True, _message(mapping(event.get("error")))


def read_run(stdout: Path, data: Path, model: str, warnings: Sequence[DataWarning] = ()) -> Reading:
    """The reading of a run. Never raises on broken, cut or missing output.

    Args:
        stdout: the stream.
        data: the agent's own folder for data, in which its database lies.
        model: the model asked for, for answers that name none.
        warnings: what the caller knows already.
    """
    heard = _Heard()
    for event in objects(stdout):
        heard.hear(event)
    state = read_state(data)
    answers = list({**heard.answers, **state.answers}.values())
    by_model = totals((answer.model or model, answer.counts) for answer in answers)
    silent = sum(answer.counts.all_zero for answer in answers)
    started = heard.started or bool(answers) or state.unfinished > 0
    good = heard.ended and heard.failure is None and heard.reason == ENDED_WELL
    return Reading(
        stop_reason=_stop_reason(heard),
        is_error=not good,
        error=None if good else _error(heard),
        usage=None if silent else _usage(heard, state, answers),
        usage_by_model={} if silent else usages(by_model, SOURCES),
        turns=sum(answer.main for answer in answers) if started else None,
        retries=state.failed_requests if started else None,
        warnings=(*_warnings(heard, state, silent, started=started), *warnings),
    )


def _usage(heard: _Heard, state: State, answers: list[Answer]) -> Usage | None:
    if answers:
        return as_usage(
            total(answer.counts for answer in answers), SOURCES if state.found else STREAM_SOURCES
        )
    if heard.failure is not None and not state.broken and not state.unfinished:
        return nothing_used(SOURCES)
    return None


def _stop_reason(heard: _Heard) -> str:
    if not heard.ended:
        return "no-end"
    return "error" if heard.failure is not None else heard.reason


def _error(heard: _Heard) -> str:
    if heard.failure is not None:
        return heard.failure
    if heard.ended:
        return f"the last answer ended by {heard.reason}"
    return NO_END


def _warnings(heard: _Heard, state: State, silent: int, *, started: bool) -> Iterator[DataWarning]:
    if silent:
        yield not_reported(silent)
    lost = state.broken + state.unfinished
    if lost:
        yield lower_bound(f"{lost} answers broke off before their token counts arrived")
    elif started and not heard.ended:
        yield stopped_early()
    elif heard.delegated and not state.found:
        yield lower_bound("the database cannot be read, and the stream leaves out subagents")


def _message(error: Event) -> str:
    said = text(mapping(error.get("data")).get("message")) or text(error.get("message"))
    return said or text(error.get("name")) or "the agent failed without a message"


def trace_event(line: str) -> str | None:
    """An answer, a tool call or a failure in a few words; None for the rest."""
    event = parsed(line)
    if event is None:
        return None
    kind, part = event.get("type"), mapping(event.get("part"))
    if kind == "text":
        return f"answer: {plain(part.get('text'))}".rstrip()
    if kind == "error":
        return f"error: {plain(_message(mapping(event.get('error'))))}"
    if kind != "tool_use":
        return None
    asked = mapping(mapping(part.get("state")).get("input"))
    if part.get("tool") == DELEGATES:
        return f"subagent: {plain(asked.get('description') or asked.get('prompt'))}".rstrip()
    return tool_line(part.get("tool"), {**asked, "path": asked.get("filePath") or asked.get("path")})
