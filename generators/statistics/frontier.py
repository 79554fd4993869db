"""Frontier: which points no other point beats on cost and score, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEW_TASKS = 20
"""Below this many tasks a point is "not seen on the frontier"; it is never called dominated."""
EXACT_LIMIT = 5000
"""Up to this many distinct resamples the bootstrap distribution is enumerated instead of sampled."""
RESAMPLES = 4000
SEED = 20240517
CELLS_AT_ONCE = 4_000_000
PSEUDO_TASKS = 0.7
"""Spread that unseen disagreements add to a sum of passes: sqrt(1/2), half a task won or lost."""
MOST_SHRINKAGE = 0.5
COST_WIDENING = 1.4
"""Factor on the spread of mean costs, whose plain 95 % intervals hold the truth in 85 % of samples of 21."""

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
    shrinkage: float = 0.0
    """Share of the distance between scores that was taken for chance."""


def frontier_membership(
    costs: Floats,
    scores: Floats,
    *,
    seed: int = SEED,
    plain: bool = False,
    passes: float | None = None,
    resamples: int = RESAMPLES,
) -> Membership:
    """Probability of each point to be on the frontier, by a paired bootstrap over tasks.

    Tasks are drawn with replacement, the same draw for every point, so that a hard task is hard for all
    (paired bootstrap; Efron and Tibshirani 1993, chapter 8). In each resample a point's cost and score are
    the means over its known tasks in the draw; a point without any is not on that frontier. With few tasks
    all distinct resamples are enumerated with their multinomial weights, which is the bootstrap distribution
    itself and needs no random numbers.

    Three corrections make the shares probabilities, as the simulation of this project shows. Scores are drawn
    together by the share of their spread that is chance, for of many points the best-looking were lucky, too
    (empirical Bayes; Efron and Morris 1973). Where results are passes and failures, two points that agree on
    every task seen may still differ on others: noise of half a task is added, as the adjusted paired interval
    does. And the mean of a long-tailed cost varies more than its resamples do: they are widened by 1.4 on the
    logarithmic scale, which is how far an interval from them falls short.

    Args:
        costs: points x tasks; NaN where unknown.
        scores: points x tasks; NaN where unknown.
        seed: for the sampled case; stored in the answer.
        plain: without the corrections.
        passes: what a pass is worth, where scores are shares of passed trials; None for judge scores.
        resamples: how many, in the sampled case.

    Raises:
        ValueError: the two arrays differ in shape or are not two-dimensional.
    """
    if costs.ndim != 2 or costs.shape != scores.shape:
        raise ValueError("costs and scores must be two arrays of points x tasks")
    points, tasks = costs.shape
    if points == 0 or tasks == 0:
        return Membership((0.0,) * points, tasks, "exact", 0, None)
    noise = 0.0 if plain or passes is None else PSEUDO_TASKS * passes / tasks
    exact = noise == 0.0 and math.comb(2 * tasks - 1, tasks) <= EXACT_LIMIT
    generator = np.random.default_rng(seed)
    if exact:
        draws, weights = _all_draws(tasks)
    else:
        draws = generator.multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples).astype(np.float64)
        weights = np.full(resamples, 1 / resamples)
    everything = np.ones((1, tasks))
    seen, spent = _means(everything, scores), _means(everything, costs)
    shrinkage = 0.0 if plain else _shrinkage(scores, seen[0], noise)
    shares = np.zeros(points)
    step = max(1, CELLS_AT_ONCE // (points * points))
    for start in range(0, len(draws), step):
        part = draws[start : start + step]
        means = _means(part, scores)
        if noise:
            means = means + generator.normal(0.0, noise, size=means.shape)
        if shrinkage:
            means = _drawn_together(means, seen, shrinkage)
        amounts = _means(part, costs)
        if not plain:
            amounts = _widened(amounts, spent)
        shares += weights[start : start + step] @ _on_frontier(amounts, means)
    probabilities = tuple(min(1.0, round(float(share), 12)) for share in shares)
    how = ("exact", None) if exact else ("sampled", seed)
    return Membership(probabilities, tasks, how[0], len(draws), how[1], shrinkage)


def _drawn_together(means: Floats, seen: Floats, shrinkage: float) -> Floats:
    """Resampled means moved towards that of all points, their spread by the root of what is left."""
    centre = float(np.nanmean(seen))
    moved: Floats = centre + (1 - shrinkage) * (seen - centre) + math.sqrt(1 - shrinkage) * (means - seen)
    return moved.round(9)


def _widened(amounts: Floats, spent: Floats) -> Floats:
    """Mean costs moved away from those seen, on the logarithmic scale; what is free stays free."""
    usable = (amounts > 0) & (spent > 0)
    ratios = np.divide(amounts, spent, out=np.ones_like(amounts), where=usable)
    wider: Floats = np.where(usable, spent * ratios**COST_WIDENING, amounts).round(9)
    return wider


def _shrinkage(scores: Floats, means: Floats, noise: float) -> float:
    """Variance of a mean by chance over the variance of the means; what is hard for all is no chance."""
    known = ~np.isnan(scores)
    counts = known.sum(axis=1)
    usable = counts > 1
    if int(usable.sum()) < 2:
        return 0.0
    per_task = known.sum(axis=0)
    level = np.divide(
        np.where(known, scores, 0.0).sum(axis=0), per_task, where=per_task > 0, out=np.zeros(scores.shape[1])
    )
    residuals = np.where(known, scores - level, 0.0)[usable]
    counts, known = counts[usable], known[usable]
    centred = np.where(known, residuals - (residuals.sum(axis=1) / counts)[:, None], 0.0)
    freedom = len(counts) / (len(counts) - 1)
    chance = float(((centred**2).sum(axis=1) / ((counts - 1) * counts)).mean()) * freedom + noise**2
    spread = float(means[usable].var(ddof=1))
    if chance <= 1e-12:
        return 0.0
    return min(MOST_SHRINKAGE, chance / spread) if spread > 0 else MOST_SHRINKAGE


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
