"""Summarised: the interval of a mean where only count, mean and standard deviation are at hand."""

from __future__ import annotations

from math import sqrt

from scipy.stats import t

LEVEL = 0.95


def summarised_interval(
    count: int, mean: float, deviation: float | None, *, level: float = LEVEL
) -> tuple[float, float] | None:
    """Student's interval of a mean: ``mean -+ t(n - 1) x deviation / sqrt(n)``.

    The deviation is that of the sample, over n - 1. None with fewer than two values, and where all are the
    same: their spread then says nothing. A long tail makes the interval too narrow; the median beside it is
    not touched by that.
    """
    if count < 2 or not deviation:
        return None
    half = float(t.ppf(0.5 + level / 2, count - 1)) * deviation / sqrt(count)
    return mean - half, mean + half
