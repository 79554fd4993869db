"""Structure: the few figures of real results that made-up populations are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy import special

from runner.errors import ConfigurationError
from runner.records.base import Part

Floats = NDArray[np.float64]
SHAPE_POINTS = 21
POINTS = 401
PATH = Path(__file__).with_name("structure.json")


class SystemShape(Part):
    """One system of the public table, in three figures."""

    rate: float
    """Share of tasks resolved."""
    log_cost: float
    """Mean of the natural logarithm of its cost per task in dollars."""
    log_cost_spread: float


class CheckStructure(Part):
    """How passes, failures and costs of many systems on many tasks hang together."""

    source: str
    tasks: int
    difficulty_spread: float
    """Standard deviation of the tasks' difficulty on the logit scale (Rasch 1960)."""
    shared_cost: float
    """Share of the variance of log cost inside a system that is the task's own."""
    systems: tuple[SystemShape, ...]


class JudgeStructure(Part):
    """Where the spread of judge scores comes from, in points."""

    source: str
    groups: int
    cells: int
    mean: float
    cell_spread: float
    """Between cells of one board."""
    task_spread: float
    """Between tasks, the same for all cells."""
    rest_spread: float
    """What is left: cell and task together, and chance."""
    rest_shape: tuple[float, ...]
    """Quantiles of the rest in units of its spread, from lowest to highest at equal steps."""
    log_cost_spread: float
    """Between cells, of the natural logarithm of cost per task."""
    log_cost_slope: float
    """Of that logarithm per point of a cell's score."""
    log_cost_task_spread: float
    log_cost_rest_spread: float


class Structure(Part):
    """Both structures, as stored."""

    checks: CheckStructure
    judge: JudgeStructure


def load_structure(path: Path = PATH) -> Structure:
    """The stored structure.

    Raises:
        ConfigurationError: the file is missing or holds something else.
    """
    try:
        return Structure.model_validate_json(path.read_bytes(), strict=False)
    except (OSError, ValidationError) as error:
        raise ConfigurationError(
            f"the structure of the populations cannot be read: {error}",
            where=path.name,
            remedy="restore it from git",
        ) from None


def check_structure(resolved: Floats, costs: Floats, source: str) -> CheckStructure:
    """Structure of a table of results; costs of zero are no costs.

    The spread of difficulty is the one under which tasks differ in their share of solvers as much as they do,
    if every system solves as many as it did (moments of the Rasch model with normal difficulties).

    Args:
        resolved: systems x tasks of 0 and 1.
        costs: systems x tasks, dollars.
        source: where the table is from.
    """
    rates = resolved.mean(axis=1)
    systems, tasks = resolved.shape
    by_task = resolved.mean(axis=0)
    chance = float((by_task * (1 - by_task)).mean()) / max(1, systems - 1)
    target = max(0.0, float(by_task.var()) - chance)
    low, high = 0.0, 12.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _share_variance(rates, middle) < target else (low, middle)
    logs = np.log(np.where(costs > 0, costs, np.nan))
    centred = logs - np.nanmean(logs, axis=1, keepdims=True)
    inside = float(np.nanmean(centred**2))
    task_part = float(np.nanmean(centred, axis=0).var())
    return CheckStructure(
        source=source,
        tasks=tasks,
        difficulty_spread=round(low, 3),
        shared_cost=round(min(1.0, task_part / inside), 3),
        systems=tuple(
            SystemShape(
                rate=round(float(rate), 3),
                log_cost=round(float(np.nanmean(row)), 3),
                log_cost_spread=round(float(np.nanstd(row)), 3),
            )
            for rate, row in zip(rates, logs, strict=True)
        ),
    )


def abilities(rates: Floats, spread: float) -> Floats:
    """Ability on the logit scale under which a system solves its share of tasks of normal difficulty."""
    low, high = np.full(len(rates), -40.0), np.full(len(rates), 40.0)
    for _ in range(60):
        middle = (low + high) / 2
        short = _solved(middle, spread).mean(axis=1) < rates
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    found: Floats = (low + high) / 2
    return found


