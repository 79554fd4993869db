"""Amounts: means, middles and concentration of costs and times, which have long tails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from generators.statistics.intervals import LEVEL, Interval

Floats = NDArray[np.float64]
RESAMPLES = 2000
SEED = 20240517
DEAREST = 0.1
FEWEST = 5
"""Below this many values a bootstrap-t interval has too few distinct resamples to have ends."""


@dataclass(frozen=True)
class Bootstrapped:
    """An interval that was made by drawing."""

    interval: Interval
    resamples: int
    seed: int


def bootstrap_t(
    values: Sequence[float] | Floats, *, signed: bool = False, seed: int = SEED, level: float = LEVEL
) -> Bootstrapped | None:
    """Mean of a long-tailed amount with the bootstrap-t interval.

    Each of 2,000 resamples gives t* = (mean* - mean) / se*; the ends are mean - q(t*) se with the quantiles
    of t* crossed over (Efron 1979; Hall 1988), so that a long upper tail lengthens the upper side. Resamples
    without any spread say nothing of t* and are left out. Also for paired differences of costs or minutes.

    Args:
        values: one for each task.
        signed: they are differences, whose mean may lie below zero though none of these does.
        seed: of the draws.
        level: share of intervals that shall hold the mean.

    Returns:
        None without values; without ends below five values, and where all are alike.

    Raises:
        ValueError: a value is not finite.
    """
    known = np.asarray(values, dtype=np.float64)
    if not bool(np.isfinite(known).all()):
        raise ValueError("an interval needs finite numbers")
    count = len(known)
    if count == 0:
        return None
    mean = float(known.mean())
    spread = float(known.std(ddof=1)) if count > 1 else 0.0
    if count < FEWEST or spread <= 1e-12 * max(1.0, abs(mean)):
        return Bootstrapped(Interval(mean, None, None, count, level), 0, seed)
    draws = known[np.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count))]
    errors = draws.std(axis=1, ddof=1) / math.sqrt(count)
    usable = errors > 1e-9 * spread
    ratios = (draws.mean(axis=1)[usable] - mean) / errors[usable]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    error = spread / math.sqrt(count)
    lower, upper = mean - float(high) * error, mean - float(low) * error
    if not signed and bool((known >= 0).all()):
        # What is never negative has no negative mean.
        lower = max(0.0, lower)
    return Bootstrapped(Interval(mean, min(lower, mean), max(upper, mean), count, level), RESAMPLES, seed)


def median_interval(values: Sequence[float] | Floats, *, level: float = LEVEL) -> Interval | None:
    """Median with the interval between two of the sorted values (Thompson 1936), free of any distribution.

    The k-th smallest and k-th largest, k the largest with 2 P(X < k) <= 1 - level, X binomial(n, 1/2).
    Without ends below six values: five lie on one side of the median in more than 5 % of cases.

    Raises:
        ValueError: a value is not finite.
    """
    known = np.sort(np.asarray(values, dtype=np.float64))
    if not bool(np.isfinite(known).all()):
        raise ValueError("an interval needs finite numbers")
    count = len(known)
    if count == 0:
        return None
    middle = float(np.median(known))
    rank = 0
    while rank < count // 2 and 2 * float(special.bdtr(rank, count, 0.5)) <= 1 - level:
        rank += 1
    if rank == 0:
        return Interval(middle, None, None, count, level)
    return Interval(middle, float(known[rank - 1]), float(known[count - rank]), count, level)


def concentration(values: Sequence[float] | Floats, *, dearest: float = DEAREST) -> float | None:
    """Share of the sum that the dearest tenth of the values makes up: 0.1 if all cost the same.

    The tenth of n values is n / 10 of them; the value it ends in counts in part (a point of the Lorenz curve,
    Lorenz 1905). None without values or where all are zero.

    Raises:
        ValueError: a negative or infinite value.
    """
    known = np.sort(np.asarray(values, dtype=np.float64))[::-1]
    if not bool((np.isfinite(known) & (known >= 0)).all()):
        raise ValueError("amounts are finite and not negative")
    total = float(known.sum())
    if total == 0.0:
        return None
    size = dearest * len(known)
    whole = math.floor(size + 1e-9)
    part = max(0.0, size - whole)
    rest = part * float(known[whole]) if whole < len(known) else 0.0
    return min(1.0, (float(known[:whole].sum()) + rest) / total)
