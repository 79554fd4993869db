"""OpenHands stream: the events among what its headless program prints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.stream import Event, items, mapping, objects, opened, parsed, text
from runner.harnesses.trace import plain, tool_line

SHOWN = 200
MAX_STATE_BYTES = 64_000_000


@dataclass(frozen=True)
class Said:
    """What the events say."""

    events: int = 0
    turns: int = 0
    error: str | None = None
    """Of an error that ended the conversation."""


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
                saved = parsed(stream.read(MAX_STATE_BYTES))
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
