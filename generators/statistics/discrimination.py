"""Discrimination: whether a higher score means that the hidden tests pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import stats

from generators.statistics.intervals import LEVEL, Interval, share_interval


def area_under_curve(passed: Sequence[float], failed: Sequence[float]) -> Interval | None:
    """Chance that a trial that passed its tests has a higher score than one that did not; ties are a half.

    The area under the ROC curve with DeLong's variance (DeLong, DeLong and Clarke-Pearson 1988) and a
    logit interval, which stays within 0 and 1. 0.5 is no better than a coin.

    Args:
        passed: scores of trials whose tests passed.
        failed: scores of trials whose tests did not.

    Returns:
        None where one side is empty; without ends where one side has a single trial, or for 0 and 1.
    """
    count = len(passed) + len(failed)
    if not passed or not failed:
        return None
    wins = np.sign(np.subtract.outer(np.asarray(passed, float), np.asarray(failed, float))) / 2 + 0.5
    area = float(wins.mean())
    if min(len(passed), len(failed)) < 2 or area in {0.0, 1.0}:
        return Interval(area, None, None, count)
    variance = float(wins.mean(axis=1).var(ddof=1)) / len(passed)
    variance += float(wins.mean(axis=0).var(ddof=1)) / len(failed)
    half = float(stats.norm.ppf((1 + LEVEL) / 2)) * math.sqrt(variance) / (area * (1 - area))
    middle = math.log(area / (1 - area))
    return Interval(area, _logistic(middle - half), _logistic(middle + half), count)


@dataclass(frozen=True)
class CalibrationBin:
    """Trials whose scores lie in one range, and how many of them passed their tests."""

    lowest: float
    highest: float
    """Exclusive, but for the last one."""
    mean_score: float
    passed: Interval


def calibration(
    scores: Sequence[float], passed: Sequence[bool], *, edges: Sequence[float] = (0, 20, 40, 60, 80, 100)
) -> list[CalibrationBin]:
    """Share of trials that passed, by score, with Wilson's interval; ranges without a trial are left out.

    Raises:
        ValueError: the two differ in length, or a score lies outside the edges.
    """
    pairs = list(zip(scores, passed, strict=True))
    if any(not edges[0] <= score <= edges[-1] for score in scores):
        raise ValueError("a score lies outside the ranges")
    bins = []
    for low, high in pairwise(edges):
        last = high == edges[-1]
        inside = [(score, good) for score, good in pairs if low <= score < high or (last and score == high)]
        share = share_interval(sum(good for _, good in inside), len(inside))
        if share is not None:
            mean = math.fsum(score for score, _ in inside) / len(inside)
            bins.append(CalibrationBin(float(low), float(high), mean, share))
    return bins


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