def judge_structure(boards: Sequence[tuple[Floats, Floats]], source: str) -> JudgeStructure:
    """Structure of boards of judge scores: two-way analysis without repeats, pooled over boards.

    Args:
        boards: scores and costs, each cells x tasks without gaps in the scores; NaN where a cost is unknown.
            Only boards of at least three cells tell the parts apart.
        source: where they are from.

    Raises:
        ValueError: no board has three cells.
    """
    usable = [(scores, costs) for scores, costs in boards if len(scores) >= 3 and scores.shape[1] >= 2]
    if not usable:
        raise ValueError("the structure needs a board of at least three cells")
    scores = [_parts(board) for board, _ in usable]
    rest = np.concatenate([part.rest.ravel() / np.sqrt(part.rest_variance) for part in scores])
    costs = [
        (_parts(np.log(known)), board[usable_rows].mean(axis=1))
        for board, cost in usable
        if (usable_rows := (cost > 0).all(axis=1)).sum() >= 3
        for known in [cost[usable_rows]]
    ]
    slope = _slope([(parts.cells, means) for parts, means in costs])
    left = [parts.cells - parts.cells.mean() - slope * (means - means.mean()) for parts, means in costs]
    return JudgeStructure(
        source=source,
        groups=len(usable),
        cells=sum(len(board) for board, _ in usable),
        mean=_rounded(float(np.mean([board.mean() for board, _ in usable]))),
        cell_spread=_root([part.cell_variance for part in scores]),
        task_spread=_root([part.task_variance for part in scores]),
        rest_spread=_root([part.rest_variance for part in scores]),
        rest_shape=tuple(
            _rounded(float(each)) for each in np.quantile(rest, np.linspace(0, 1, SHAPE_POINTS))
        ),
        log_cost_spread=_root([float(each.var(ddof=1)) for each in left]),
        log_cost_slope=_rounded(slope, 4),
        log_cost_task_spread=_root([parts.task_variance for parts, _ in costs]),
        log_cost_rest_spread=_root([parts.rest_variance for parts, _ in costs]),
    )


@dataclass(frozen=True)
class _Parts:
    """Two-way parts of a board: cells, tasks and the rest, with unbiased variances."""

    cells: Floats
    rest: Floats
    cell_variance: float
    task_variance: float
    rest_variance: float


def _parts(board: Floats) -> _Parts:
    count, tasks = board.shape
    cells: Floats = board.mean(axis=1)
    by_task: Floats = board.mean(axis=0)
    rest: Floats = board - cells[:, None] - by_task + board.mean()
    rest_variance = float((rest**2).sum()) / ((count - 1) * (tasks - 1))
    return _Parts(
        cells,
        rest,
        max(0.0, float(cells.var(ddof=1)) - rest_variance / tasks),
        max(0.0, float(by_task.var(ddof=1)) - rest_variance / count),
        rest_variance,
    )


def _slope(pairs: Sequence[tuple[Floats, Floats]]) -> float:
    """Least squares slope of the first on the second, each board around its own means."""
    over = sum(float(((one - one.mean()) * (two - two.mean())).sum()) for one, two in pairs)
    under = sum(float(((two - two.mean()) ** 2).sum()) for _, two in pairs)
    return over / under if under > 0 else 0.0


def _solved(ability: Floats, spread: float) -> Floats:
    """Chance of solving at normal difficulties: systems x points of the normal distribution."""
    chances: Floats = special.expit(ability[:, None] - spread * _normal_points())
    return chances


def _share_variance(rates: Floats, spread: float) -> float:
    """Variance over tasks of the chance that a system, averaged over systems, solves it."""
    return float(_solved(abilities(rates, spread), spread).mean(axis=0).var())


def _normal_points() -> Floats:
    points: Floats = np.asarray(special.ndtri((np.arange(POINTS) + 0.5) / POINTS), dtype=np.float64)
    return points


def _root(variances: Sequence[float]) -> float:
    return _rounded(float(np.sqrt(np.mean(variances)))) if variances else 0.0


def _rounded(value: float, digits: int = 3) -> float:
    return round(value, digits)
