"""Arrivals: planned send times of open loops, all computed before the first request is sent."""

from __future__ import annotations

import random
from math import sqrt


def constant(count: int, rate: float) -> tuple[float, ...]:
    """Milliseconds of ``count`` arrivals at ``rate`` per second: number ``n`` comes at ``n / rate``."""
    return tuple(1000 * number / rate for number in range(count))


def poisson(count: int, rate: float, seed: int) -> tuple[float, ...]:
    """Arrivals of a Poisson process that is known to have ``count`` of them in ``count / rate`` seconds.

    Under that condition the arrivals are independent and even over the time, in sorted order. So the rate
    that was asked for is exactly the one that is offered, and the gaps are as random as they should be.
    """
    seconds = count / rate
    drawn = random.Random(seed)  # noqa: S311 - arrivals, not secrets
    return tuple(sorted(drawn.random() * seconds * 1000 for _ in range(count)))


def ramp(count: int, begin: float, end: float) -> tuple[float, ...]:
    """Arrivals at a rate that rises or falls evenly from ``begin`` to ``end`` per second.

    The number by time ``t`` is ``begin t + (end - begin) t^2 / 2T`` with ``T = 2 count / (begin + end)``;
    arrival ``n`` comes when that is ``n``.
    """
    seconds = 2 * count / (begin + end)
    slope = (end - begin) / seconds
    if abs(slope) < 1e-12:
        return constant(count, begin)
    return tuple(
        1000 * (sqrt(max(begin * begin + 2 * slope * number, 0.0)) - begin) / slope for number in range(count)
    )
