"""Frontier: which points no other point beats on cost and score, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EXACT_LIMIT = 5000
"""Up to this many distinct resamples the bootstrap distribution is enumerated instead of sampled."""
RESAMPLES = 4000
SEED = 20240517
CELLS_AT_ONCE = 4_000_000

Floats = NDArray[np.float64]


def pareto_frontier(costs: Sequence[float], scores: Sequence[float]) -> list[int]:
    """Indices of the points on the cost-quality frontier, cheapest first.

    A point is on the frontier if no other point has cost <= and score >= with at least one of the two strict
    (Pareto dominance). Identical points keep each other. Points of equal cost stand in their given order.

    Args:
        costs: lower is better, any unit, one per point.
        scores: higher is better, one per point.

    Raises:
        ValueError: the two differ in length or hold a number that is not finite.
    """
    if len(costs) != len(scores):
        raise ValueError("costs and scores differ in length")
    if not all(math.isfinite(value) for value in (*costs, *scores)):
        raise ValueError("a frontier needs finite numbers")
    order = sorted(range(len(costs)), key=lambda index: (costs[index], -scores[index], index))
    frontier: list[int] = []
    best = -math.inf
    for index in order:
        same = (
            bool(frontier) and costs[frontier[-1]] == costs[index] and scores[frontier[-1]] == scores[index]
        )
        if scores[index] > best or same:
            frontier.append(index)
            best = scores[index]
    return frontier


@dataclass(frozen=True)
class Membership:
    """How often each point is on the frontier when the tasks are drawn again."""

    probabilities: tuple[float, ...]
    tasks: int
    method: str
    """``exact`` when every resample was enumerated, else ``sampled``."""
    resamples: int
    seed: int | None


def frontier_membership(costs: Floats, scores: Floats, *, seed: int = SEED) -> Membership:
    """Probability of each point to be on the frontier, by a paired bootstrap over tasks.

    Tasks are drawn with replacement, the same draw for every point, so that a hard task is hard for all
    (paired bootstrap; Efron and Tibshirani 1993, chapter 8). In each resample a point's cost and score are
    the means over its known tasks in the draw; a point without any is not on that frontier. With few tasks
    all distinct resamples are enumerated with their multinomial weights, which is the bootstrap distribution
    itself and needs no random numbers.

    Args:
        costs: points x tasks; NaN where unknown.
        scores: points x tasks; NaN where unknown.
        seed: for the sampled case; stored in the answer.

    Raises:
        ValueError: the two arrays differ in shape or are not two-dimensional.
    """
    if costs.ndim != 2 or costs.shape != scores.shape:
        raise ValueError("costs and scores must be two arrays of points x tasks")
    points, tasks = costs.shape
    if points == 0 or tasks == 0:
        return Membership((0.0,) * points, tasks, "exact", 0, None)
    exact = math.comb(2 * tasks - 1, tasks) <= EXACT_LIMIT
    if exact:
        draws, weights = _all_draws(tasks)
    else:
        generator = np.random.default_rng(seed)
        draws = generator.multinomial(tasks, np.full(tasks, 1 / tasks), size=RESAMPLES).astype(np.float64)
        weights = np.full(RESAMPLES, 1 / RESAMPLES)
    shares = np.zeros(points)
    step = max(1, CELLS_AT_ONCE // (points * points))
    for start in range(0, len(draws), step):
        part = slice(start, start + step)
        on = _on_frontier(_means(draws[part], costs), _means(draws[part], scores))
        shares += weights[part] @ on
    probabilities = tuple(min(1.0, float(share)) for share in shares)
    return Membership(
        probabilities, tasks, "exact" if exact else "sampled", len(draws), None if exact else seed
    )


def _means(draws: Floats, values: Floats) -> Floats:
    """Mean of each point over its known tasks in each draw: draws x points, NaN where there is none."""
    known = ~np.isnan(values)
    totals = draws @ np.where(known, values, 0.0).T
    counts = draws @ known.astype(np.float64).T
    means: Floats = np.full(totals.shape, np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    # Rounded, so that the order of an addition cannot part what is equal.
    return means.round(9)


def _on_frontier(costs: Floats, scores: Floats) -> Floats:
    """1.0 where a point is on its draw's frontier, else 0.0: draws x points."""
    cheaper = costs[:, :, None] <= costs[:, None, :]
    better = scores[:, :, None] >= scores[:, None, :]
    strict = (costs[:, :, None] < costs[:, None, :]) | (scores[:, :, None] > scores[:, None, :])
    dominated = (cheaper & better & strict).any(axis=1)
    known = ~(np.isnan(costs) | np.isnan(scores))
    on: Floats = (known & ~dominated).astype(np.float64)
    return on


def _all_draws(tasks: int) -> tuple[Floats, Floats]:
    """Every way to draw ``tasks`` from ``tasks`` with replacement, with its multinomial probability."""
    draws = np.array(list(_compositions(tasks, tasks)), dtype=np.float64)
    total = math.factorial(tasks) / float(tasks**tasks)
    weights = np.array([total / math.prod(math.factorial(int(count)) for count in draw) for draw in draws])
    return draws, weights


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All tuples of ``parts`` counts that add up to ``total``."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)
