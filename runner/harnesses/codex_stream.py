"""The output of ``codex``: the stream tells how it ended, the rollout files tell the tokens.

``turn.completed`` leaves out subagents, and a failed turn has no usage at all. Every request leaves a record
in the rollout file of its thread, whatever became of the turn, so these are added up. Their input holds what
was read from the cache and written to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.codex_rollout import Rollouts, counts_of, read_rollouts
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
from runner.harnesses.stream import NO_END, Event, mapping, objects, parsed, text
from runner.records import DataWarning, Usage

RECONNECTING = "Reconnecting..."
TURNED_AWAY = re.compile(
    r"(last|unexpected) status:? \d{3}|experiencing high demand|waiting for network|connection failed"
    r"|\"error\":",
    re.IGNORECASE,
)
"""In the message of a request that the server refused or that reached none, so that it used no tokens."""
ROLLOUTS = "rollout files, each answer once, subagents included"
SOURCES = {
    "input_tokens": f"input_tokens less cached_input_tokens and cache_write_input_tokens; {ROLLOUTS}",
    "output_tokens": f"output_tokens; {ROLLOUTS}",
    "cache_read_tokens": f"cached_input_tokens; {ROLLOUTS}",
    "cache_write_tokens": f"cache_write_input_tokens; {ROLLOUTS}",
    "reasoning_tokens": f"reasoning_output_tokens; {ROLLOUTS}",
}
STREAM_SOURCES = dict.fromkeys(SOURCES, "turn.completed usage; subagents are not in it")


@dataclass
class _Heard:
    """What the lines of a stream say."""

    started: bool = False
    messages: int = 0
    delegated: bool = False
    reconnects: int = 0
    lost: int = 0
    """Requests that broke off after the server may have begun to work on them."""
    completed: list[Event] = field(default_factory=list)
    failure: str | None = None
    last_error: str | None = None
    ended: bool = False

    def hear(self, event: Event) -> None:
        """Add one line of the stream."""
        kind, item = event.get("type"), mapping(event.get("item"))
        if kind == "thread.started":
            self.started = True
        elif kind == "turn.started":
            self.started, self.ended = True, False
        elif kind == "item.completed":
            self.messages += item.get("type") == "agent_message"
            self.delegated = self.delegated or item.get("type") == "collab_tool_call"
        elif kind == "error":
            self._hear_error(event.get("message"))
        elif kind == "turn.completed":
            self.ended, self.failure = True, None
            self.completed.append(mapping(event.get("usage")))
        elif kind == "turn.failed":
            message = mapping(event.get("error")).get("message")
            self.ended, self.failure = True, _unwrapped(message)
            self.lost += not TURNED_AWAY.search(text(message))

    def _hear_error(self, message: object) -> None:
        """An error is a retry or comes before the end; an item of that type is only a warning."""
        if isinstance(message, str):
            if message.startswith(RECONNECTING):
                self.reconnects += 1
                self.lost += not TURNED_AWAY.search(message)
            self.last_error = _unwrapped(message)


def read_run(stdout: Path, configuration: Path, model: str, warnings: Sequence[DataWarning] = ()) -> Reading:
    """The reading of a run. Never raises on broken, cut or missing output.

    Args:
        stdout: the stream.
        configuration: the agent's own folder, in which its rollout files lie.
        model: the model asked for, for rollout files that name none.
        warnings: what the caller knows already.
    """
    heard = _Heard()
    for event in objects(stdout):
        heard.hear(event)
    rollouts = read_rollouts(configuration, model)
    finished = heard.ended and heard.failure is None
    usage, by_model, notes = _tokens(heard, rollouts)
    turns = rollouts.main_answers or heard.messages
    return Reading(
        stop_reason="completed" if finished else "failed" if heard.ended else "no-end",
        is_error=not finished,
        error=None if finished else _error(heard),
        usage=usage,
        usage_by_model=by_model,
        turns=turns if heard.started or rollouts.records else None,
        retries=heard.reconnects if heard.started else None,
        warnings=(*notes, *warnings),
    )


def _tokens(heard: _Heard, rollouts: Rollouts) -> tuple[Usage | None, dict[str, Usage], list[DataWarning]]:
    """Usage in all and by model, with what a reader must know of it."""
    records = list(rollouts.records.values())
    silent = sum(counts.all_zero for _, counts in records)
    notes = []
    if heard.lost:
        notes.append(lower_bound(f"{heard.lost} answers broke off before all of their token counts arrived"))
    elif heard.started and not heard.ended:
        notes.append(stopped_early())
    if silent or (not records and heard.messages and not _told(heard)):
        return None, {}, [not_reported(silent or heard.messages)]
    if records:
        usage = as_usage(total(counts for _, counts in records), SOURCES)
        return usage, usages(totals(records), SOURCES), notes
    if _told(heard):
        if heard.delegated:
            notes.append(lower_bound("the rollout files are gone, and the stream leaves out subagents"))
        return as_usage(total(counts_of(usage) for usage in heard.completed), STREAM_SOURCES), {}, notes
    if heard.failure is not None and not heard.lost and not heard.messages:
        return nothing_used(SOURCES), {}, notes
    return None, {}, notes


def _told(heard: _Heard) -> bool:
    return any(not counts_of(usage).all_zero for usage in heard.completed)


def _error(heard: _Heard) -> str:
    if heard.ended:
        return heard.failure or "the turn failed without a message"
    return f"{NO_END}; its last message: {heard.last_error}"[:1000] if heard.last_error else NO_END


def _unwrapped(message: object) -> str:
    """The text in an error whose message is the server's JSON answer."""
    said = text(message)
    inner = mapping((parsed(said) or {}).get("error"))
    return text(inner.get("message")) or said
