"""Board: the cells that may stand on one chart, and the frontiers among them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from generators.statistics.frontier import Membership, frontier_membership, pareto_frontier
from generators.tables.cells import Cell, CellKey
from generators.tables.yardstick import Yardstick
from runner.records import CostBasis


@dataclass(frozen=True)
class Placement:
    """A cell with both coordinates, and where it lies."""

    cell: Cell
    cost: float
    score: float
    basis: CostBasis
    on_basis_frontier: bool
    on_combined_frontier: bool
    membership: float
    """Probability of being on its basis' frontier when the tasks are drawn again."""
    membership_across: float
    """The same for the frontier of all bases together: directional only, for the bases do not compare."""


@dataclass(frozen=True)
class Board:
    """Cells of one dataset (and one judge, rubric and dataset version) that are compared with each other."""

    dataset: str
    cells: tuple[Cell, ...]
    set_apart: tuple[tuple[Cell, str], ...]
    """Cells of the same dataset that must not be compared with these, and why."""

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        """Cells with a known mean score and cost per task, cheapest first."""
        points = [
            (cell, cost, score, cell.basis)
            for cell in self.cells
            if (cost := cell.figures["cost_per_task"].amount) is not None
            and (score := cell.figures["mean_score"].amount) is not None
        ]
        known = [(cell, cost, score, basis) for cell, cost, score, basis in points if basis is not None]
        known.sort(key=lambda point: (point[1], -point[2], point[0].key))
        combined = set(pareto_frontier([p[1] for p in known], [p[2] for p in known]))
        within: set[int] = set()
        for indices in self._by_basis([p[3] for p in known]).values():
            front = pareto_frontier([known[i][1] for i in indices], [known[i][2] for i in indices])
            within.update(indices[place] for place in front)
        membership = self._membership([p[0] for p in known], [p[3] for p in known])
        across = self._bootstrap([p[0] for p in known]).probabilities
        return tuple(
            Placement(
                cell=cell,
                cost=cost,
                score=score,
                basis=basis,
                on_basis_frontier=index in within,
                on_combined_frontier=index in combined,
                membership=membership[index],
                membership_across=across[index],
            )
            for index, (cell, cost, score, basis) in enumerate(known)
        )

    @property
    def unplaced(self) -> tuple[tuple[Cell, str], ...]:
        """Cells that cannot be points, and what is unknown about them."""
        placed = {placement.cell.key for placement in self.placements}
        return tuple((cell, _why_unplaced(cell)) for cell in self.cells if cell.key not in placed)

    @property
    def by_score(self) -> tuple[Cell, ...]:
        """Cells by descending mean score, unknown last; equal scores in order of their keys."""
        return tuple(sorted(self.cells, key=_score_order))

    @property
    def bases(self) -> tuple[CostBasis, ...]:
        """Cost bases that occur among the placed cells."""
        return tuple(sorted({placement.basis for placement in self.placements}))

    def frontier(self, basis: CostBasis | None) -> tuple[Placement, ...]:
        """The frontier within ``basis``, or across all bases (directional only) for None, cheapest first."""
        if basis is None:
            return tuple(place for place in self.placements if place.on_combined_frontier)
        return tuple(place for place in self.placements if place.basis is basis and place.on_basis_frontier)

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """Tasks that any cell of the board planned or ran."""
        names = {task for cell in self.cells for task in cell.by_task}
        names.update(task for cell in self.cells for task, _ in cell.missing)
        return tuple(sorted(names))

    def placement(self, cell: Cell) -> Placement | None:
        """Where ``cell`` lies on this board."""
        return next((place for place in self.placements if place.cell.key == cell.key), None)

    def membership_method(self) -> Membership | None:
        """How the membership of the largest basis was computed; None on an empty board."""
        groups = self._by_basis([placement.basis for placement in self.placements])
        if not groups:
            return None
        largest = max(groups.values(), key=len)
        return self._bootstrap([self.placements[index].cell for index in largest])

    def _membership(self, cells: Sequence[Cell], bases: Sequence[CostBasis]) -> list[float]:
        found = [0.0] * len(cells)
        for indices in self._by_basis(bases).values():
            result = self._bootstrap([cells[index] for index in indices])
            for index, probability in zip(indices, result.probabilities, strict=True):
                found[index] = probability
        return found

    def _bootstrap(self, cells: Sequence[Cell]) -> Membership:
        costs = np.full((len(cells), len(self.tasks)), np.nan)
        scores = np.full((len(cells), len(self.tasks)), np.nan)
        for row, cell in enumerate(cells):
            task_scores, task_costs = task_means(cell, "score"), task_means(cell, "cost")
            for column, task in enumerate(self.tasks):
                scores[row, column] = task_scores.get(task, np.nan)
                costs[row, column] = task_costs.get(task, np.nan) if task in task_scores else np.nan
        return frontier_membership(costs, scores)

    @staticmethod
    def _by_basis(bases: Sequence[CostBasis]) -> dict[CostBasis, list[int]]:
        groups: dict[CostBasis, list[int]] = defaultdict(list)
        for index, basis in enumerate(bases):
            groups[basis].append(index)
        return dict(groups)


