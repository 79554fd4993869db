"""Exchanges made by hand: a request, and a body in pieces with stamps of our choosing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from runner.endpoint.exchange import Broken, Exchange
from runner.endpoint.framing import Head
from runner.endpoint.reading import read
from runner.endpoint.request import AskRequest, Message, Protocol
from runner.endpoint.result import StreamResult

MS = 1_000_000
SENT = 1_000 * MS
CHAT, MESSAGES, RESPONSES = Protocol.CHAT_COMPLETIONS, Protocol.MESSAGES, Protocol.RESPONSES
DONE = "[DONE]"


def question(protocol: Protocol = CHAT, **more: object) -> AskRequest:
    fields: dict[str, object] = {
        "protocol": protocol,
        "model": "m",
        "messages": (Message(role="user", content="Say it."),),
    }
    return AskRequest.model_validate(fields | more)


def sse(*events: object) -> bytes:
    """Events of objects, or of text as it stands."""
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return b"".join(f"data: {line}\n\n".encode() for line in lines)


def chunk(finish: str | None = None, **delta: object) -> dict[str, object]:
    return {"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def exchange(
    *pieces: tuple[float, bytes],
    protocol: Protocol = CHAT,
    status: int = 200,
    headers: dict[str, str] | None = None,
    broken: Broken | None = None,
) -> Exchange:
    """``pieces`` are milliseconds after the request was sent, and bytes of the body."""
    made = Exchange(question(protocol), datetime(2026, 1, 31, tzinfo=UTC))
    made.stamps.scheduled, made.stamps.sent = SENT - 5 * MS, SENT
    made.head = Head(status, headers or {})
    for at_ms, piece in pieces:
        made.pieces.append(piece)
        made.piece_stamps.append(SENT + round(at_ms * MS))
    first = round((pieces[0][0] if pieces else 1) * MS)
    made.stamps.first_byte = made.stamps.headers = SENT + first
    made.stamps.ended = SENT + round((pieces[-1][0] if pieces else 1) * MS)
    made.complete, made.broken = broken is None, broken
    made.reads = len(pieces)
    return made


def heard(
    events: Sequence[object], protocol: Protocol = CHAT, *, broken: Broken | None = None
) -> StreamResult:
    """The result of ``events``, the first 100 ms after the request and each 10 ms after the one before."""
    pieces = [(100 + 10 * number, sse(event)) for number, event in enumerate(events)]
    return read(exchange(*pieces, protocol=protocol, broken=broken))
