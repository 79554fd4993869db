"""Lease: who uses a server that only one thing can be done with at a time. It ends with its process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class Lease:
    """A lock file, held by many who use what it stands for or by the one who changes it."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def use(self) -> bool:
        """Hold it beside others who use it; False while somebody changes it."""
        return self._take(fcntl.LOCK_SH)

    def change(self) -> bool:
        """Hold it alone; False while anybody else holds it. What was held before may be lost then."""
        return self._take(fcntl.LOCK_EX)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._descriptor)

    def _take(self, how: int) -> bool:
        try:
            fcntl.flock(self._descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
