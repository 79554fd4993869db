"""Spoiling: what faults do to an answer and to the events that it is streamed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from runner.replay.conversation import Answer
from runner.replay.scenario import Faults

SMALL_PIECE = 3
END_MARKS = (
    b'"finish_reason": "',
    b"[DONE]",
    b'"type": "message_delta"',
    b'"type": "message_stop"',
    b'"type": "response.completed"',
    b'"usage"',
)
HALF_AN_EVENT = b'data: {"id": "replay", "choices": [{"delta": {"content": "half of\n\n'


def spoiled_answer(answer: Answer, faults: Faults) -> Answer:
    """What is said with these faults: cut by a limit of tokens, or in small pieces."""
    if faults.limit:
        answer = replace(answer, text=answer.text[: len(answer.text) // 2], calls=(), at_limit=True)
    return replace(answer, piece=SMALL_PIECE) if faults.fragment else answer


def spoiled_events(events: Sequence[bytes], faults: Faults) -> Iterator[bytes]:
    """What is sent of ``events``."""
    if faults.stall:
        yield events[0]
    elif faults.cut or faults.malformed:
        half = len(events) // 2
        yield from events[:half] or [events[0][: len(events[0]) // 2]]
        if faults.malformed:
            yield HALF_AN_EVENT
    elif faults.noend:
        yield from (event for event in events if not any(mark in event for mark in END_MARKS))
    else:
        yield from events


def json_list(events: Sequence[bytes]) -> list[bytes]:
    """Server-sent events as the pieces of one JSON list."""
    bodies = [event.removeprefix(b"data: ").strip() for event in events]
    return [(b"[" if number == 0 else b",") + body for number, body in enumerate(bodies)] + [b"]"]


def reason(answer: Answer) -> str:
    """Why the answer ends, as the meter counts it."""
    return "length" if answer.at_limit else "stop"
