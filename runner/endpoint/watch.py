"""Watch: keeps the deadlines of one exchange without a timer per read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from runner.endpoint.exchange import Exchange
from runner.endpoint.result import Outcome, Phase

NS = 1_000_000_000
LOOKS_PER_STALL = 4

GiveUp = Callable[[Outcome, str, str, Phase], None]


class Watch:
    """Looks at an exchange's own stamps now and then, and gives it up when a deadline has passed.

    Args:
        exchange: one that was sent.
        give_up: what to call with the class, a code, words and the phase; called at most once.
        clock: nanoseconds.
    """

    def __init__(
        self, exchange: Exchange, give_up: GiveUp, clock: Callable[[], int] = time.perf_counter_ns
    ) -> None:
        self._exchange = exchange
        self._give_up = give_up
        self._clock = clock
        self._handle: asyncio.TimerHandle | None = None
        self._look()

    def stop(self) -> None:
        """End; nothing is left in the loop."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _look(self) -> None:
        due = next_deadline(self._exchange)
        if due is None:
            return
        at_ns, outcome, seconds = due
        wait = (at_ns - self._clock()) / NS
        if wait <= 0:
            self._handle = None
            phase = Phase.HEADERS if self._exchange.stamps.headers is None else Phase.STREAM
            self._give_up(outcome, str(outcome), f"nothing for {seconds:g} s" if seconds else "", phase)
            return
        stall = self._exchange.request.deadlines.stall
        if stall is not None:
            # The next deadline may become an earlier one as soon as the response's head is there.
            wait = min(wait, max(stall / LOOKS_PER_STALL, 0.005))
        self._handle = asyncio.get_running_loop().call_later(wait, self._look)


def next_deadline(exchange: Exchange) -> tuple[int, Outcome, float] | None:
    """The earliest deadline of ``exchange`` as it stands: when, its class, and how long it allows."""
    stamps, limits = exchange.stamps, exchange.request.deadlines
    begun = stamps.connect_begun or stamps.sent
    found: list[tuple[int, Outcome, float]] = []
    if limits.total is not None and begun is not None:
        found.append((begun + int(limits.total * NS), Outcome.TIMEOUT_TOTAL, limits.total))
    if stamps.headers is None:
        since = stamps.written or stamps.sent
        if limits.headers is not None and since is not None:
            found.append((since + int(limits.headers * NS), Outcome.TIMEOUT_HEADERS, limits.headers))
    elif limits.stall is not None and stamps.ended is not None:
        found.append((stamps.ended + int(limits.stall * NS), Outcome.TIMEOUT_STALL, limits.stall))
    return min(found, default=None)
