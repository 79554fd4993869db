"""Coverage: how often an interval holds the true value, and how wide it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from generators.statistics.amounts import bootstrap_t
from generators.statistics.intervals import Interval, mean_interval, share_interval
from generators.statistics.paired import adjusted_interval, paired_differences, paired_t
from generators.statistics.simulation.populations import Floats, Population
from generators.statistics.simulation.result import CoverageRow
from generators.statistics.verdict import SCALE, Kind

Method = Callable[[Floats], Interval | None]


@dataclass(frozen=True)
class Question:
    """What is estimated and how: values of tasks in, interval out."""

    what: str
    method: str
    promised: bool
    """Whether it is the interval the site shows, so that it has to cover; others stand for comparison."""
    paired: bool
    of_costs: bool
    interval: Method


def _wilson(values: Floats) -> Interval | None:
    share = share_interval(int((values > SCALE / 2).sum()), len(values))
    if share is None or share.lower is None or share.upper is None:
        return None
    return Interval(SCALE * share.estimate, SCALE * share.lower, SCALE * share.upper, share.count)


def _adjusted(values: Floats) -> Interval | None:
    return adjusted_interval(values, scale=SCALE)


def _student(values: Floats) -> Interval | None:
    return mean_interval(list(values))


def _paired_student(values: Floats) -> Interval | None:
    found = paired_t(values)
    return found.interval if found else None


def _bootstrap(values: Floats) -> Interval | None:
    found = bootstrap_t(values)
    return found.interval if found else None


def _bootstrap_difference(values: Floats) -> Interval | None:
    found = bootstrap_t(values, signed=True)
    return found.interval if found else None


COSTS = (
    Question("mean cost", "bootstrap-t", False, False, True, _bootstrap),
    Question("mean cost", "t", False, False, True, _student),
    Question("cost difference", "bootstrap-t", False, True, True, _bootstrap_difference),
)
QUESTIONS = {
    Kind.CHECK: (
        Question("rate", "Wilson", True, False, False, _wilson),
        Question("rate", "t", False, False, False, _student),
        Question("difference of rates", "adjusted paired", True, True, False, _adjusted),
        Question("difference of rates", "paired t", False, True, False, _paired_student),
        *COSTS,
    ),
    Kind.SCORE: (
        Question("mean score", "t", False, False, False, _student),
        Question("difference of scores", "paired t", True, True, False, _paired_student),
        *COSTS,
    ),
}


def coverage(
    population: Population, tasks: int, draws: int, generator: np.random.Generator
) -> Iterator[CoverageRow]:
    """One row for each interval: ``draws`` samples of ``tasks`` tasks with replacement, random systems.

    An interval without ends covers nothing here, as a reader could not use it, except where it says so
    because all values are alike: then the estimate itself is taken for both ends.
    """
    samples = [_sample(population, tasks, generator) for _ in range(draws)]
    for question in QUESTIONS[population.kind]:
        yield _row(population, question, tasks, samples)


@dataclass(frozen=True)
class _Sample:
    first: int
    second: int
    tasks: np.ndarray[tuple[int], np.dtype[np.int64]]


def _sample(population: Population, tasks: int, generator: np.random.Generator) -> _Sample:
    systems, all_tasks = population.scores.shape
    first, second = generator.choice(systems, 2, replace=False)
    return _Sample(int(first), int(second), generator.integers(0, all_tasks, tasks))


def _row(population: Population, question: Question, tasks: int, samples: list[_Sample]) -> CoverageRow:
    table = population.costs if question.of_costs else population.scores
    truths = population.true_costs if question.of_costs else population.true_scores
    covered, widths, references = 0, [], []
    for sample in samples:
        values, truth = table[sample.first, sample.tasks], float(truths[sample.first])
        if question.paired:
            values = paired_differences(values, table[sample.second, sample.tasks])
            truth -= float(truths[sample.second])
        found = question.interval(values)
        lower, upper = _ends(found)
        covered += lower - 1e-9 <= truth <= upper + 1e-9
        widths.append(upper - lower)
        if question.paired and not question.of_costs:
            references.append(reference_width(values))
    return CoverageRow(
        population=population.name,
        what=question.what,
        method=question.method,
        promised=question.promised,
        tasks=tasks,
        draws=len(samples),
        coverage=covered / len(samples),
        mean_width=float(np.mean(widths)),
        reference_width=float(np.mean(references)) if references else None,
    )


def reference_width(differences: Floats) -> float:
    """Width of the adjusted paired interval of passes and failures for the same values, ends not cut.

    Written out once more so that the interval in use is held against the formula and not against itself:
    2 z sqrt((sum d^2 + 1) / N - (sum d / N)^2) / sqrt(N) with N = n + 2 and d as shares.
    """
    size, shares = len(differences) + 2, differences / SCALE
    variance = ((shares**2).sum() + 1) / size - (shares.sum() / size) ** 2
    return float(SCALE * 2 * 1.959963984540054 * np.sqrt(variance / size))


def _ends(found: Interval | None) -> tuple[float, float]:
    if found is None:
        return float("nan"), float("nan")
    if found.lower is None or found.upper is None:
        return found.estimate, found.estimate
    return found.lower, found.upper
