"""ProcessStat: what the system tells of one process, by which it is told from a later one with its number."""

from __future__ import annotations

from pathlib import Path

PROC = Path("/proc")
ENDED = (b"Z", b"X", b"x")
"""States of a process that has ended and is not yet forgotten."""
STATE, GROUP, STARTED = 0, 2, 19
"""Places in :func:`stat_fields`; the moment of the start is in clock ticks after boot."""


def stat_fields(pid: int | str) -> list[bytes] | None:
    """What the system tells of a process, from its state on; None: there is none, or no /proc."""
    try:
        # Its name, which comes before, may hold spaces and brackets.
        return (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
