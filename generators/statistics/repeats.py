"""Repeats: what several trials of the same tasks tell: reliability, and where the spread comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

TRIAL_SHARE = 0.2
"""Above this share of variance between trials of one task, at least three trials are asked for."""
LEAST_TRIALS = 3


def pass_at_k(trials: int, passed: int, k: int) -> float | None:
    """Chance that at least one of k trials passes: 1 - C(n - c, k) / C(n, k) (arXiv 2107.03374), unbiased.

    None where k trials were not made.

    Raises:
        ValueError: k is below 1, or passes and trials do not fit.
    """
    _check(trials, passed, k)
    return None if trials < k else 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def pass_hat_k(trials: int, passed: int, k: int) -> float | None:
    """Chance that all of k trials pass, pass^k: C(c, k) / C(n, k) (arXiv 2406.12045): reliability.

    None where k trials were not made.

    Raises:
        ValueError: k is below 1, or passes and trials do not fit.
    """
    _check(trials, passed, k)
    return None if trials < k else math.comb(passed, k) / math.comb(trials, k)


@dataclass(frozen=True)
class OverTasks:
    """A mean over tasks with its n of m: tasks without enough trials do not enter it."""

    mean: float | None
    n: int
    m: int


def pass_rates(tasks: Sequence[tuple[int, int]], k: int) -> tuple[OverTasks, OverTasks]:
    """Mean pass@k and pass^k over tasks, each given as (trials, passed)."""
    any_of = [rate for trials, passed in tasks if (rate := pass_at_k(trials, passed, k)) is not None]
    all_of = [rate for trials, passed in tasks if (rate := pass_hat_k(trials, passed, k)) is not None]
    return _over(any_of, len(tasks)), _over(all_of, len(tasks))


@dataclass(frozen=True)
class VarianceSplit:
    """Where the spread of single trials comes from."""

    between_tasks: float
    within_tasks: float
    """Between trials of one task."""
    tasks: int
    trials: int
    """Trials of tasks that have more than one."""

    @property
    def trial_share(self) -> float | None:
        """Share of the variance that is between trials of one task; None where nothing varies."""
        total = self.between_tasks + self.within_tasks
        return self.within_tasks / total if total > 0 else None

    @property
    def more_trials(self) -> bool:
        """Whether chance between trials is so large that three trials a task are asked for."""
        return self.trial_share is not None and self.trial_share > TRIAL_SHARE

    def error_of_mean(self, tasks: int, trials: int) -> float:
        """Standard error of a mean over new tasks: sqrt(between / n + within / (n k)) (arXiv 2411.00640)."""
        return math.sqrt(self.between_tasks / tasks + self.within_tasks / (tasks * trials))


def variance_split(tasks: Sequence[Sequence[float]]) -> VarianceSplit | None:
    """Variance between tasks and between trials of one task, by the analysis of variance of one way.

    within = sum of squares inside tasks / (N - n); between = max(0, (MSB - within) / k0),
    k0 = (N - sum k_i^2 / N) / (n - 1) (Searle 1971). Tasks with a single trial tell nothing of chance and are
    left out.

    Returns:
        None with fewer than two tasks of at least two trials.
    """
    groups = [np.asarray(task, dtype=np.float64) for task in tasks if len(task) > 1]
    if len(groups) < 2:
        return None
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    total, count = float(sizes.sum()), len(groups)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / (total - count)
    means = np.array([float(group.mean()) for group in groups])
    grand = float((sizes * means).sum()) / total
    mean_square = float((sizes * (means - grand) ** 2).sum()) / (count - 1)
    size = (total - float((sizes**2).sum()) / total) / (count - 1)
    return VarianceSplit(max(0.0, (mean_square - within) / size), within, count, int(total))


def _over(rates: Sequence[float], tasks: int) -> OverTasks:
    return OverTasks(math.fsum(rates) / len(rates) if rates else None, len(rates), tasks)


def _check(trials: int, passed: int, k: int) -> None:
    if k < 1 or not 0 <= passed <= trials:
        raise ValueError("k is at least 1, and passes lie between 0 and the trials")
