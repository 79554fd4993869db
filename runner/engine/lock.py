"""Lock: one runner at a time on a plan or on planning; the kernel lets go when a process dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runner.errors import UsageError


@contextmanager
def locked(path: Path, *, wait: bool, holder: str) -> Iterator[None]:
    """Hold the lock file ``path``.

    Args:
        path: lock file, made when it is not there.
        wait: wait for another holder, or fail at once.
        holder: what the message calls the other holder.

    Raises:
        UsageError: another process holds it and ``wait`` is false.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise UsageError(
                f"{holder} is at work already", where=path.name, remedy="wait for it to end, or stop it"
            ) from None
        yield
    finally:
        os.close(descriptor)
