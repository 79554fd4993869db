"""Supervision: one child process with everything it starts, within its limits, to its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.engine.child import Child
from runner.engine.draining import OUTPUT_LIMIT
from runner.harnesses.base import Launch

GRACE_SECONDS = 3.0
POLL_SECONDS = 0.1
FIRST_LOOK_SECONDS = 0.01
PROCESS_LIMIT = 2000


@dataclass(frozen=True)
class Finished:
    """How a child ended. ``exit_code`` is None when a signal ended it.

    In a sandbox a signal is seen as the exit code 128 + n, as in a shell.
    """

    exit_code: int | None
    timed_out: bool
    cancelled: bool
    started_at: datetime
    ended_at: datetime
    duration_seconds: float
    stderr_tail: str
    output_cut: bool
    idle: bool = False
    """Stopped because nothing was heard of it for too long."""
    limit: str | None = None
    """Name of another limit that it was stopped by (``processes``)."""
    failure: str | None = None
    """What failed on our side, such as a full disk; the child was stopped."""
    signal: int | None = None
    """The signal that ended it, where that can be told."""


@dataclass
class _Watch:
    """Looks at a child from time to time; ``verdict`` names the first thing that must stop it."""

    child: Child
    cancelled: threading.Event
    timeout_seconds: float | None
    idle_seconds: float | None
    activity: Callable[[], int] | None
    process_limit: int
    clock: Callable[[], float]
    verdict: str = ""

    def __post_init__(self) -> None:
        self.begun = self.heard = self.looked = self.clock()
        self.signs = (0, 0)

    def must_stop(self) -> bool:
        """Whether the child must be stopped now."""
        now = self.clock()
        if self.child.output.failure is not None:
            self.verdict = "failure"
        elif self.timeout_seconds is not None and now - self.begun > self.timeout_seconds:
            self.verdict = "timeout"
        elif self.cancelled.is_set():
            self.verdict = "cancelled"
        elif self._is_idle(now):
            self.verdict = "idle"
        elif now - self.looked >= self.patience():
            self.looked = now
            if self.child.count_processes() > self.process_limit:
                self.verdict = "processes"
        return self.verdict != ""

    def patience(self) -> float:
        """Seconds until the next look. The first ones are short: who gets away early must have been seen."""
        return min(POLL_SECONDS, max(FIRST_LOOK_SECONDS, (self.looked - self.begun) / 2))

    def _is_idle(self, now: float) -> bool:
        if self.idle_seconds is None:
            return False
        signs = (self.child.printed, self.activity() if self.activity is not None else 0)
        if signs != self.signs:
            self.signs, self.heard = signs, now
        return now - self.heard > self.idle_seconds


def supervise(
    launch: Launch,
    *,
    stdout: Path,
    timeout_seconds: float | None,
    cancelled: threading.Event,
    on_line: Callable[[str], None] | None = None,
    idle_seconds: float | None = None,
    activity: Callable[[], int] | None = None,
    process_limit: int = PROCESS_LIMIT,
    output_limit: int = OUTPUT_LIMIT,
    clock: Callable[[], float] = time.monotonic,
) -> Finished:
    """Run a child to its end or to a limit; nothing that it started is left.

    A child that must stop gets SIGTERM with everything below it, a grace period, then SIGKILL. What has left
    the child's group is reached where the launch is wrapped by an isolation.

    Args:
        launch: what to start.
        stdout: file that receives the standard output; of more than ``output_limit`` bytes it keeps the
            beginning and the end.
        timeout_seconds: wall clock.
        cancelled: set by the caller to end the child early.
        on_line: called with each line of output, for a live trace.
        idle_seconds: longest time without a byte of output and without ``activity``.
        activity: a number that changes while the child does something unseen, such as talk to a model.
        process_limit: processes that may exist below the child.
        clock: seconds that never jump.

    Raises:
        OSError: the child could not be started.
    """
    started_at, begun = datetime.now(UTC), clock()
    child = Child(launch, stdout=stdout, output_limit=output_limit, on_line=on_line)
    watch = _Watch(child, cancelled, timeout_seconds, idle_seconds, activity, process_limit, clock)
    try:
        while not child.ended and not watch.must_stop():
            child.attend(watch.patience())
        if not child.ended and watch.verdict != "processes":
            child.ask_to_end(GRACE_SECONDS)
    finally:
        child.kill()
        child.close(GRACE_SECONDS)
    code = child.code
    return Finished(
        exit_code=code if code is not None and code >= 0 else None,
        timed_out=watch.verdict == "timeout",
        cancelled=watch.verdict == "cancelled",
        started_at=started_at,
        ended_at=datetime.now(UTC),
        duration_seconds=round(clock() - begun, 3),
        stderr_tail=child.errors.read().decode("utf-8", "replace"),
        output_cut=child.output.cut,
        idle=watch.verdict == "idle",
        limit="processes" if watch.verdict == "processes" else None,
        failure=child.output.failure,
        signal=-code if code is not None and code < 0 else None,
    )