def build_boards(cells: Iterable[Cell]) -> list[Board]:
    """One board per dataset, ordered by dataset; cells must share a skill for the boards to mean anything.

    Cells judged under another rubric or by another judge, or made from another version of the dataset, than
    most cells of the dataset are set apart: their figures stand on their pages, not on the chart.
    """
    grouped: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        grouped[cell.identity.dataset].append(cell)
    return [_build_board(dataset, grouped[dataset]) for dataset in sorted(grouped)]


def task_means(cell: Cell, measure: str) -> dict[str, float]:
    """Mean per task over the counted trials whose ``measure`` is known.

    Args:
        cell: the cell.
        measure: ``score``, ``cost`` (dollars on the cell's basis), ``tokens``, ``minutes`` or ``resolved``
            (0 or 100).
    """
    means: dict[str, float] = {}
    for task, trials in cell.by_task.items():
        amounts: list[float | None] = []
        for trial in trials:
            cost = cell.cost_of(trial)
            known: dict[str, float | None] = {
                "score": trial.score,
                "cost": cost.amount_usd if cost is not None else None,
                "tokens": trial.tokens,
                "minutes": trial.minutes,
                "resolved": None if trial.resolved is None else 100.0 * trial.resolved,
            }
            amounts.append(known[measure])
        given = [amount for amount in amounts if amount is not None]
        if given:
            means[task] = sum(given) / len(given)
    return means


def _build_board(dataset: str, cells: Sequence[Cell]) -> Board:
    judged = Counter((cell.yardstick, cell.dataset_digest) for cell in cells if cell.has_scores)
    if not judged:
        digests = Counter(cell.dataset_digest for cell in cells)
        main_digest = max(digests, key=lambda digest: (digests[digest], digest or ""))
        main: tuple[Yardstick | None, str | None] = (None, main_digest)
    else:
        main = max(judged, key=lambda pair: (judged[pair], pair[0].order if pair[0] else (), pair[1] or ""))
    kept: list[Cell] = []
    apart: list[tuple[Cell, str]] = []
    for cell in cells:
        if cell.dataset_digest != main[1]:
            apart.append((cell, "made from another version of the dataset"))
        elif cell.has_scores and cell.yardstick and main[0] and (why := cell.yardstick.other_than(main[0])):
            apart.append((cell, why))
        else:
            kept.append(cell)
    return Board(dataset, tuple(kept), tuple(apart))


def _score_order(cell: Cell) -> tuple[float, float, CellKey]:
    score = cell.figures["mean_score"].amount
    resolved = cell.figures["resolved_share"].amount
    return (
        -score if score is not None else float("inf"),
        -resolved if resolved is not None else float("inf"),
        cell.key,
    )


def _why_unplaced(cell: Cell) -> str:
    score, cost = cell.figures["mean_score"], cell.figures["cost_per_task"]
    reasons = []
    if score.amount is None:
        reasons.append(f"score: {score.reason}")
    if cost.amount is None and score.amount is not None:
        reasons.append(f"cost: {cost.reason}")
    return "; ".join(reasons) or "cost: bases differ"
