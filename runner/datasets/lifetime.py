"""Lifetime: a child that does not outlive the runner, even one that is killed."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def die_with_parent() -> Callable[[], None] | None:
    """What a child does first (``preexec_fn``), so that the kernel ends it with the thread that started it.

    None where the system has no such thing; only Linux has.
    """
    if not sys.platform.startswith("linux"):
        return None
    # Found before the fork: a child of a process with threads must not look for a symbol, which takes a lock
    # that a thread which the child does not have may hold.
    prctl = ctypes.CDLL(None).prctl

    def request() -> None:
        """Ask the kernel for it; calls nothing that could take a lock."""
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    return request
