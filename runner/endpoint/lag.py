"""LagMonitor: how late this client's own event loop is."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections.abc import Callable

NS = 1_000_000_000


class LagMonitor:
    """Asks to be called at a fixed beat and notes how much later that happens.

    Only entries that no later one exceeds are kept, so the largest lag since any moment is found at once.
    """

    def __init__(self, beat_seconds: float = 0.02, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self._beat = beat_seconds
        self._clock = clock
        self._times: list[int] = []
        self._lags: list[int] = []
        self._due = 0
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin in the running loop."""
        if self._handle is None:
            self._arm()

    def stop(self) -> None:
        """End; nothing is left in the loop."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def note(self, at_ns: int, lag_ns: int) -> None:
        """One observation; times never go back."""
        while self._lags and self._lags[-1] <= lag_ns:
            self._lags.pop()
            self._times.pop()
        self._times.append(at_ns)
        self._lags.append(lag_ns)

    def largest_ms_since(self, at_ns: int) -> float | None:
        """The largest lag noted at or after ``at_ns``, in milliseconds; None: none was noted yet."""
        place = bisect_left(self._times, at_ns)
        return self._lags[place] / 1_000_000 if place < len(self._lags) else None

    def _arm(self) -> None:
        self._due = self._clock() + int(self._beat * NS)
        self._handle = asyncio.get_running_loop().call_later(self._beat, self._beaten)

    def _beaten(self) -> None:
        now = self._clock()
        self.note(now, max(0, now - self._due))
        self._arm()
