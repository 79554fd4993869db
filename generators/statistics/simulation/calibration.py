"""Calibration: of the cells that are on the frontier with a stated probability, how many truly are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from generators.statistics.frontier import frontier_membership, pareto_frontier
from generators.statistics.simulation.populations import Population
from generators.statistics.simulation.result import CalibrationRow
from generators.statistics.verdict import SCALE, Kind

EDGES = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)
RESAMPLES = 500


def calibration(
    population: Population, tasks: int, cells: int, boards: int, generator: np.random.Generator
) -> Iterator[CalibrationRow]:
    """One row for each range of stated probability that occurs.

    Boards of ``cells`` systems drawn at random, each with its own true frontier over all tasks, seen on
    ``tasks`` tasks drawn with replacement.
    """
    stated: list[float] = []
    true: list[bool] = []
    passes = SCALE if population.kind is Kind.CHECK else None
    for board in range(boards):
        chosen = generator.choice(len(population.scores), cells, replace=False)
        columns = generator.integers(0, population.scores.shape[1], tasks)
        found = frontier_membership(
            population.costs[chosen][:, columns],
            population.scores[chosen][:, columns],
            passes=passes,
            seed=board,
            resamples=RESAMPLES,
        )
        front = pareto_frontier(list(population.true_costs[chosen]), list(population.true_scores[chosen]))
        stated.extend(found.probabilities)
        true.extend(place in front for place in range(cells))
    for low, high in pairwise(EDGES):
        inside = [
            place
            for place, share in enumerate(stated)
            if low <= share < high or (high == EDGES[-1] and share == high)
        ]
        if inside:
            yield CalibrationRow(
                population=population.name,
                tasks=tasks,
                cells=cells,
                lowest=low,
                highest=high,
                points=len(inside),
                stated=float(np.mean([stated[place] for place in inside])),
                true=float(np.mean([true[place] for place in inside])),
            )
