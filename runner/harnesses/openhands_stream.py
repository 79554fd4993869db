"""OpenHands stream: the events among what its headless program prints, with what it left below its home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.counts import gaps
from runner.harnesses.openhands_log import read_log
from runner.harnesses.stream import (
    MAX_DOCUMENT_BYTES,
    Event,
    document,
    items,
    mapping,
    objects,
    opened,
    parsed,
    text,
)
from runner.harnesses.trace import plain, tool_line
from runner.records import DataWarning

DONE = "finished"
SHOWN = 200


@dataclass(frozen=True)
class Said:
    """What the events say."""

    events: int = 0
    turns: int = 0
    error: str | None = None
    """Of an error that ended the conversation."""


def read_run(
    stdout: Path, conversations: Path, log_file: Path, warnings: Sequence[DataWarning] = ()
) -> Reading:
    """The reading of a run, whatever is cut, broken or missing.

    Args:
        stdout: its events, for what it said.
        conversations: its state, for how it ended.
        log_file: what each answer used.
        warnings: what the caller knows already.
    """
    said, log, ended = listen(stdout), read_log(log_file), status(conversations)
    error = said.error
    if error is None and ended != DONE:
        error = f"its conversation ended as {ended}" if ended else "it left no conversation"
    return Reading(
        stop_reason=ended or "no-conversation",
        is_error=error is not None,
        error=error,
        usage=log.usage,
        usage_by_model=log.by_model,
        turns=said.turns if said.events else None,
        retries=log.retries if log.requests else None,
        warnings=(*gaps([counts for _, counts in log.answers], log.lost), *warnings),
    )


def listen(stdout: Path) -> Said:
    """What the events in ``stdout`` say; other lines, also broken ones, are passed over."""
    events, unnamed = 0, 0
    answers: set[str] = set()
    error: str | None = None
    for event in objects(stdout):
        kind = text(event.get("kind"))
        if not kind:
            continue
        events += 1
        if kind == "ConversationErrorEvent":
            error = text(event.get("detail")) or text(event.get("code")) or "an error without words"
        elif _is_answer(event, kind):
            name = text(event.get("llm_response_id"))
            answers.add(name or f"unnamed {unnamed}")
            unnamed += not name
    return Said(events, len(answers), error)


def status(conversations: Path) -> str:
    """How the conversation saved below ``conversations`` ended; nothing where none was saved whole.

    ``finished``, ``error``, ``stuck``, or ``running`` where it was stopped.
    """
    for path in sorted(conversations.glob("*/base_state.json"))[:1]:
        stream = opened(path)
        if stream is not None:
            with stream:
                saved = document(stream.read(MAX_DOCUMENT_BYTES))
            return text(mapping(saved).get("execution_status"), 100)
    return ""


def show(line: str) -> str | None:
    """A line of output as a short line for a reader, or None."""
    event = parsed(line)
    if event is None:
        return None
    kind = text(event.get("kind"))
    if kind == "ConversationErrorEvent":
        return f"error: {plain(text(event.get('detail'), SHOWN))}"
    if kind == "ObservationEvent":
        return tool_line(text(event.get("tool_name")), mapping(event.get("observation")))
    if not _is_answer(event, kind):
        return None
    said = (
        mapping(event.get("llm_message")).get("content") if kind == "MessageEvent" else event.get("thought")
    )
    words = plain("".join(text(mapping(part).get("text"), SHOWN) for part in items(said))[:SHOWN])
    return f"answer: {words}" if words else None


def _is_answer(event: Event, kind: str) -> bool:
    return event.get("source") == "agent" and kind in {"ActionEvent", "MessageEvent"}
