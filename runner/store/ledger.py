"""Ledger: the append-only list of files that a plan produced, each line chained to the one before."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
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
        """Add a line for ``data`` at ``path`` and flush it to disk; a path that is listed stays as it is.

        A last line that a crash left unfinished is cut first; its file is listed again when it is adopted.

        Raises:
            RecordError: the file holds something else than ledger lines.
            StoreError: the file system refused the write; the ledger is as it was.
        """
        if str(path) in self._paths:
            return
        with self._lock, explained(self.path), self._open() as descriptor:
            if os.fstat(descriptor).st_size != self._read:
                whole = _whole_lines(self.path.read_bytes())
                self._know(whole)
                os.ftruncate(descriptor, len(whole))
            if str(path) in self._paths:
                return
            entry = LedgerEntry.following(self._chain, str(path), data)
            line = (entry.to_line() + "\n").encode()
            try:
                _write(descriptor, line)
            except OSError:
                os.ftruncate(descriptor, self._read)
                raise
            self._chain = entry.chain
            self._paths.add(entry.path)
            self._read += len(line)

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
