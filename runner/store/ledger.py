"""Ledger: the append-only list of files that a plan produced, each line chained to the one before."""

from __future__ import annotations

import os
import threading
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from runner.errors import RecordError
from runner.records import GENESIS, LedgerEntry


class Ledger:
    """One ledger file, open for appending by one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._drop_torn_line()
        self._entries = read_ledger(path) if path.exists() else []
        self._paths = {entry.path for entry in self._entries}

    def __contains__(self, path: PurePosixPath) -> bool:
        return str(path) in self._paths

    def append(self, path: PurePosixPath, data: bytes) -> None:
        """Add a line for ``data`` at ``path`` and flush it to disk; a path that is listed stays as it is."""
        with self._lock:
            if str(path) in self._paths:
                return
            chain = self._entries[-1].chain if self._entries else GENESIS
            entry = LedgerEntry.following(chain, str(path), data)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(descriptor, (entry.to_line() + "\n").encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self._entries.append(entry)
            self._paths.add(entry.path)

    def _drop_torn_line(self) -> None:
        """Cut a last line that a crash left unfinished; its file is listed again when it is adopted."""
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            with self.path.open("r+b") as stream:
                stream.truncate(len(whole))
                os.fsync(stream.fileno())


def read_ledger(path: Path) -> list[LedgerEntry]:
    """The lines of a ledger as they stand; the chain is checked by ``runner.store.integrity``.

    Raises:
        RecordError: a line is not a ledger entry.
    """
    entries = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            entries.append(LedgerEntry.model_validate_json(line))
        except ValidationError:
            raise RecordError(
                f"line {number} is not a ledger entry", where=str(path), remedy="restore the file from git"
            ) from None
    return entries
