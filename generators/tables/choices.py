"""Choices: what the cells of a board offer whoever must decide, with how sure each figure is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from generators.statistics.bounds import Bounds, mean_bounds
from generators.statistics.intervals import Interval, mean_interval
from generators.statistics.planner import FEWEST_TASKS, Plan, detectable_difference, plan_trials
from generators.statistics.repeats import variance_split
from generators.statistics.verdict import Kind, Verdict
from generators.tables.boards import Board
from generators.tables.cells import Cell
from generators.tables.certainty import certainty, score_bounds
from generators.tables.comparisons import Repositories, compare_cells
from generators.tables.differences import AmountConclusion, amount_difference, conclude
from generators.tables.sample import Value
from generators.tables.scores import HIGHEST_SCORE, LOWEST_SCORE
from generators.tables.scoring import ScoreState


@dataclass(frozen=True)
class Quality:
    """What is held against a floor: points of score, or percent of trials resolved, from 0 to 100.

    A failed trial counts as 0: it did none of the work.
    """

    amount: float | None
    centre: float | None
    """Mean over tasks, which the interval is about; alike ``amount`` where each task has as many trials."""
    error: float | None
    """Standard error of ``centre``; None where the tasks are too few or too alike to tell."""
    tasks: int
    lower: float | None
    upper: float | None
    """Ends of the 95 % interval."""
    worst: float | None
    best: float | None
    """What it could still be, whatever the open trials would give; None where nothing is known."""
    open: int
    failed: int
    passed: int | None = None
    """Tasks that passed, where each was tried once and only checks grade; ``tasks`` were graded."""


@dataclass(frozen=True)
class Candidate:
    """One cell of the board as a choice."""

    cell: Cell
    quality: Quality
    cost: Value
    minutes: Value
    hosting: str
    harness: str
    basis: str | None
    membership: float | None
    """Probability of being on the frontier of its basis; None where the cell is no point."""
    across: float | None
    """The same across bases: directional only."""


@dataclass(frozen=True)
class Versus:
    """What two candidates say of each other, by their places among the candidates, the lower one first."""

    first: int
    second: int
    verdict: Verdict | None
    reason: str
    """Why there is no verdict."""
    least: float | None
    """The smallest true difference that these common tasks would show with 80 % power; None below six."""
    trials: Plan
    """Trials to add to each of the common tasks in place of tasks, and why where none would do."""
    cost: AmountConclusion | None
    """Which of the two costs less per task; None where their costs do not compare or are not known."""

    @property
    def costs_less(self) -> int | None:
        """The one that the data show to cost less per task."""
        if self.cost is None or self.cost.lower is None:
            return None
        return self.first if self.cost.lower == "first" else self.second


@dataclass(frozen=True)
class Choices:
    """All candidates of a board, best mean first, and every pair of them."""

    board: Board
    kind: Kind
    candidates: tuple[Candidate, ...]
    pairs: tuple[Versus, ...]

    def versus(self, one: int, other: int) -> Versus | None:
        """The pair of two places in any order; None where one has no result to compare."""
        return self._by_places.get((min(one, other), max(one, other)))

    @cached_property
    def _by_places(self) -> dict[tuple[int, int], Versus]:
        return {(pair.first, pair.second): pair for pair in self.pairs}


def board_choices(board: Board, repositories: Repositories | None = None) -> Choices:
    """The choices of a board. Every pair stands under one adjustment, whichever the reader looks at.

    Args:
        board: cells that may be compared.
        repositories: repository of each task, where known.
    """
    judged = any(cell.has_scores for cell in board.cells)
    kind = Kind.SCORE if judged or not any(cell.has_checks for cell in board.cells) else Kind.CHECK
    cells = board.by_score
    able = [place for place, cell in enumerate(cells) if (cell.has_scores if judged else cell.has_checks)]
    places = list(combinations(able, 2))
    compared = compare_cells([(cells[one], cells[two]) for one, two in places], kind, repositories)
    costs = _costs([(cells[one], cells[two]) for one, two in places])
    pairs = tuple(
        Versus(
            one,
            two,
            each.verdict,
            each.reason,
            _least(each.verdict),
            _trials(cells[one], cells[two], kind, each.verdict),
            cost,
        )
        for (one, two), each, cost in zip(places, compared, costs, strict=True)
    )
    return Choices(board, kind, tuple(_candidate(board, cell, kind) for cell in cells), pairs)


def _least(verdict: Verdict | None) -> float | None:
    if verdict is None:
        return None
    evidence = verdict.evidence
    if evidence.spread is None or evidence.tasks < FEWEST_TASKS:
        return None
    return detectable_difference(evidence.spread, evidence.tasks, significance=verdict.significance)


def _costs(pairs: Sequence[tuple[Cell, Cell]]) -> list[AmountConclusion | None]:
    """Which cell of each pair costs less, p adjusted for all pairs whose costs compare."""
    able = [
        place for place, (one, two) in enumerate(pairs) if one.basis is not None and one.basis is two.basis
    ]
    found = conclude([amount_difference(*pairs[place], "cost") for place in able])
    by_place = dict(zip(able, found, strict=True))
    return [by_place.get(place) for place in range(len(pairs))]


def _trials(first: Cell, second: Cell, kind: Kind, verdict: Verdict | None) -> Plan:
    """Trials to add, from the spread of differences between trials of one number."""
    interval = verdict.evidence.interval if verdict is not None else None
    if interval is None or verdict is None:
        return Plan(None, None)
    differences = []
    for task in sorted(set(first.by_task) & set(second.by_task)):
        one, two = _by_number(first, task, kind), _by_number(second, task, kind)
        both = [one[number] - two[number] for number in sorted(one.keys() & two.keys())]
        differences += [both] if both else []
    fewest = min((len(each) for each in differences), default=0)
    split = variance_split(differences)
    plan = plan_trials(interval.estimate, split, len(differences), fewest, significance=verdict.significance)
    return replace(plan, more=1) if plan.more == 0 else plan


def _by_number(cell: Cell, task: str, kind: Kind) -> dict[int, float]:
    found = {}
    for trial in cell.by_task[task]:
        resolved = None if trial.resolved is None else HIGHEST_SCORE * trial.resolved
        value = trial.score if kind is Kind.SCORE else resolved
        if value is not None:
            found[trial.record.identity.trial] = value
    return found


def _candidate(board: Board, cell: Cell, kind: Kind) -> Candidate:
    place = board.placement(cell)
    return Candidate(
        cell=cell,
        quality=_scored(cell) if kind is Kind.SCORE else _resolved(cell),
        cost=cell.figures["cost_per_task"],
        minutes=cell.figures["minutes_per_task"],
        hosting=cell.hosting.value,
        harness=cell.identity.harness,
        basis=cell.basis.value if cell.basis is not None else None,
        membership=place.membership if place is not None else None,
        across=place.membership_across if place is not None else None,
    )


def _scored(cell: Cell) -> Quality:
    by_task = []
    for trials in cell.by_task.values():
        known = [0.0 if trial.state is ScoreState.FAILED else trial.score for trial in trials]
        given = [score for score in known if score is not None]
        if given:
            by_task.append(math.fsum(given) / len(given))
    interval = mean_interval(by_task)
    amount = cell.figures["score_with_failures"].amount
    bounds = score_bounds(cell) if amount is not None else None
    return _quality(amount, by_task, interval, bounds, (cell.sample.open, cell.sample.failed))


def _resolved(cell: Cell) -> Quality:
    graded = [trial for trial in cell.counted if trial.resolved is not None]
    known = [HIGHEST_SCORE if trial.resolved else LOWEST_SCORE for trial in graded]
    open_trials = cell.sample.planned - len(known)
    bounds = mean_bounds(known, open_trials, lowest=LOWEST_SCORE, highest=HIGHEST_SCORE) if known else None
    by_task: dict[str, list[float]] = {}
    for trial, value in zip(graded, known, strict=True):
        by_task.setdefault(trial.task, []).append(value)
    means = [math.fsum(values) / len(values) for values in by_task.values()]
    once = len(means) == len(known)
    passed = sum(value > LOWEST_SCORE for value in known) if once and known else None
    amount = cell.figures["resolved_share"].amount
    return _quality(amount, means, certainty(cell).resolved, bounds, (open_trials, 0), passed)


def _quality(
    amount: float | None,
    by_task: Sequence[float],
    interval: Interval | None,
    bounds: Bounds | None,
    counts: tuple[int, int],
    passed: int | None = None,
) -> Quality:
    error = float(np.std(by_task, ddof=1)) / math.sqrt(len(by_task)) if len(by_task) > 1 else 0.0
    return Quality(
        amount=amount,
        centre=interval.estimate if interval is not None else None,
        error=error if error > 0 and passed is None else None,
        tasks=len(by_task),
        lower=interval.lower if interval is not None else None,
        upper=interval.upper if interval is not None else None,
        worst=bounds.lower if bounds is not None else None,
        best=bounds.upper if bounds is not None else None,
        open=counts[0],
        failed=counts[1],
        passed=passed,
    )
