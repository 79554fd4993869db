"""Server-sent events: bytes in any split to the same events."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event. Its bytes are whatever the server sent: they need not be UTF-8."""

    data: bytes
    name: bytes = b""
    whole: bool = True
    """False: the stream ended before the blank line that ends an event."""


class EventParser:
    """Splits a body into events as the HTML standard says, on bytes.

    Lines end with CR, LF or CRLF and with nothing else; a byte order mark before the first is dropped;
    comments and unknown fields are passed over; several ``data`` lines are joined by LF. Unlike a browser
    it hands out what is left when the body ends, marked as not whole.

    Args:
        max_event_bytes: the ``data`` and the line at hand together may be this long. Beyond it ``failed``
            is set, and nothing more is parsed; where that happens does not depend on how bytes are split.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.failed = False
        self._limit = max_event_bytes
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""
        self._skip_newline = False
        self._at_start = True

    def feed(self, piece: bytes) -> list[ServerSentEvent]:
        """The events that ``piece`` completes."""
        events: list[ServerSentEvent] = []
        if self._at_start:
            piece = self._without_mark(piece)
            if self._at_start:
                return events
        if self._skip_newline and piece:
            self._skip_newline = False
            if piece.startswith(b"\n"):
                piece = piece[1:]
        begin = 0
        for end in _LINE_END.finditer(piece):
            self._line += piece[begin : end.start()]
            begin = end.end()
            if not self._take_line(events):
                return events
        if begin and piece.endswith(b"\r"):
            self._skip_newline = True
        self._line += piece[begin:]
        self._too_long()
        return events

    def close(self) -> list[ServerSentEvent]:
        """What is left at the end of the body: at most one event, not whole."""
        events: list[ServerSentEvent] = []
        if self.failed or (self._line and not self._take_line(events)):
            return events
        self._dispatch(events, whole=False)
        return events

    def _without_mark(self, piece: bytes) -> bytes:
        held = bytes(self._line) + piece
        self._line.clear()
        if len(held) < len(_BOM) and _BOM.startswith(held):
            self._line += held
            return b""
        self._at_start = False
        return held.removeprefix(_BOM)

    def _take_line(self, events: list[ServerSentEvent]) -> bool:
        if self._too_long():
            return False
        line = bytes(self._line)
        self._line.clear()
        if not line:
            self._dispatch(events, whole=True)
            return True
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(line)
        elif name == b"event":
            self._name = value.removeprefix(b" ")
        return True

    def _dispatch(self, events: list[ServerSentEvent], *, whole: bool) -> None:
        if self._data:
            events.append(ServerSentEvent(b"\n".join(self._data), self._name, whole))
        self._data, self._name, self._size = [], b"", 0

    def _too_long(self) -> bool:
        self.failed = self.failed or self._size + len(self._line) > self._limit
        return self.failed
