"""Intervals: rates with Wilson's interval, percentiles with one from order statistics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, exp, lgamma, log, sqrt

from runner.records.bench_figures import AdjustedQuantile, QuantileFigure, RateFigure

Z95 = 1.959963984540054
CONFIDENCE = 0.95
FAR = 12.0
"""Standard deviations below the middle from which a binomial is summed; before it there is nothing."""
ROUNDING = 1e-12
ALWAYS_SHOWN = 0.9
"""Percentiles up to this one are shown without an interval; higher ones only where the sample bounds them."""


def wilson(count: int, of: int, z: float = Z95) -> tuple[float, float] | None:
    """Wilson's score interval of ``count / of``; None where ``of`` is 0.

    ``(p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n)`` with ``z2`` the square of ``z``.
    """
    if of <= 0:
        return None
    share, square = count / of, z * z
    middle = share + square / (2 * of)
    half = z * sqrt(share * (1 - share) / of + square / (4 * of * of))
    scale = 1 + square / of
    low = 0.0 if count == 0 else max(0.0, (middle - half) / scale)
    high = 1.0 if count == of else min(1.0, (middle + half) / scale)
    return low, high


def rate(count: int, of: int) -> RateFigure:
    """``count`` of ``of`` with its interval."""
    interval = wilson(count, of)
    if interval is None:
        return RateFigure(count=count, of=of)
    return RateFigure(count=count, of=of, rate=count / of, low=interval[0], high=interval[1])


def nearest_rank(ordered: Sequence[float], q: float) -> float:
    """The smallest value that at least the share ``q`` of the sorted sample does not exceed."""
    return ordered[_rank(len(ordered), q) - 1]


@lru_cache(maxsize=4096)
def bounding_ranks(n: int, q: float) -> tuple[int | None, int | None]:
    """Ranks, counted from 1, between which the true percentile lies with 95 %; None: ``n`` is too small.

    The number of values below the percentile is binomial, whatever the distribution: the lower rank ``r`` is
    the largest with ``P(B < r) <= 2.5 %``, the upper one the smallest with ``P(B < s) >= 97.5 %``. For a
    bound on the upper side, p95 takes 72 values and p99 takes 368.
    """
    tail = (1 - CONFIDENCE) / 2
    deviation = sqrt(n * q * (1 - q))
    begin = max(0, int(n * q - FAR * deviation) - 1)
    low, high, below = begin, n + 1, 0.0
    for count in range(begin, n + 1):
        below += exp(
            lgamma(n + 1)
            - lgamma(count + 1)
            - lgamma(n - count + 1)
            + count * log(q)
            + (n - count) * log(1 - q)
        )
        if below <= tail + ROUNDING:
            low = count + 1
        if below >= 1 - tail - ROUNDING:
            high = count + 1
            break
    return low if low >= 1 else None, high if high <= n else None


def quantile(ordered: Sequence[float], q: float) -> QuantileFigure:
    """The percentile of a sorted sample with its interval."""
    if not ordered:
        return QuantileFigure(q=q)
    low, high = bounding_ranks(len(ordered), q)
    shown = q <= ALWAYS_SHOWN or (low is not None and high is not None)
    return QuantileFigure(
        q=q,
        value=nearest_rank(ordered, q) if shown else None,
        low=None if low is None else ordered[low - 1],
        high=None if high is None else ordered[high - 1],
    )


def adjusted_quantile(ordered: Sequence[float], failed: int, q: float) -> AdjustedQuantile:
    """The percentile where ``failed`` more values are infinite; by nearest rank, never by means."""
    total = len(ordered) + failed
    if not total:
        return AdjustedQuantile(q=q)
    rank = _rank(total, q)
    if rank > len(ordered):
        return AdjustedQuantile(q=q, infinite=True)
    return AdjustedQuantile(q=q, value=ordered[rank - 1])


def _rank(n: int, q: float) -> int:
    # Products such as 0.55 x 100 come out a hair above the whole number that they are.
    return min(max(ceil(n * q - 1e-9), 1), n)
