"""Ledger: the append-only list of files that a plan produced, each line chained to the one before."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from runner.errors import RecordError
from runner.records import GENESIS, LedgerEntry
from runner.store.atomic import explained


class Ledger:
    """One ledger file. Threads and processes may append to it in turn: each append holds the file's lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._read = 0
        """Bytes of the file that the next two stand for."""
        self._chain = GENESIS
        self._paths: set[str] = set()
        if path.exists():
            self._know(_whole_lines(path.read_bytes()))

    def __contains__(self, path: PurePosixPath) -> bool:
        return str(path) in self._paths

    def append(self, path: PurePosixPath, data: bytes) -> None:
        """Add a line for ``data`` at ``path`` and flush it to disk; as :meth:`append_all`."""
        self.append_all({path: data})

    def append_all(self, files: Mapping[PurePosixPath, bytes]) -> None:
        """Add a line for each of ``files`` in their order, and flush them to disk in one go.

        A path that is listed stays as it is. A last line that a crash left unfinished is cut first; its file
        is listed again when it is adopted.

        Raises:
            RecordError: the file holds something else than ledger lines.
            StoreError: the file system refused the write; the ledger is as it was.
        """
        if all(str(path) in self._paths for path in files):
            return
        with self._lock, explained(self.path), self._open() as descriptor:
            if os.fstat(descriptor).st_size != self._read:
                whole = _whole_lines(self.path.read_bytes())
                self._know(whole)
                os.ftruncate(descriptor, len(whole))
            chain, entries = self._chain, []
            for path, data in files.items():
                if str(path) not in self._paths:
                    entries.append(LedgerEntry.following(chain, str(path), data))
                    chain = entries[-1].chain
            lines = b"".join((entry.to_line() + "\n").encode() for entry in entries)
            try:
                _write(descriptor, lines)
            except OSError:
                os.ftruncate(descriptor, self._read)
                raise
            self._chain = chain
            self._paths |= {entry.path for entry in entries}
            self._read += len(lines)

    @contextmanager
    def _open(self) -> Iterator[int]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)

    def _know(self, data: bytes) -> None:
        entries = _entries(data, self.path)
        self._read = len(data)
        self._chain = entries[-1].chain if entries else GENESIS
        self._paths = {entry.path for entry in entries}


def ledger_lines(data: bytes) -> Iterator[LedgerEntry | None]:
    """The lines of a ledger as they stand, None for one that is no entry; the chain is not checked."""
    for line in data.splitlines():
        try:
            yield LedgerEntry.model_validate_json(line)
        except ValidationError:
            yield None


def _entries(data: bytes, path: Path) -> list[LedgerEntry]:
    entries = []
    for number, entry in enumerate(ledger_lines(data), 1):
        if entry is None:
            raise RecordError(
                f"line {number} is not a ledger entry", where=str(path), remedy="restore the file from git"
            )
        entries.append(entry)
    return entries


def _whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


def _write(descriptor: int, data: bytes) -> None:
    """All of ``data``: a disk that is almost full takes a part of it without complaint."""
    while data:
        data = data[os.write(descriptor, data) :]
    os.fsync(descriptor)
