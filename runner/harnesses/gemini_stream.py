"""The output of ``gemini-cli``, read into usage by model, turns and stop reason.

The last line has the tokens of everything, subagents included: input with the cache in it, output without the
thinking, and a total from which the thinking follows. It counts an answer without usage as nothing, so the
session files say whether there was one; they also serve where a run was stopped before its last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Reading, stderr_beside
from runner.harnesses.counts import (
    NOT_A_CLASS,
    Counts,
    as_usage,
    lower_bound,
    not_reported,
    nothing_used,
    total,
    usages,
)
from runner.harnesses.gemini_session import Sessions, counts_of, read_sessions
from runner.harnesses.stream import MAX_LINE_BYTES, NO_END, Event, count, mapping, objects, parsed, text
from runner.harnesses.trace import plain, tool_line
from runner.records import DataWarning, Usage

TURNED_AWAY = re.compile(
    r"\"code\": ?[45]\d\d\b|status:? [45]\d\d\b|fetch failed|ECONNREFUSED", re.IGNORECASE
)
"""In the message of a request that the server refused or that reached none, so that it used no tokens."""
TURN_LIMIT = re.compile(r"max(imum)? session turns", re.IGNORECASE)
RETRYING = re.compile(rb"Attempt \d+ failed\b.{0,500}?\. Retrying ", re.DOTALL)
LOOP = "Loop detected"
SOURCES = {
    "input_tokens": "stats input_tokens less cached of the result line, all models",
    "output_tokens": "stats total_tokens less input_tokens of the result line, all models",
    "cache_read_tokens": "stats cached of the result line, all models",
    "cache_write_tokens": NOT_A_CLASS,
    "reasoning_tokens": "stats total_tokens less the other two of the result line, all models",
}
SESSION_SOURCES = {
    **dict.fromkeys(SOURCES, "session files, each answer once, subagents included"),
    "cache_write_tokens": NOT_A_CLASS,
}


@dataclass
class _Heard:
    """What the lines of a stream say."""

    started: bool = False
    answering: bool = False
    turns: int = 0
    trouble: str = ""
    """The last error or warning that the agent gave between its answers."""
    result: Event | None = None

    def hear(self, event: Event) -> None:
        """Add one line of the stream."""
        kind = event.get("type")
        if kind == "init":
            self.started = True
        elif kind == "tool_use" or (kind == "message" and event.get("role") == "assistant"):
            self.started = True
            self.turns += not self.answering
            self.answering = True
        elif kind == "tool_result":
            self.answering = False
        elif kind == "error":
            self.trouble = text(event.get("message"))
        elif kind == "result":
            self.started, self.result = True, event


def read_run(stdout: Path, configuration: Path, warnings: Sequence[DataWarning] = ()) -> Reading:
    """The reading of a run. Never raises on broken, cut or missing output.

    Args:
        stdout: the stream; what the agent said on standard error stands beside it, retries among it.
        configuration: the agent's own folder, in which its session files lie.
        warnings: what the caller knows already.
    """
    heard = _Heard()
    for event in objects(stdout):
        heard.hear(event)
    sessions = read_sessions(configuration)
    turns = len(sessions.turns) or heard.turns
    if heard.result is None:
        return _read_stopped(heard, sessions, turns, _retries(stdout), warnings)
    failure = _failure(heard, heard.result, turns)
    by_model = {name: each for name, each in _by_model(heard.result).items() if not each.all_zero}
    silent = len(sessions.silent) if by_model else turns
    lost = LOOP in heard.trouble or (failure is not None and _broke_off(heard.result))
    return Reading(
        stop_reason=_stop_reason(heard, heard.result, failure),
        is_error=failure is not None,
        error=failure,
        usage=_usage(by_model, silent=silent, refused=failure is not None and not lost),
        usage_by_model={} if silent else usages(by_model, SOURCES),
        turns=turns,
        retries=_retries(stdout),
        limit_hit="turns" if _at_limit(heard, heard.result) else None,
        warnings=(*_warnings(silent, lost=lost), *warnings),
    )


def _read_stopped(
    heard: _Heard, sessions: Sessions, turns: int, retries: int | None, warnings: Sequence[DataWarning]
) -> Reading:
    by_model = {} if sessions.silent else sessions.by_model()
    silent = len(sessions.silent) or (0 if by_model else heard.turns)
    notes = [lower_bound("the agent was stopped, so answers under way were not counted")] if by_model else []
    if silent:
        notes.append(not_reported(silent))
    return Reading(
        stop_reason="no-end",
        is_error=True,
        error=NO_END,
        usage=as_usage(total(by_model.values()), SESSION_SOURCES) if by_model else None,
        usage_by_model=usages(by_model, SESSION_SOURCES),
        turns=turns if heard.started or turns else None,
        retries=retries if heard.started else None,
        warnings=(*notes, *warnings),
    )


def _retries(stdout: Path) -> int | None:
    """Requests that were made again, which the agent tells on standard error only."""
    try:
        with stderr_beside(stdout).open("rb") as stream:
            lines = iter(lambda: stream.readline(MAX_LINE_BYTES), b"")
            return sum(RETRYING.match(line) is not None for line in lines)
    except OSError:
        return None


def _by_model(result: Event) -> dict[str, Counts]:
    models = mapping(mapping(result.get("stats")).get("models"))
    return {str(name)[:300]: _counts(mapping(told)) for name, told in models.items()}


def _counts(told: Event) -> Counts:
    whole, prompt, said = (count(told.get(f"{name}_tokens")) for name in ("total", "input", "output"))
    thoughts = None if whole is None or prompt is None or said is None else whole - prompt - said
    return counts_of(prompt, told.get("cached"), said, thoughts)


def _usage(by_model: dict[str, Counts], *, silent: int, refused: bool) -> Usage | None:
    """The sums; unknown where an answer has no counts. Where every request was refused, nothing was used."""
    if silent:
        return None
    if by_model:
        return as_usage(total(by_model.values()), SOURCES)
    return nothing_used(SOURCES) if refused else None


def _failure(heard: _Heard, result: Event, turns: int) -> str | None:
    """What went wrong. A run can end well by its own account although a loop or a limit stopped it."""
    if result.get("status") == "success" and not _at_limit(heard, result) and LOOP not in heard.trouble:
        return None if turns else "the run ended without an answer of the model"
    return _message(result) or heard.trouble or "the agent reports an error"


def _message(result: Event) -> str:
    return text(mapping(result.get("error")).get("message"))


def _at_limit(heard: _Heard, result: Event) -> bool:
    return bool(TURN_LIMIT.search(_message(result)) or TURN_LIMIT.search(heard.trouble))


def _broke_off(result: Event) -> bool:
    """Whether the last request failed after the server may have begun to work on it."""
    message = _message(result)
    return bool(message) and not TURNED_AWAY.search(message) and not TURN_LIMIT.search(message)


def _stop_reason(heard: _Heard, result: Event, failure: str | None) -> str:
    if _at_limit(heard, result):
        return "turn-limit"
    if LOOP in heard.trouble:
        return "loop"
    return text(result.get("status"), 100) or "unknown" if failure is None else "error"


def _warnings(silent: int, *, lost: bool) -> Iterator[DataWarning]:
    if silent:
        yield not_reported(silent)
    if lost:
        yield lower_bound("the last answer broke off before its token counts arrived")


def trace_event(line: str) -> str | None:
    """An answer, a tool call, a failure or the end in a few words; None for the rest."""
    event = parsed(line)
    kind = None if event is None else event.get("type")
    if event is None or not isinstance(kind, str):
        return None
    if kind == "message" and event.get("role") == "assistant":
        return f"answer: {plain(event.get('content'))}".rstrip()
    if kind == "tool_use":
        return tool_line(event.get("tool_name"), event.get("parameters"))
    if kind == "tool_result" and event.get("status") == "error":
        return f"  failed: {plain(mapping(event.get('error')).get('message'))}".rstrip()
    if kind == "error":
        return f"error: {plain(event.get('message'))}".rstrip()
    if kind == "result":
        return f"end: {plain(event.get('status'))} {plain(_message(event))}".rstrip()
    return None
