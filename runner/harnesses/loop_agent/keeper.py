"""Keeper: a tiny process that kills the agent's commands when the agent itself is killed.

A command runs in a process group of its own, so that it can be ended at its time limit. That takes it out of
reach of whoever kills the agent's group; and an agent ended by SIGKILL can clean up nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Keeper:
    """The agent's end of a pipe; the keeper acts when it closes, however the agent ended."""

    pipe: int

    @contextmanager
    def minding(self, group: int) -> Iterator[None]:
        """While the context is open, ``group`` dies with the agent."""
        self._tell(f"+{group}\n")
        try:
            yield
        finally:
            self._tell(f"-{group}\n")

    def _tell(self, text: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self.pipe, text.encode())


def start_keeper() -> Keeper:
    """Start the process. Call it before any thread exists and after the key has left the environment."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(writing)
        _mind(reading)
    os.close(reading)
    return Keeper(writing)


def _mind(pipe: int) -> None:
    """Body of the keeper; never returns."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    groups: set[int] = set()
    with os.fdopen(pipe) as lines:
        for line in lines:
            number = int(line[1:])
            if line.startswith("+"):
                groups.add(number)
            else:
                groups.discard(number)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    os._exit(0)
