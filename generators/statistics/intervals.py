"""Intervals: how far a mean or a share of few values can be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval; both ends are None where the data cannot carry one."""

    estimate: float
    lower: float | None
    upper: float | None
    count: int
    """Values it rests on."""
    level: float = LEVEL


def mean_interval(values: Sequence[float], *, level: float = LEVEL) -> Interval | None:
    """Mean with Student's t interval: mean +/- t * sd / sqrt(n), n - 1 degrees of freedom.

    None without values; without ends for a single one, and for values that are all alike, whose t interval
    would claim a certainty that few equal values do not give.

    Raises:
        ValueError: a value is not finite.
    """
    if not all(math.isfinite(value) for value in values):
        raise ValueError("an interval needs finite numbers")
    count = len(values)
    if count == 0:
        return None
    mean = math.fsum(values) / count
    spread = float(np.std(values, ddof=1)) if count > 1 else 0.0
    if spread == 0.0:
        return Interval(mean, None, None, count, level)
    half = float(stats.t.ppf((1 + level) / 2, count - 1)) * spread / math.sqrt(count)
    return Interval(mean, mean - half, mean + half, count, level)


def share_interval(successes: int, count: int, *, level: float = LEVEL) -> Interval | None:
    """Share of successes with Wilson's interval (Wilson 1927); None without a trial.

    Centre (p + z^2/2n) / (1 + z^2/n), half width z sqrt(p(1-p)/n + z^2/4n^2) / (1 + z^2/n).

    Raises:
        ValueError: more successes than trials, or a negative number.
    """
    if not 0 <= successes <= count:
        raise ValueError("successes must lie between 0 and the number of trials")
    if count == 0:
        return None
    z = float(stats.norm.ppf((1 + level) / 2))
    share, scale = successes / count, 1 + z * z / count
    centre = (share + z * z / (2 * count)) / scale
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / scale
    # Rounding must not put an end on the wrong side of the share.
    lower, upper = min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half))
    return Interval(share, lower, upper, count, level)
