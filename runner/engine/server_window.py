"""Server window: reads a server's counters around an invocation, and tells whether others used it too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from runner.providers.counters import SAMPLES, ServerCounters
from runner.records import ServerWindow, WindowGauge, WindowHistogram

Read = Callable[[], ServerCounters | None]
ReadGauges = Callable[[datetime, datetime], Mapping[str, WindowGauge]]
"""What was seen of the server's gauges between two instants."""


class Crowd:
    """How many agents of a run are at work at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self._most: dict[object, int] = {}

    @contextmanager
    def joined(self) -> Iterator[Callable[[], int]]:
        """One more agent, for as long as the context is open; the call tells the most there were since."""
        mark = object()
        with self._lock:
            self._now += 1
            self._most[mark] = self._now
            for other in self._most:
                self._most[other] = max(self._most[other], self._now)
        try:
            yield lambda: self._most[mark]
        finally:
            with self._lock:
                self._now -= 1
                del self._most[mark]


@dataclass
class Window:
    """The two readings of one invocation."""

    read: Read
    clock: Callable[[], float] = time.monotonic
    gauges: ReadGauges = lambda _begun, _ended: {}
    agents_at_once: int = 1
    _before: ServerCounters | None = field(default=None, init=False)
    _after: ServerCounters | None = field(default=None, init=False)
    _seconds: float = field(default=0.0, init=False)
    _begun_at: datetime | None = field(default=None, init=False)
    _ended_at: datetime | None = field(default=None, init=False)

    @contextmanager
    def open(self, crowd: Crowd) -> Iterator[None]:
        """Read the counters before and after what runs in the context."""
        with crowd.joined() as most:
            self._before, begun = self.read(), self.clock()
            self._begun_at = datetime.now(UTC)
            try:
                yield
            finally:
                self._ended_at = datetime.now(UTC)
                # A server without such a page is not asked twice.
                self._after = self.read() if self._before is not None else None
                self._seconds = self.clock() - begun
                self.agents_at_once = most()

    def record(self, requests_seen: int | None) -> ServerWindow | None:
        """What the server counted in between; None where it cannot be asked.

        Args:
            requests_seen: model requests of this invocation that passed the gateway.
        """
        if self._before is None or self._after is None:
            return None
        counted = self._after.since(self._before)
        because = shared_because(self.agents_at_once, counted.requests_finished, requests_seen)
        return ServerWindow(
            shared=because is not None,
            shared_because=because,
            agents_at_once=self.agents_at_once,
            seconds=round(self._seconds, 3),
            gauges=dict(self.gauges(self._begun_at, self._ended_at))
            if self._begun_at and self._ended_at
            else {},
            histograms={
                name: WindowHistogram(count=each.count, total=round(each.total, 6))
                for name, each in counted.histograms.items()
            },
            **{name: getattr(counted, name) for name in SAMPLES.values()},
        )


def shared_because(agents_at_once: int, finished: int | None, seen: int | None) -> str | None:
    """Why a server's counters cannot be one invocation's own; None where they can.

    Args:
        agents_at_once: most agents of this run at work.
        finished: requests that the server finished in the window.
        seen: requests that the invocation's gateway sent on.
    """
    if agents_at_once > 1:
        return f"{agents_at_once} agents of this run were at work at once"
    if finished is None or seen is None:
        return "how many requests came from elsewhere cannot be told"
    if finished > seen:
        return f"the server finished {finished} requests, this invocation sent {seen}"
    return None
