"""The event stream of ``pi`` and of its descendant ``omp``, read into usage, turns and stop reason.

The same answer appears in ``message_end``, ``turn_end`` and ``agent_end``; only the first is added up, over
the whole stream. An answer that failed is one of these too, with ``stopReason: error`` and counts of 0; the
exit code is 0 whatever happened. Answers to subagents stand in transcripts, one each, and not in the stream.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.counts import (
    Counts,
    as_usage,
    lower_bound,
    not_reported,
    nothing_used,
    reasoning_not_reported,
    stopped_early,
    total,
    totals,
    usages,
)
from runner.harnesses.stream import NO_END, Event, count, items, mapping, objects, parsed, text
from runner.harnesses.trace import plain, tool_line
from runner.records import DataWarning, Usage

ENDED_WELL = {"stop", "end_turn"}
FAILED = {"error", "aborted"}
REFUSED = re.compile(
    r"^\s*[45]\d\d\b|api error \([45]\d\d\)|connection error|^(?:validation|throttling) error:"
    r"|^accessdeniedexception:",
    re.IGNORECASE,
)
"""In the message of a request that the server turned away, so that it used no tokens."""


@dataclass(frozen=True)
class Dialect:
    """Where the two differ."""

    reasoning: str
    """Name of the count of reasoning tokens."""
    children: bool = False
    """Whether there may be transcripts of subagents."""
    tells_retries: bool = True
    """Whether every repeated request is in the stream."""

    @property
    def sources(self) -> dict[str, str]:
        """For each count the place it is read from."""
        more = " of the stream and of the subagents' transcripts" if self.children else ""
        names = {
            "input_tokens": "input",
            "output_tokens": "output",
            "cache_read_tokens": "cacheRead",
            "cache_write_tokens": "cacheWrite",
            "reasoning_tokens": self.reasoning,
        }
        return {field: f"sum of message_end usage.{name}{more}" for field, name in names.items()}


PI = Dialect("reasoning")
OMP = Dialect("reasoningTokens", children=True, tells_retries=False)


@dataclass(frozen=True)
class _Answer:
    """One assistant message at its end."""

    model: str
    api: str
    reason: str
    error: str
    counts: Counts

    @property
    def failed(self) -> bool:
        """Whether the message ended in a failure."""
        return self.reason in FAILED

    @property
    def lost(self) -> bool:
        """Whether it broke off after the server may have begun to work on it."""
        return self.failed and not REFUSED.search(self.error)


@dataclass
class _Heard:
    """What the lines of a stream add up to."""

    started: bool = False
    ended: bool = False
    in_flight: bool = False
    retries: int = 0
    answers: list[_Answer] = field(default_factory=list)
    others: list[_Answer] = field(default_factory=list)
    """To subagents."""

    @property
    def all(self) -> list[_Answer]:
        """Answers to whichever agent."""
        return [*self.answers, *self.others]

    def hear(self, event: Event, dialect: Dialect) -> None:
        """Add one line of the stream."""
        kind, message = text(event.get("type"), 100), mapping(event.get("message"))
        if kind == "session":
            self.started = True
        elif kind == "agent_start":
            self.started, self.ended = True, False
        elif kind == "message_start" and message.get("role") == "assistant":
            self.in_flight = True
        elif kind == "message_end" and message.get("role") == "assistant":
            self.started, self.in_flight = True, False
            self.answers.append(_answer(message, dialect))
        elif kind == "auto_retry_start":
            self.retries, self.ended = self.retries + 1, False
        elif kind in {"agent_settled", "agent_end"}:
            self.ended = True


def read_stream(
    stdout: Path,
    warnings: Sequence[DataWarning] = (),
    *,
    dialect: Dialect = PI,
    children: Sequence[Path] = (),
) -> Reading:
    """The reading of the events in ``stdout``. Never raises on broken, cut or missing output.

    Args:
        warnings: what the caller knows already.
        children: transcripts of subagents.
    """
    heard = _Heard()
    for event in objects(stdout):
        heard.hear(event, dialect)
    heard.others = [answer for path in children for answer in _transcript(path, dialect)]
    good = [answer for answer in heard.answers if not answer.failed]
    silent = sum(answer.counts.all_zero for answer in heard.all if not answer.failed)
    told = [answer for answer in heard.all if not answer.counts.all_zero]
    by_model = totals((answer.model, answer.counts) for answer in told if answer.model)
    last = heard.answers[-1] if heard.answers else None
    ended = heard.ended and last is not None
    return Reading(
        stop_reason=(last.reason or "unknown") if ended and last else "no-end",
        is_error=not ended or last is None or last.reason not in ENDED_WELL,
        error=_error(last, ended=ended),
        usage=_usage(heard, told, silent, dialect),
        usage_by_model={} if silent else usages(by_model, dialect.sources),
        turns=len(good) if heard.started else None,
        retries=heard.retries if heard.started and dialect.tells_retries else None,
        warnings=(*_warnings(heard, silent), *warnings),
    )


def _transcript(path: Path, dialect: Dialect) -> Iterator[_Answer]:
    for entry in objects(path):
        message = mapping(entry.get("message"))
        if entry.get("type") == "message" and message.get("role") == "assistant":
            yield _answer(message, dialect)


def _answer(message: Event, dialect: Dialect) -> _Answer:
    usage = mapping(message.get("usage"))
    failed = text(message.get("stopReason"), 100) in FAILED
    return _Answer(
        model=text(message.get("model"), 300),
        api=text(message.get("api"), 100),
        reason=text(message.get("stopReason"), 100),
        error=text(message.get("errorMessage")),
        counts=Counts(
            fresh=count(usage.get("input")),
            output=count(usage.get("output")),
            read=count(usage.get("cacheRead")),
            write=count(usage.get("cacheWrite")),
            # A broken-off answer is counted as far as it was told, and makes the sums a lower bound.
            reasoning=count(usage.get(dialect.reasoning, 0 if failed else None)),
        ),
    )


def _usage(heard: _Heard, told: list[_Answer], silent: int, dialect: Dialect) -> Usage | None:
    """The sums over every answer with counts; unknown where one that says something has none.

    Where every request was turned away, nothing was used, which is known.
    """
    if silent:
        return None
    if told:
        return as_usage(total(answer.counts for answer in told), dialect.sources)
    if heard.answers and not any(answer.lost for answer in heard.all):
        return nothing_used(dialect.sources)
    return None


def _error(last: _Answer | None, *, ended: bool) -> str | None:
    if not ended or last is None:
        return NO_END
    if last.reason in ENDED_WELL:
        return None
    return last.error or f"the last answer ended by {last.reason or 'no reason that is known'}"


def _warnings(heard: _Heard, silent: int) -> Iterator[DataWarning]:
    if silent:
        yield not_reported(silent)
    elif any(answer.counts.reasoning is None for answer in heard.all):
        yield reasoning_not_reported()
    lost = sum(answer.lost for answer in heard.all) + heard.in_flight
    if lost:
        yield lower_bound(f"{lost} answers broke off before all of their token counts arrived")
    elif heard.started and not heard.ended:
        yield stopped_early()


def trace_event(line: str) -> str | None:
    """An answer, a tool call, a retry or a failure in a few words; None for the rest."""
    event = parsed(line)
    if event is None:
        return None
    kind, message = event.get("type"), mapping(event.get("message"))
    if kind == "message_end" and message.get("role") == "assistant":
        if message.get("errorMessage"):
            return f"error: {plain(message.get('errorMessage'))}"
        said = [plain(mapping(part).get("text")) for part in items(message.get("content"))]
        return f"answer: {' '.join(part for part in said if part)}".rstrip()
    if kind == "tool_execution_start":
        return tool_line(event.get("toolName"), event.get("args"))
    if kind == "auto_retry_start":
        return f"retry {plain(event.get('attempt'))}: {plain(event.get('errorMessage'))}"
    return None
