"""Draining: what a child prints, into files and memory of bounded size, whatever it prints."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path

OUTPUT_LIMIT = 256 * 1024 * 1024
END_LIMIT = 1024 * 1024
LINE_LIMIT = 64 * 1024


class BoundedEnd:
    """The last bytes of a stream, at least ``limit`` where there are so many; ``lost`` counts the others."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self.lost = 0

    def add(self, data: bytes) -> None:
        """The next bytes."""
        self._chunks.append(data)
        self._size += len(data)
        while self._size - len(self._chunks[0]) >= self._limit:
            dropped = len(self._chunks.popleft())
            self._size -= dropped
            self.lost += dropped

    def read(self) -> bytes:
        """The bytes kept, at most ``limit``."""
        kept = b"".join(self._chunks)
        self.lost += max(len(kept) - self._limit, 0)
        return kept[-self._limit :]


class BoundedFile:
    """A file that keeps the beginning and the end of a stream.

    Agents say last what their run has used, so the end is worth more than the middle; the join is at the
    ends of lines. A file that cannot be written (a full disk) is no exception: ``failure`` says why, and
    everything after it is dropped.
    """

    def __init__(self, path: Path, limit: int) -> None:
        end = min(END_LIMIT, limit // 4)
        self.size = 0
        self.cut = False
        self.failure: str | None = None
        self._room = limit - end
        self._end = BoundedEnd(end - 1)
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            self._fail(error)

    def add(self, data: bytes) -> None:
        """The next bytes of the stream."""
        self.size += len(data)
        head, rest = data[: self._room], data[self._room :]
        self._room -= len(head)
        self._write(head)
        if rest:
            self._end.add(rest)

    def close(self) -> None:
        """Write the end of the stream and close the file."""
        end = self._end.read()
        self.cut = self._end.lost > 0
        self._write(b"\n" + end.partition(b"\n")[2] if self.cut else end)
        if hasattr(self, "_file"):
            self._file.close()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view and self.failure is None:
            try:
                view = view[self._file.write(view) or 0 :]
            except OSError as error:
                self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failure = f"the output of the harness cannot be written: {error.strerror}"


class Lines:
    """Calls a function with each line of a stream; a longer line than ``LINE_LIMIT`` loses its beginning."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._line = b""

    def add(self, data: bytes) -> None:
        """The next bytes of the stream."""
        *lines, self._line = (self._line + data).split(b"\n")
        self._line = self._line[-LINE_LIMIT:]
        for line in lines:
            self._on_line(line[-LINE_LIMIT:].decode("utf-8", "replace"))
