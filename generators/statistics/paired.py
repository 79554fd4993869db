"""Paired comparison: two cells on the tasks that both have, with intervals and exact tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from generators.statistics.intervals import LEVEL, Interval

Floats = NDArray[np.float64]
EXACT_TASKS = 30
"""Up to this many differing tasks sums are exact; above, they are counted on a grid."""
GRID_STEPS = 50_000
GRID = 1e6
"""Differences are counted in whole millionths, so that equal sums are equal."""


@dataclass(frozen=True)
class PairedMean:
    """Means of two series over the tasks both have."""

    first: float
    second: float
    difference: float
    tasks: int


def paired_mean(first: Mapping[str, float], second: Mapping[str, float]) -> PairedMean | None:
    """Means over the common keys of two series, and first minus second; None without a common key."""
    common = sorted(first.keys() & second.keys())
    if not common:
        return None
    one = sum(first[key] for key in common) / len(common)
    two = sum(second[key] for key in common) / len(common)
    return PairedMean(first=one, second=two, difference=one - two, tasks=len(common))


def paired_differences(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> Floats:
    """First minus second, task by task, over the tasks known for both.

    Args:
        first: one value per task, the mean of its trials; NaN where unknown.
        second: the same tasks in the same order.

    Raises:
        ValueError: the two differ in length, or a value is infinite.
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape or one.ndim != 1:
        raise ValueError("a paired comparison needs the same tasks twice")
    if np.isinf(one).any() or np.isinf(two).any():
        raise ValueError("a paired comparison needs finite numbers")
    found: Floats = (one - two)[~(np.isnan(one) | np.isnan(two))]
    return found


def adjusted_interval(differences: Floats, *, scale: float = 1.0, level: float = LEVEL) -> Interval | None:
    """Mean difference of results that are passes and failures, with the adjusted interval.

    Half a task is added to each kind of disagreement and two tasks in all, then Wald: with b tasks that only
    the first solves and c that only the second does, d = (b - c) / (n + 2) and
    d +/- z sqrt((b + c + 1) / (n + 2) - d^2) / sqrt(n + 2) (Agresti and Min 2005, Bayesian-minded variant of
    Wald). Tasks with several trials give differences between -scale and scale; the same sums then hold their
    squares. An interval of width zero cannot come of it.

    Args:
        differences: of tasks, each between -scale and scale.
        scale: what a pass is worth: 1, or 100 for percent.

    Returns:
        None without a task. The estimate is the plain mean difference.

    Raises:
        ValueError: a difference is larger than the scale.
    """
    count = len(differences)
    if count == 0:
        return None
    shares = differences / scale
    if bool((np.abs(shares) > 1 + 1e-9).any()):
        raise ValueError("a difference of shares lies between -1 and 1")
    centre = float(shares.sum()) / (count + 2)
    second_moment = (float((shares**2).sum()) + 1) / (count + 2)
    z = float(special.ndtri((1 + level) / 2))
    half = z * math.sqrt(max(0.0, second_moment - centre**2) / (count + 2))
    lower, upper = max(-1.0, centre - half), min(1.0, centre + half)
    estimate = float(shares.mean())
    # The centre is drawn towards zero; where all tasks agree the plain mean may lie beyond it.
    lower, upper = min(lower, estimate), max(upper, estimate)
    return Interval(scale * estimate, scale * lower, scale * upper, count, level)


def mcnemar(first_only: int, second_only: int) -> float:
    """Exact two-sided McNemar test: p of so uneven a split of the tasks that just one of two solves.

    min(1, 2 P(X <= min(b, c))) with X binomial(b + c, 1/2) (McNemar 1947; exact form, Liddell 1983). 1 where
    no task tells the two apart. b = 5, c = 0 gives 0.0625: five tasks cannot prove a win.

    Raises:
        ValueError: a negative count.
    """
    if min(first_only, second_only) < 0:
        raise ValueError("counts cannot be negative")
    total = first_only + second_only
    if total == 0:
        return 1.0
    return min(1.0, 2 * float(special.bdtr(min(first_only, second_only), total, 0.5)))


