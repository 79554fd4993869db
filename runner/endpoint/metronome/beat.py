"""Beat: what a metronome sends and when, and what it notes of a request."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Beat:
    """Delays and size of every answer."""

    first_ms: float = 200.0
    """From the request read to the first chunk, which comes with the response's head."""
    gap_ms: float = 20.0
    chunks: int = 50
    """Pieces of text; the end of the stream follows one gap after the last."""
    characters: int = 6
    """Of each piece."""

    def writes(self) -> list[bytes]:
        """The writes of one answer, in turn; the first comes with the head, the last ends the stream."""
        text = "beat".ljust(self.characters, "t")[: max(self.characters - 1, 1)] + " "
        piece = _chunk(_event({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}))
        usage = {
            "prompt_tokens": 8,
            "completion_tokens": self.chunks,
            "total_tokens": 8 + self.chunks,
        }
        last = (
            _chunk(_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
            + _chunk(_event({"choices": [], "usage": usage}))
            + _chunk(b"data: [DONE]\n\n")
            + b"0\r\n\r\n"
        )
        return [*[piece] * self.chunks, last]

    @property
    def seconds(self) -> float:
        """How long one answer takes, from the request to the end of its stream."""
        return (self.first_ms + self.gap_ms * self.chunks) / 1000

    def document(self) -> str:
        """As one argument of a command."""
        return json.dumps(asdict(self))


def head(identifier: str) -> bytes:
    """The response's head, which names the request."""
    return (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: %b\r\n"
        b"cache-control: no-store\r\ntransfer-encoding: chunked\r\n\r\n" % identifier.encode("latin-1")
    )


class Truth(NamedTuple):
    """One request as the server saw it, in nanoseconds of the clock that all processes here share."""

    identifier: str
    """What the client sent as ``x-metronome-id``; empty where it sent none."""
    received_ns: int
    """When the read came that completed the request."""
    sends_ns: list[int]
    """Just before each write was handed to the system."""

    @property
    def ttft_ms(self) -> float:
        """The true time to the first token."""
        return (self.sends_ns[0] - self.received_ns) / 1_000_000


def _event(more: dict[str, object]) -> bytes:
    body = {"id": "metronome", "object": "chat.completion.chunk", "created": 0, "model": "metronome", **more}
    return b"data: " + json.dumps(body, separators=(",", ":")).encode() + b"\n\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
