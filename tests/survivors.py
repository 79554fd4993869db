"""Survivors: processes that carry a mark of the test's in their command line and should be gone."""

from __future__ import annotations

import time
from pathlib import Path

ENDING_SECONDS = 40.0
"""Less than anything sleeps that is to be ended, and much more than a busy machine needs to end it."""


def marked(mark: str) -> list[str]:
    """The command lines of those that run; one that has ended and is not yet forgotten does not."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
            state = path.with_name("stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in words and state != b"Z":
            found.append(f"{path.parent.name}: {words[:80]!r}")
    return found


def survivors(mark: str) -> list[str]:
    """Those that are still there when the others have had their time to end."""
    deadline = time.monotonic() + ENDING_SECONDS
    while (found := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found
