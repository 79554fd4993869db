"""Lock: one runner at a time on a plan or on planning; the kernel lets go when a process dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runner.errors import UsageError

LOOKS, LOOK_SECONDS = 20, 0.01


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
        if wait:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        elif not _taken(descriptor):
            raise _at_work(path, holder)
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock file ``path``; when it dies, it holds it no more."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def require_unlocked(path: Path, *, holder: str) -> None:
    """Check that no process holds the lock file ``path``.

    Raises:
        UsageError: one does.
    """
    if is_locked(path):
        raise _at_work(path, holder)


def _taken(descriptor: int) -> bool:
    """Take the lock without waiting for its holder. One who only looks at it has it for a moment."""
    for attempt in range(LOOKS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOOK_SECONDS if attempt < LOOKS - 1 else 0.0)
        else:
            return True
    return False


def _at_work(path: Path, holder: str) -> UsageError:
    return UsageError(
        f"{holder} is at work already", where=path.name, remedy="wait for it to end, or stop it: invoke stop"
    )
