"""Agreement: how far two judges give the same trials the same scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from generators.statistics.intervals import LEVEL, Interval, mean_interval


@dataclass(frozen=True)
class LimitsOfAgreement:
    """How two judges differ on the same trials, first minus second, in points."""

    bias: Interval
    """Mean difference with its t interval."""
    lower: float
    upper: float
    """Between these 95 % of differences lie, if they are normal."""
    trials: int


def limits_of_agreement(first: Sequence[float], second: Sequence[float]) -> LimitsOfAgreement | None:
    """Bland-Altman limits: bias +/- 1.96 sd of the differences (Bland and Altman 1986).

    Returns:
        None with fewer than two trials.

    Raises:
        ValueError: the two differ in length.
    """
    differences = [one - other for one, other in zip(first, second, strict=True)]
    bias = mean_interval(differences)
    if bias is None or len(differences) < 2:
        return None
    reach = float(stats.norm.ppf((1 + LEVEL) / 2)) * float(np.std(differences, ddof=1))
    return LimitsOfAgreement(bias, bias.estimate - reach, bias.estimate + reach, len(differences))


def weighted_kappa(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Cohen's kappa with quadratic weights: 1 - sum w_ij o_ij / sum w_ij e_ij, w_ij = (i - j)^2.

    For ordinal scores such as criteria of 0 to 25 (Cohen 1968). 1 is full agreement, 0 is what two judges
    reach who each keep to their own distribution at random.

    Returns:
        None without pairs, and where no disagreement is possible because all scores are one.

    Raises:
        ValueError: the two differ in length.
    """
    if len(first) != len(second):
        raise ValueError("two judges must have scored the same things")
    if not first:
        return None
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    observed = float(((one - other) ** 2).mean())
    # Over all pairs (i, j): E(i - j)^2 = var(i) + var(j) + (mean i - mean j)^2.
    expected = float(one.var() + other.var() + (one.mean() - other.mean()) ** 2)
    return None if expected == 0.0 else 1 - observed / expected


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> Interval | None:
    """Spearman's rank correlation with an interval on Fisher's scale.

    tanh(atanh(r) +/- z sqrt((1 + r^2/2) / (n - 3))) (Bonett and Wright 2000). Without ends below ten pairs
    and for |r| = 1.

    Returns:
        None with fewer than three pairs, and where one side is constant.

    Raises:
        ValueError: the two differ in length.
    """
    if len(first) != len(second):
        raise ValueError("a correlation needs pairs")
    count = len(first)
    if count < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    estimate = float(stats.spearmanr(first, second).statistic)
    if count < 10 or abs(estimate) >= 1:
        return Interval(estimate, None, None, count)
    half = float(stats.norm.ppf((1 + LEVEL) / 2)) * math.sqrt((1 + estimate**2 / 2) / (count - 3))
    middle = math.atanh(estimate)
    return Interval(estimate, math.tanh(middle - half), math.tanh(middle + half), count)
