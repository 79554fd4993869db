"""Wire: what a protocol module does between bytes and a conversation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from runner.replay.conversation import Answer, Conversation
from runner.replay.turns import Tokens


@dataclass(frozen=True)
class Call:
    """What the address of a request says beyond its protocol; None where the body says it."""

    model: str | None = None
    stream: bool | None = None
    server_sent: bool = True
    """Whether a stream is one of server-sent events; generateContent can also stream a JSON list."""
    framed: bool = False
    """Whether a stream is one of Amazon's binary frames."""


@dataclass(frozen=True)
class Wire:
    """One protocol, as functions without state."""

    name: str
    read: Callable[[Mapping[str, object], Call], Conversation]
    """Body and address to a conversation; raises RequestFault."""
    whole: Callable[[Answer, int], dict[str, object]]
    """Answer and time to the body of a response that is not streamed."""
    events: Callable[[Answer, int], Iterator[bytes]]
    """Answer and time to server-sent events."""
    error: Callable[[int, str, str], dict[str, object]]
    """Status, message and code to an error as clients of the protocol read it."""
    told: Callable[[Tokens, bool], Tokens]
    """Tokens as a client can know them, with or without cache detail.

    A class that has no field in the protocol is folded into the class that clients see it in.
    """
    told_at_start: Callable[[Tokens, bool], Tokens]
    """What of them the first event of a stream tells already."""


def tells_nothing_at_start(_tokens: Tokens, _cache_detail: bool) -> Tokens:
    """For protocols whose usage comes last."""
    return Tokens()


def event(data: Mapping[str, object], name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def error_kind(status: int) -> str:
    """The kind of an error in OpenAI's protocols."""
    return "server_error" if status >= 500 else "invalid_request_error"
