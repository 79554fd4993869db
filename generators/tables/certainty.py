"""Certainty: how sure the means of one cell are, each with the interval that suits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generators.statistics.amounts import Bootstrapped, bootstrap_t, concentration, median_interval
from generators.statistics.bounds import Bounds, mean_bounds
from generators.statistics.clusters import Clustered, clustered_mean
from generators.statistics.intervals import Interval, mean_interval, share_interval
from generators.statistics.repeats import OverTasks, VarianceSplit, pass_rates, variance_split
from generators.tables.boards import task_means
from generators.tables.cells import Cell
from generators.tables.scores import HIGHEST_SCORE, LOWEST_SCORE

PERCENT = 100.0


@dataclass(frozen=True)
class Amount:
    """A long-tailed amount over tasks: its mean, its middle, and the share of the dearest tenth."""

    mean: Bootstrapped | None
    median: Interval | None
    concentration: float | None


@dataclass(frozen=True)
class Certainty:
    """Intervals of a cell's means. The unit is the task: several trials of one are averaged first."""

    score: Interval | None
    """Student's t over tasks that have a score."""
    score_bounds: Bounds | None
    """Failed trials as 0; trials that are missing, unjudged or failed on our side anywhere from 0 to 100."""
    clustered: Clustered | None
    """The score with tasks clustered by repository; None where repositories are not known."""
    resolved: Interval | None
    """In percent: Wilson where each task was tried once, else t over the tasks' shares."""
    cost: Amount
    """Dollars, over the tasks that enter the mean cost; without a mean where bases differ."""
    minutes: Amount
    split: VarianceSplit | None
    """Of the scores over tasks and trials; None where no two tasks were tried twice."""


def certainty(cell: Cell, repositories: Mapping[str, str] | None = None) -> Certainty:
    """Certainty of a cell.

    Args:
        cell: the cell.
        repositories: repository of each task, where known.
    """
    scores = task_means(cell, "score")
    graded = {trial.task for trial in cell.sample.graded}
    spend = task_means(cell, "cost") if cell.basis is not None else {}
    return Certainty(
        score=mean_interval(list(scores.values())),
        score_bounds=score_bounds(cell),
        clustered=clustered_mean(list(scores.values()), [repositories.get(task, task) for task in scores])
        if repositories
        else None,
        resolved=_resolved(cell),
        cost=_amount({task: dollars for task, dollars in spend.items() if task in graded}),
        minutes=_amount({task: each for task, each in task_means(cell, "minutes").items() if task in graded}),
        split=variance_split(
            [[trial.score for trial in trials if trial.score is not None] for trials in cell.by_task.values()]
        ),
    )


def score_bounds(cell: Cell) -> Bounds | None:
    """What the mean with failed trials as zero can still be, whatever the open trials would give."""
    known = cell.sample.scores + [0.0] * cell.sample.failed
    return mean_bounds(known, cell.sample.open, lowest=LOWEST_SCORE, highest=HIGHEST_SCORE)


def reliability(cell: Cell, k: int) -> tuple[OverTasks, OverTasks]:
    """Mean pass@k and pass^k of a cell over its tasks; those with fewer than k graded trials do not enter."""
    counts = []
    for trials in cell.by_task.values():
        graded = [trial.resolved for trial in trials if trial.resolved is not None]
        counts.append((len(graded), sum(graded)))
    return pass_rates(counts, k)


def _resolved(cell: Cell) -> Interval | None:
    graded = [trial for trial in cell.sample.trials if trial.resolved is not None]
    shares = task_means(cell, "resolved")
    if len(shares) < len(graded):
        return mean_interval(list(shares.values()))
    found = share_interval(sum(bool(trial.resolved) for trial in graded), len(graded))
    if found is None or found.lower is None or found.upper is None:
        return None
    return Interval(PERCENT * found.estimate, PERCENT * found.lower, PERCENT * found.upper, found.count)


def _amount(by_task: Mapping[str, float]) -> Amount:
    values = list(by_task.values())
    return Amount(bootstrap_t(values), median_interval(values), concentration(values))
