"""Processes: who descends from a child, told apart from a later process with the same number."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass

from runner.process_stat import ENDED, PROC, STARTED, STATE, stat_fields


@dataclass(frozen=True)
class Process:
    """A process; ``started`` (clock ticks after boot) tells it from another that gets its number later."""

    pid: int
    started: int


def descendants(pid: int) -> set[Process]:
    """Every process below ``pid``, itself not included; empty where the system has no /proc.

    A process whose parent has ended is found only below whoever adopted it.
    """
    found: set[Process] = set()
    todo = [pid]
    while todo:
        for child in _children(todo.pop()):
            process = identify(child)
            if process is not None and process not in found:
                found.add(process)
                todo.append(child)
    return found


def identify(pid: int) -> Process | None:
    """The process with that number now, or None; one that has ended and is not yet forgotten counts."""
    fields = stat_fields(pid)
    return None if fields is None else Process(pid, int(fields[STARTED]))


def is_alive(process: Process) -> bool:
    """Whether it still runs; one that has ended and is not yet forgotten does not.

    True where the system has no /proc and so cannot tell.
    """
    if not PROC.is_dir():
        return True
    fields = stat_fields(process.pid)
    return fields is not None and int(fields[STARTED]) == process.started and fields[STATE] not in ENDED


def signal_all(processes: Iterable[Process], number: signal.Signals) -> None:
    """Send a signal to each that is still the same process; one that may not be reached is left out."""
    for process in processes:
        if identify(process.pid) == process:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    tasks = PROC / str(pid) / "task"
    try:
        for task in tasks.iterdir():
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    except OSError:
        return found
    return found
