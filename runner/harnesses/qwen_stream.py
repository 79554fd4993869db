"""The output of ``qwen-code``, read into usage by model, turns, retries and stop reason.

Its result line has the tokens of everything, subagents included, under the field names of another agent: the
input has the cache in it here. Thinking, failed requests, and the tokens of a run without a result line, as
at the turn limit, stand in its transcripts only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.counts import (
    NOT_A_CLASS,
    Counts,
    as_usage,
    classes_not_told,
    lower_bound,
    not_reported,
    nothing_used,
    total,
    usages,
)
from runner.harnesses.qwen_transcript import Transcripts, counts_of, read_transcripts
from runner.harnesses.stream import NO_END, Event, items, mapping, objects, parsed, text
from runner.harnesses.trace import plain, tool_line
from runner.records import DataWarning, Usage

LOOP = "Loop detection halted"
UNREACHED = re.compile(r"connection error|ECONNREFUSED|fetch failed", re.IGNORECASE)
"""In the message of a request that reached no server."""
SOURCES = {
    "input_tokens": "usage input_tokens less cache_read_input_tokens of the result line",
    "output_tokens": "usage output_tokens of the result line",
    "cache_read_tokens": "usage cache_read_input_tokens of the result line",
    "cache_write_tokens": NOT_A_CLASS,
    "reasoning_tokens": "thoughts_token_count of every request in the transcripts",
}
TRANSCRIPT_SOURCES = {
    **dict.fromkeys(SOURCES, "transcripts, every request once, subagents included"),
    "cache_write_tokens": NOT_A_CLASS,
}


@dataclass
class _Heard:
    """What the lines of a stream say."""

    started: bool = False
    answering: bool = False
    turns: int = 0
    result: Event | None = None

    def hear(self, event: Event) -> None:
        """Add one line of the stream."""
        kind, main = event.get("type"), event.get("parent_tool_use_id") is None
        if kind == "system" and event.get("subtype") == "init":
            self.started = True
        elif kind == "assistant" and main:
            self.started = True
            self.turns += not self.answering
            self.answering = True
        elif kind == "user" and main:
            self.answering = False
        elif kind == "result":
            self.started, self.result = True, event


def read_run(
    stdout: Path,
    configuration: Path,
    warnings: Sequence[DataWarning] = (),
    *,
    max_turns: int | None = None,
    tells_writes: bool = True,
) -> Reading:
    """The reading of a run. Never raises on broken, cut or missing output.

    Args:
        stdout: the stream.
        configuration: the agent's own folder, in which its transcripts lie.
        warnings: what the caller knows already.
        max_turns: the turn limit the agent was given; at it, it ends without a result.
        tells_writes: False for a protocol that has cache writes and thinking, which the agent leaves out.
    """
    heard = _Heard()
    for event in objects(stdout):
        heard.hear(event)
    found = read_transcripts(configuration)
    turns = found.turns or (0 if found.failures else heard.turns)
    limited = heard.result is None and max_turns is not None and turns >= max_turns
    error = _error(heard, limited=limited)
    counts, by_model, sources = _counted(heard.result, found)
    notes = [] if tells_writes or counts is None else [classes_not_told("qwen-code")]
    refused = bool(found.failures) and not found.answers and not _lost(found)
    return Reading(
        stop_reason=_stop_reason(heard, error, limited=limited),
        is_error=heard.result is None or heard.result.get("is_error") is not False,
        error=error,
        usage=_usage(counts, sources, refused=refused, tells_writes=tells_writes),
        usage_by_model=usages(
            {name: _told(each, tells_writes=tells_writes) for name, each in by_model.items()}, sources
        ),
        turns=turns if heard.started or turns else None,
        retries=len(found.failures) - found.failed_last if found.answers or found.failures else None,
        limit_hit="turns" if limited else None,
        warnings=(*notes, *_warnings(heard, found, counts, turns, error, limited=limited), *warnings),
    )


def _counted(
    result: Event | None, found: Transcripts
) -> tuple[Counts | None, dict[str, Counts], dict[str, str]]:
    """The sums, those by model, and where they are from; unknown where an answer came without counts.

    A result line decides; the transcripts add thinking and models to it where their sums are the same.
    """
    by_model = {} if found.silent else found.by_model()
    summed = total(by_model.values()) if by_model else None
    if result is None:
        return summed, by_model, TRANSCRIPT_SOURCES
    usage = mapping(result.get("usage"))
    told = counts_of(
        usage.get("input_tokens"), usage.get("cache_read_input_tokens"), usage.get("output_tokens"), None
    )
    if found.silent or told.all_zero:
        return None, {}, SOURCES
    if summed is not None and replace(summed, reasoning=None) == told:
        return summed, by_model, SOURCES
    return told, {}, SOURCES


def _told(counts: Counts, *, tells_writes: bool) -> Counts:
    """Thinking is told only by some servers: 0 stands for not told."""
    return replace(counts, reasoning=counts.reasoning or None, write=counts.write if tells_writes else None)


def _usage(
    counts: Counts | None, sources: dict[str, str], *, refused: bool, tells_writes: bool
) -> Usage | None:
    if counts is not None:
        return as_usage(_told(counts, tells_writes=tells_writes), sources)
    return nothing_used(SOURCES) if refused else None


def _lost(found: Transcripts) -> int:
    """Requests that broke off without a status, after the server may have begun to work on them."""
    return sum(status is None and not UNREACHED.search(message) for status, message in found.failures)


def _stop_reason(heard: _Heard, error: str | None, *, limited: bool) -> str:
    if limited:
        return "turn-limit"
    if error is not None and error.startswith(LOOP):
        return "loop"
    return "no-end" if heard.result is None else text(heard.result.get("subtype"), 100) or "unknown"


def _error(heard: _Heard, *, limited: bool) -> str | None:
    if limited:
        return "the agent ended at its turn limit"
    if heard.result is None:
        return NO_END
    if heard.result.get("is_error") is False:
        return None
    message = text(mapping(heard.result.get("error")).get("message")) or text(heard.result.get("result"))
    return message or "the agent reports an error"


def _warnings(
    heard: _Heard, found: Transcripts, counts: Counts | None, turns: int, error: str | None, *, limited: bool
) -> Iterator[DataWarning]:
    if found.silent or (counts is None and turns):
        yield not_reported(found.silent or turns)
    lost = _lost(found) + (error is not None and error.startswith(LOOP))
    if lost:
        yield lower_bound(f"{lost} answers broke off before their token counts arrived")
    elif heard.result is None and counts is not None and not limited:
        yield lower_bound("the agent was stopped, so answers under way were not counted")


def trace_event(line: str) -> str | None:
    """An answer, a tool call or the end in a few words, those of subagents set in; None for the rest."""
    event = parsed(line)
    if event is None:
        return None
    if event.get("type") == "assistant":
        return _shown(mapping(event.get("message")), "  " if event.get("parent_tool_use_id") else "")
    if event.get("type") == "result":
        message = plain(mapping(event.get("error")).get("message"))
        return f"end: {plain(event.get('subtype'))} {message}".rstrip()
    return None


def _shown(message: Event, inset: str) -> str | None:
    for part in map(mapping, items(message.get("content"))):
        if part.get("type") == "text" and plain(part.get("text")):
            return f"{inset}answer: {plain(part.get('text'))}"
        if part.get("type") == "tool_use":
            return inset + tool_line(part.get("name"), part.get("input"))
    return None
