"""Comparisons: cells turned into pairs, and what the policy says of each pair and of a whole board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from generators.statistics.bounds import difference_bounds
from generators.statistics.multiplicity import RankRange, rank_ranges, tie_groups
from generators.statistics.verdict import Kind, Pair, Verdict, Word, verdicts
from generators.tables.boards import Board, task_means
from generators.tables.cells import Cell
from generators.tables.certainty import score_bounds
from generators.tables.pairs import why_no_verdict

Repositories = Mapping[str, str]
"""Repository of each task."""


@dataclass(frozen=True)
class Compared:
    """Two cells with the verdict on them; without one, ``reason`` says why they must not be compared."""

    first: Cell
    second: Cell
    verdict: Verdict | None
    reason: str = ""

    @property
    def better(self) -> Cell | None:
        """The better cell, where one is."""
        if self.verdict is None or self.verdict.word is not Word.BETTER:
            return None
        return self.first if self.verdict.favoured == "first" else self.second


def cell_pair(
    first: Cell, second: Cell, kind: Kind = Kind.SCORE, repositories: Repositories | None = None
) -> Pair:
    """Two cells as a pair: means per task over its trials, costs where both rest on one basis, and bounds.

    A cell without any score or check has NaN everywhere and no common task.
    """
    measure = "score" if kind is Kind.SCORE else "resolved"
    one, two = task_means(first, measure), task_means(second, measure)
    tasks = sorted(set(first.by_task) | set(second.by_task))
    prices = (_cost(first), _cost(second))
    known = first.basis is not None and first.basis == second.basis and None not in prices
    return Pair(
        first=_series(one, tasks),
        second=_series(two, tasks),
        kind=kind,
        first_cost=prices[0] if known else None,
        second_cost=prices[1] if known else None,
        bounds=difference_bounds(score_bounds(first), score_bounds(second)) if kind is Kind.SCORE else None,
        clusters=[repositories.get(task, task) for task in tasks] if repositories else None,
    )


def compare_cells(
    pairs: Sequence[tuple[Cell, Cell]], kind: Kind = Kind.SCORE, repositories: Repositories | None = None
) -> list[Compared]:
    """Verdicts on pairs that stand in one table, adjusted for their number.

    Pairs of different dataset versions, judges or rubrics get none and are not counted.
    """
    reasons = [why_no_verdict(one, two, "score" if kind is Kind.SCORE else "resolved") for one, two in pairs]
    able = [index for index, reason in enumerate(reasons) if not reason]
    found = verdicts([cell_pair(*pairs[index], kind, repositories) for index in able])
    by_pair = dict(zip(able, found, strict=True))
    return [Compared(one, two, by_pair.get(index), reasons[index]) for index, (one, two) in enumerate(pairs)]


@dataclass(frozen=True)
class Standings:
    """What a board can tell apart: groups in place of ranks."""

    cells: tuple[Cell, ...]
    """By descending mean score."""
    compared: tuple[Compared, ...]
    groups: tuple[tuple[Cell, ...], ...]
    """Best first; no chain of undecided pairs leads out of a group."""
    ranks: tuple[RankRange, ...]
    """In the order of ``cells``."""

    @property
    def neighbours(self) -> tuple[int, int]:
        """How many of the neighbouring pairs by mean score are told apart, and how many there are."""
        decided = {frozenset((each.first.key, each.second.key)) for each in self.compared if each.better}
        chain = list(pairwise(self.cells))
        return sum(frozenset((one.key, two.key)) in decided for one, two in chain), len(chain)

    @property
    def separable(self) -> tuple[int, int]:
        """How many of all pairs are told apart, and how many there are."""
        return sum(each.better is not None for each in self.compared), len(self.compared)


def standings(board: Board, repositories: Repositories | None = None) -> Standings:
    """Every pair of scored cells of a board under one Holm adjustment, and the groups that follow."""
    cells = tuple(cell for cell in board.by_score if cell.has_scores)
    places = list(combinations(range(len(cells)), 2))
    compared = compare_cells([(cells[one], cells[two]) for one, two in places], repositories=repositories)
    claims = set()
    for (one, two), each in zip(places, compared, strict=True):
        if each.better is not None:
            claims.add((one, two) if each.better is cells[one] else (two, one))
    groups = tie_groups(range(len(cells)), claims)
    return Standings(
        cells,
        tuple(compared),
        tuple(tuple(cells[place] for place in group) for group in groups),
        tuple(rank_ranges(len(cells), claims)),
    )


def _series(means: Mapping[str, float], tasks: Sequence[str]) -> NDArray[np.float64]:
    return np.array([means.get(task, np.nan) for task in tasks], dtype=np.float64)


def _cost(cell: Cell) -> float | None:
    return cell.figures["cost_per_task"].amount
