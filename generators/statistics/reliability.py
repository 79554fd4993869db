"""Reliability: how far a judge agrees with itself when it judges the same trial again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from generators.statistics.intervals import LEVEL, Interval


@dataclass(frozen=True)
class Repeatability:
    """Spread of repeated judgements of the same trials."""

    trials: int
    """Trials that were judged at least twice."""
    judgements: int
    within_sd: float
    """Standard deviation of one judgement around the mean of its trial, pooled, in points."""
    icc: Interval | None
    """Share of the variance of single judgements that is between trials; None where it cannot be computed."""


def repeatability(groups: Sequence[Sequence[float]], *, level: float = LEVEL) -> Repeatability | None:
    """Test-retest spread of scores, one group for each trial; groups of one are left out.

    within_sd = sqrt(MSW), MSW the pooled variance within trials. The intraclass correlation is that of single
    scores under a one-way random model, ICC(1,1) = (MSB - MSW) / (MSB + (k0 - 1) MSW) with its F interval
    (Shrout and Fleiss 1979); k0 = (N - sum n_i^2 / N) / (n - 1) where groups differ in size (Searle 1971).
    It can be negative, which means: no agreement beyond chance.

    Returns:
        None without a repeated judgement.
    """
    repeated = [np.asarray(group, dtype=np.float64) for group in groups if len(group) > 1]
    if not repeated:
        return None
    count, total = len(repeated), sum(len(group) for group in repeated)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in repeated) / (total - count)
    grand = float(np.concatenate(repeated).mean())
    icc: Interval | None = None
    if count > 1:
        between = sum(len(group) * (float(group.mean()) - grand) ** 2 for group in repeated) / (count - 1)
        size = (total - sum(len(group) ** 2 for group in repeated) / total) / (count - 1)
        icc = _intraclass(between, within, size, count, total, level)
    return Repeatability(count, total, math.sqrt(within), icc)


def _intraclass(
    between: float, within: float, size: float, count: int, total: int, level: float
) -> Interval | None:
    """ICC(1,1) with its F interval; None where all scores are alike."""
    if between == 0.0 and within == 0.0:
        return None
    estimate = (between - within) / (between + (size - 1) * within)
    if within == 0.0:
        return Interval(estimate, None, None, count, level)
    ratio, tail = between / within, (1 + level) / 2
    low = ratio / float(stats.f.ppf(tail, count - 1, total - count))
    high = ratio * float(stats.f.ppf(tail, total - count, count - 1))
    return Interval(estimate, (low - 1) / (low + size - 1), (high - 1) / (high + size - 1), count, level)
