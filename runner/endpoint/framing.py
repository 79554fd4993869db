"""Framing: where the head and the body of an HTTP/1.1 response begin and end, read by read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto

MAX_HEAD_BYTES = 64 * 1024
MAX_LINE_BYTES = 8 * 1024
_STATUS = re.compile(rb"HTTP/(1\.[01]) ([1-9][0-9]{2})(?: [^\r\n]*)?")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;.*)?")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_WITHOUT_BODY = frozenset({204, 304})


class FramingError(Exception):
    """The bytes are no HTTP/1.1 response, or pass a bound; ``code`` says which."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Head:
    """Status and headers of a response; names in lower case, repeated ones joined by a comma."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    version: str = "1.1"

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection may carry another request."""
        tokens = {token.strip().lower() for token in self.headers.get("connection", "").split(",")}
        return "keep-alive" in tokens if self.version == "1.0" else "close" not in tokens


class _State(Enum):
    HEAD = auto()
    SIZE = auto()
    DATA = auto()
    DATA_END = auto()
    TRAILER = auto()
    LENGTH = auto()
    UNTIL_CLOSE = auto()
    COMPLETE = auto()


class ResponseFramer:
    """Takes the reads of one response in turn and gives back what of each is body.

    ``surplus`` says that bytes came after the end: such a connection must not be used again.
    """

    def __init__(self) -> None:
        self.head: Head | None = None
        self.surplus = False
        self._state = _State.HEAD
        self._held = bytearray()
        self._left = 0
        self._head_bytes = 0
        self._searched = 0

    @property
    def complete(self) -> bool:
        """Whether the response has ended as HTTP says."""
        return self._state is _State.COMPLETE

    def feed(self, data: bytes) -> bytes:
        """The body bytes in ``data``, without heads, chunk sizes and trailers.

        Raises:
            FramingError: it is not HTTP/1.1, or a bound is passed.
        """
        if self._state is _State.SIZE and not self._held:
            whole = self._one_whole_chunk(data)
            if whole is not None:
                return whole
        body: list[bytes] = []
        self._held += data
        while self._step(body):
            continue
        if self.complete and self._held:
            self.surplus = True
        return body[0] if len(body) == 1 else b"".join(body)

    def close(self) -> bool:
        """Tell that the connection ended; returns whether the response is complete by that."""
        if self._state is _State.UNTIL_CLOSE:
            self._state = _State.COMPLETE
        return self.complete

    def _one_whole_chunk(self, data: bytes) -> bytes | None:
        """The way nearly every read of a stream goes: exactly one chunk."""
        at = data.find(b"\r\n", 0, 18)
        size = _SIZE.fullmatch(data, 0, at) if at > 0 else None
        if size is None:
            return None
        length = int(size[1], 16)
        begin = at + 2
        if length == 0 or len(data) != begin + length + 2 or not data.endswith(b"\r\n"):
            return None
        return data[begin : begin + length]

    def _step(self, body: list[bytes]) -> bool:
        """One move of the machine; False when it needs more bytes or has come to its end."""
        state = self._state
        if state is _State.HEAD:
            return self._read_head()
        if state in {_State.DATA, _State.LENGTH}:
            return self._read_counted(body)
        if state is _State.UNTIL_CLOSE:
            if self._held:
                body.append(bytes(self._held))
                self._held.clear()
            return False
        if state is _State.COMPLETE:
            return False
        line = self._line()
        if line is None:
            return False
        if state is _State.SIZE:
            self._read_size(line)
        elif state is _State.DATA_END:
            if line:
                raise FramingError("chunk_longer_than_told")
            self._state = _State.SIZE
        elif not line:
            self._state = _State.COMPLETE
        else:
            self._count_head(len(line))
        return True

    def _read_counted(self, body: list[bytes]) -> bool:
        if not self._held:
            return False
        piece = bytes(self._held[: self._left])
        del self._held[: self._left]
        self._left -= len(piece)
        body.append(piece)
        if self._left == 0:
            self._state = _State.DATA_END if self._state is _State.DATA else _State.COMPLETE
        return True

    def _read_size(self, line: bytes) -> None:
        size = _SIZE.fullmatch(line)
        if size is None:
            raise FramingError("chunk_size")
        self._left = int(size[1], 16)
        self._state = _State.DATA if self._left else _State.TRAILER

    def _line(self) -> bytes | None:
        end = self._held.find(b"\n", 0, MAX_LINE_BYTES)
        if end < 0:
            if len(self._held) >= MAX_LINE_BYTES:
                raise FramingError("line_too_long")
            return None
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        return line.removesuffix(b"\r")

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES:
            raise FramingError("head_too_long")

    def _read_head(self) -> bool:
        if not b"HTTP/1.".startswith(self._held[:7]):
            raise FramingError("not_http")
        end = _HEAD_END.search(self._held, self._searched, MAX_HEAD_BYTES)
        if end is None:
            self._searched = max(0, len(self._held) - 3)
            if len(self._held) >= MAX_HEAD_BYTES:
                raise FramingError("head_too_long")
            return False
        raw = bytes(self._held[: end.start()])
        del self._held[: end.end()]
        self._searched = 0
        self._count_head(len(raw))
        head = read_head(raw)
        if head.status == 101:
            raise FramingError("switched_protocols")
        if head.status >= 200:
            self.head = head
            self._state, self._left = _body_of(head)
        return True


def read_head(raw: bytes) -> Head:
    """The head in ``raw``, which ends before the empty line.

    Raises:
        FramingError: it is no head of HTTP/1.0 or 1.1.
    """
    lines = raw.replace(b"\r\n", b"\n").split(b"\n")
    status = _STATUS.fullmatch(lines[0])
    if status is None:
        raise FramingError("status_line")
    headers: dict[str, str] = {}
    last = ""
    for line in lines[1:]:
        if line[:1] in {b" ", b"\t"} and last:
            headers[last] += " " + line.strip().decode("latin-1")
            continue
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name):
            raise FramingError("header_line")
        last, text = name.decode("ascii").lower(), value.strip(b" \t").decode("latin-1")
        headers[last] = f"{headers[last]}, {text}" if last in headers else text
    return Head(int(status[2]), headers, status[1].decode("ascii"))


def _body_of(head: Head) -> tuple[_State, int]:
    if head.status in _WITHOUT_BODY:
        return _State.COMPLETE, 0
    coding = head.headers.get("transfer-encoding")
    if coding is not None and head.version == "1.1":
        if coding.strip().lower() != "chunked":
            raise FramingError("transfer_encoding")
        return _State.SIZE, 0
    told = head.headers.get("content-length")
    if told is None:
        return _State.UNTIL_CLOSE, 0
    sizes = {size.strip() for size in told.split(",")}
    if len(sizes) != 1 or not re.fullmatch(r"[0-9]{1,18}", next(iter(sizes))):
        raise FramingError("content_length")
    left = int(sizes.pop())
    return (_State.LENGTH if left else _State.COMPLETE), left
