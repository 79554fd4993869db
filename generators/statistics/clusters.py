"""Clusters: how sure a mean is where tasks come in groups, such as several of one repository."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from generators.statistics.intervals import LEVEL, Interval


@dataclass(frozen=True)
class Clustered:
    """A mean with a standard error that knows of the clusters; ``note`` says why there is none."""

    interval: Interval
    standard_error: float | None
    p_value: float | None
    """Of a mean of zero, which for differences is no difference."""
    clusters: int
    design_effect: float | None
    """Variance beside that of as many independent tasks; above 1, clusters are alike inside."""
    note: str = ""


def clustered_mean(
    values: Sequence[float], clusters: Sequence[str], *, level: float = LEVEL, what: str = "repository"
) -> Clustered | None:
    """Mean over tasks with the clustered standard error, and t quantiles with C - 1 degrees of freedom.

    sqrt(C / (C - 1) x sum over clusters of (sum of residuals)^2) / n (arXiv 2411.00640; Liang and
    Zeger 1986).

    Args:
        values: one per task; differences of two cells do as well.
        clusters: the cluster of each task.
        what: what a cluster is called in the note.

    Returns:
        None without values. With one cluster there is no interval, and the note says that all are of one.

    Raises:
        ValueError: the two differ in length, or a value is not finite.
    """
    if len(values) != len(clusters):
        raise ValueError("every value needs its cluster")
    known = np.asarray(values, dtype=np.float64)
    if not bool(np.isfinite(known).all()):
        raise ValueError("an interval needs finite numbers")
    count = len(known)
    if count == 0:
        return None
    mean = float(known.mean())
    names, places = np.unique(np.asarray(clusters), return_inverse=True)
    plain = Interval(mean, None, None, count, level)
    if len(names) == 1:
        note = f"all {count} tasks are of one {what}: how far another would differ is unknown"
        return Clustered(plain, None, None, 1, None, note)
    sums = np.bincount(places, weights=known - mean)
    error = math.sqrt(len(names) / (len(names) - 1) * float((sums**2).sum())) / count
    if error <= 1e-12 * max(1.0, abs(mean)):
        return Clustered(plain, None, None, len(names), None, f"no spread between the {len(names)} clusters")
    half = float(special.stdtrit(len(names) - 1, (1 + level) / 2)) * error
    independent = float(known.var(ddof=1)) / count
    return Clustered(
        Interval(mean, mean - half, mean + half, count, level),
        error,
        2 * float(special.stdtr(len(names) - 1, -abs(mean) / error)),
        len(names),
        error**2 / independent if independent > 0 else None,
    )