@dataclass(frozen=True)
class PairedT:
    """Mean difference with Student's interval, and the p of no difference."""

    interval: Interval
    p_value: float | None
    """None where the data carry no test: one task, or all differences alike."""


def paired_t(differences: Floats, *, level: float = LEVEL) -> PairedT | None:
    """Paired t: mean(d) +/- t sd(d) / sqrt(n), n - 1 degrees of freedom (Student 1908; arXiv 2411.00640).

    Returns:
        None without a task. The interval has no ends for one task, and where all differences are alike: a
        width of zero would claim what a few equal values cannot.
    """
    count = len(differences)
    if count == 0:
        return None
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1)) if count > 1 else 0.0
    if spread <= 1e-12 * max(1.0, abs(mean)):
        return PairedT(Interval(mean, None, None, count, level), None)
    error = spread / math.sqrt(count)
    half = float(special.stdtrit(count - 1, (1 + level) / 2)) * error
    p_value = 2 * float(special.stdtr(count - 1, -abs(mean) / error))
    return PairedT(Interval(mean, mean - half, mean + half, count, level), p_value)


@dataclass(frozen=True)
class SignFlip:
    """Result of a sign-flip test."""

    p_value: float
    method: str
    """``exact`` up to 30 differing tasks; above, ``grid``: all patterns counted, sizes on a grid."""


def sign_flip(differences: Floats) -> SignFlip:
    """Sign-flip permutation test: share of sign patterns whose sum is at least as far from zero.

    If neither is better, each difference could as well have had the other sign (Fisher 1935; Pitman 1937).
    All 2^n patterns of the n differing tasks are counted and none is drawn: up to 30 by sorting the sums of
    two halves, above by adding one task after the other to the distribution of the sum, on a grid of a
    50,000th of the largest sum, or of the largest step that all differences are multiples of, if that is
    wider. Two-sided p cannot fall below 2^(1 - n): 0.0625 for five tasks, 0.031 for
    six.

    Args:
        differences: one per task; those of zero say nothing and are left out.
    """
    whole = np.rint(differences * GRID).astype(np.int64)
    whole = whole[whole != 0]
    if len(whole) == 0:
        return SignFlip(1.0, "exact")
    whole //= np.gcd.reduce(whole)
    if len(whole) <= EXACT_TASKS:
        return SignFlip(_exact_share(np.abs(whole), abs(int(whole.sum()))), "exact")
    step = max(1.0, float(np.abs(whole).sum()) / GRID_STEPS)
    rounded = np.rint(whole / step).astype(np.int64)
    return SignFlip(_grid_share(np.abs(rounded), abs(int(rounded.sum()))), "grid")


def _grid_share(sizes: NDArray[np.int64], observed: int) -> float:
    """Share of sign patterns with |sum| >= observed, from the distribution of the sum over whole numbers."""
    reach = int(sizes.sum())
    chances = np.zeros(2 * reach + 1)
    chances[reach] = 1.0
    for size in sizes[sizes > 0]:
        step = int(size)
        moved = np.zeros_like(chances)
        moved[step:] += chances[:-step] / 2
        moved[:-step] += chances[step:] / 2
        chances = moved
    if observed == 0:
        return 1.0
    return min(1.0, 2 * float(chances[reach + observed :].sum()))


def _exact_share(sizes: NDArray[np.int64], observed: int) -> float:
    """Share of sign patterns with |sum| >= observed; sums of halves meet in the middle."""
    if observed == 0:
        return 1.0
    middle = len(sizes) // 2
    left, right = _all_sums(sizes[:middle]), np.sort(_all_sums(sizes[middle:]))
    above = len(right) - np.searchsorted(right, observed - left, side="left")
    below = np.searchsorted(right, -observed - left, side="right")
    return int(above.sum() + below.sum()) / float(2 ** len(sizes))


def _all_sums(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums
