"""Tiers: what cells score and cost by complexity of the task, through one filter."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from generators.statistics import published_rules
from generators.statistics.bounds import mean_bounds
from generators.statistics.frontier import frontier_membership, pareto_frontier
from generators.statistics.planner import FEWEST_TASKS
from generators.tables.boards import Board, task_means
from generators.tables.cells import Cell
from generators.tables.dollars import Priced
from generators.tables.lenses import TierRow, tier_rows
from generators.tables.profiles import tier_rank
from generators.tables.sample import Value
from generators.tables.scores import HIGHEST_SCORE, LOWEST_SCORE
from generators.tables.scoring import ScoreState
from generators.tables.spread import Kind, Spread
from runner.datasets import Dataset
from runner.records import CostBasis


@dataclass(frozen=True)
class TierPoint:
    """A cell in one tier: score and cost over the same tasks, and its place among the cells of its basis."""

    cell: Cell
    score: Value
    cost: Value
    basis: CostBasis
    on_frontier: bool
    membership: float


def tiers_of(board: Board, described: Dataset | None) -> dict[str, str]:
    """Tier of each task of a board, in ascending order of tiers: as its dataset says, else as recorded."""
    known = {task.id: task.complexity for task in described.tasks if task.complexity} if described else {}
    for cell in board.cells:
        for trial in cell.counted:
            if trial.complexity is not None:
                known.setdefault(trial.task, trial.complexity)
    tiers = {task: known[task] for task in board.tasks if task in known}
    return dict(sorted(tiers.items(), key=lambda item: (tier_rank(item[1]), item[0])))


def tier_score(cell: Cell, tier: str, tiers: Mapping[str, str]) -> Value:
    """Mean score over the tasks of a tier that have one; failed and open tasks enter its bounds only."""
    tasks = [task for task, its in tiers.items() if its == tier]
    scores = task_means(cell, "score")
    known = [scores[task] for task in tasks if task in scores]
    failed = [task for task in tasks if task not in scores and _failed(cell, task)]
    if not known:
        return Value(None, 0, len(tasks), "no task of this tier was scored")
    bounds = mean_bounds(
        known + [0.0] * len(failed),
        len(tasks) - len(known) - len(failed),
        lowest=LOWEST_SCORE,
        highest=HIGHEST_SCORE,
    )
    spread = Spread(tuple(known), Kind.SCORE, bounds=bounds, zeros=len(failed))
    return Value(statistics.fmean(known), len(known), len(tasks), spread=spread)


def tier_cost(cell: Cell, tier: str, tiers: Mapping[str, str]) -> Value:
    """Mean cost over the scored tasks of a tier whose cost is known."""
    tasks = [task for task, its in tiers.items() if its == tier]
    scores, costs = task_means(cell, "score"), task_means(cell, "cost")
    known = {task: costs[task] for task in tasks if task in scores and task in costs}
    if not known or cell.basis is None:
        return Value(None, 0, len(tasks), "no scored task of this tier has a known cost")
    rests = [
        cost for task in known for trial in cell.by_task[task] if (cost := cell.cost_of(trial)) is not None
    ]
    return Value(
        statistics.fmean(known.values()),
        len(known),
        len(tasks),
        priced=Priced.of(rests),
        spread=Spread(tuple(known.values()), Kind.AMOUNT),
    )


def tier_points(cells: Iterable[Cell], tier: str, tiers: Mapping[str, str]) -> list[TierPoint]:
    """Cells with a score and a cost in a tier, with the frontier of each basis; cheapest first."""
    found: dict[CostBasis, list[tuple[Cell, Value, Value]]] = {}
    for cell in cells:
        score, cost = tier_score(cell, tier, tiers), tier_cost(cell, tier, tiers)
        if score.amount is not None and cost.amount is not None and cell.basis is not None:
            found.setdefault(cell.basis, []).append((cell, score, cost))
    tasks = [task for task, its in tiers.items() if its == tier]
    points = []
    for basis, members in found.items():
        on = pareto_frontier(
            [cost.amount or 0.0 for _, _, cost in members], [score.amount or 0.0 for _, score, _ in members]
        )
        shares = frontier_membership(
            _matrix(members, tasks, "cost"), _matrix(members, tasks, "score")
        ).probabilities
        points += [
            TierPoint(cell, score, cost, basis, place in on, shares[place])
            for place, (cell, score, cost) in enumerate(members)
        ]
    return sorted(points, key=lambda point: (point.cost.amount or 0.0, point.cell.key))


def cheapest_clearing(points: Sequence[TierPoint], bar: float, *, surely: bool = False) -> TierPoint | None:
    """Cheapest point whose mean reaches the bar; None without one.

    ``surely``: whose whole interval does, over the six tasks at least that any claim takes.
    """
    ends = {}
    for place, point in enumerate(points):
        interval = point.score.spread.interval if point.score.spread else None
        if surely and interval is not None and interval.count < FEWEST_TASKS:
            continue
        end = interval.lower if surely and interval else None if surely else point.score.amount
        if end is not None:
            # Of equal costs the rule takes the first name, which is the place in the given order.
            ends[f"{place:06}"] = (point.cost.amount or 0.0, end)
    found = published_rules.cheapest_clearing(ends, bar)
    return points[int(found)] if found else None


def ladders(cells: Iterable[Cell], tiers: Mapping[str, str]) -> list[list[TierRow]]:
    """Cells of one harness and one cost basis, cheapest first: those whose steps have a price."""
    grouped: dict[tuple[str, CostBasis], list[Cell]] = {}
    for cell in cells:
        if cell.has_scores and cell.basis is not None and cell.figures["cost_per_task"].amount is not None:
            grouped.setdefault((cell.identity.harness, cell.basis), []).append(cell)
    return [tier_rows(members, tiers) for _, members in sorted(grouped.items()) if len(members) > 1]


def _failed(cell: Cell, task: str) -> bool:
    trials = cell.by_task.get(task, [])
    return bool(trials) and all(trial.state is ScoreState.FAILED for trial in trials)


def _matrix(
    members: Sequence[tuple[Cell, Value, Value]], tasks: Sequence[str], measure: str
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    rows = []
    for cell, _, _ in members:
        scored, means = task_means(cell, "score"), task_means(cell, measure)
        rows.append([means.get(task, np.nan) if task in scored else np.nan for task in tasks])
    return np.array(rows, dtype=np.float64)
