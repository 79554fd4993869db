"""Lenses: the published rules applied to cells, each with what the policy says of the same data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from generators.statistics.published_rules import (
    Contender,
    DecidedBy,
    Selection,
    TierMean,
    best_harness,
    eta_squared,
    price_of_a_point,
    tier_means,
)
from generators.tables.aliases import ModelAliases
from generators.tables.boards import task_means
from generators.tables.cells import Cell
from generators.tables.comparisons import Compared, compare_cells
from generators.tables.pairs import model_name


@dataclass(frozen=True)
class HarnessChoice:
    """The cell whose harness the published rule chooses for a model, and what the policy says of it."""

    model: str
    effort: str | None
    winner: Cell
    decided_by: DecidedBy
    compared: tuple[Compared, ...]
    """The winner with each of the others in the rule's order, all choices adjusted together."""


def harness_choices(cells: Iterable[Cell], aliases: ModelAliases) -> list[HarnessChoice]:
    """Best harness of each model under the published rule, for cells of one skill and dataset.

    Means are those of the cells, each over its own tasks, as the rule has them. Cells without a score or a
    cost are no contenders. One harness may contend twice, through two providers.
    """
    grouped: dict[tuple[str, str | None], dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        if _point(cell) is not None:
            grouped[model_name(cell, aliases)]["/".join(cell.key)] = cell
    chosen: list[tuple[tuple[str, str | None], Selection, dict[str, Cell]]] = []
    for model in sorted(grouped, key=lambda name: (name[0], name[1] or "")):
        points = {name: _point(cell) for name, cell in grouped[model].items()}
        selection = best_harness([Contender(name, *point) for name, point in points.items() if point])
        if selection is not None:
            chosen.append((model, selection, grouped[model]))
    table = [
        (members[selection.winner], members[other])
        for _, selection, members in chosen
        for other in selection.runners_up
    ]
    compared = iter(compare_cells(table))
    return [
        HarnessChoice(
            *model,
            members[selection.winner],
            selection.decided_by,
            tuple(next(compared) for _ in selection.runners_up),
        )
        for model, selection, members in chosen
    ]


@dataclass(frozen=True)
class TierRow:
    """One cell by tier."""

    cell: Cell
    scores: dict[str, TierMean]
    costs: dict[str, TierMean]

    def point(self, tier: str) -> tuple[float, float] | None:
        """(cost, score) in a tier; None where one of them is unknown."""
        if tier not in self.scores or tier not in self.costs:
            return None
        return self.costs[tier].mean, self.scores[tier].mean


def tier_rows(cells: Iterable[Cell], tiers: Mapping[str, str]) -> list[TierRow]:
    """Means per tier over the tasks that have a score, cheapest cell first.

    Failed trials are left out of both means, and the n of m beside each tells (one filter for all figures).

    Args:
        cells: of one dataset.
        tiers: tier by task, in ascending order of tiers.
    """
    rows = []
    for cell in cells:
        scores = task_means(cell, "score")
        costs = {task: cost for task, cost in task_means(cell, "cost").items() if task in scores}
        rows.append(TierRow(cell, tier_means(scores, tiers), tier_means(costs, tiers)))
    return sorted(rows, key=lambda row: (_spend(row), row.cell.key))


def prices_of_a_point(rows: Sequence[TierRow]) -> list[tuple[Cell, Cell, dict[str, float | None]]]:
    """Dollars per extra point from each row to the next dearer one, by tier."""
    steps = []
    for cheaper, dearer in pairwise(rows):
        prices: dict[str, float | None] = {}
        for tier in cheaper.scores:
            one, two = cheaper.point(tier), dearer.point(tier)
            prices[tier] = price_of_a_point(one, two) if one and two else None
        steps.append((cheaper.cell, dearer.cell, prices))
    return steps


@dataclass(frozen=True)
class ModelGap:
    """Difference of two cells on each shared task, largest first, and how much of it the tiers explain."""

    differences: tuple[tuple[str, float], ...]
    explained: float | None
    """Share of variance between tiers; None with fewer than two tiers."""
    compared: Compared


def model_gap(upgrade: Cell, baseline: Cell, tiers: Mapping[str, str]) -> ModelGap:
    """Upgrade minus baseline on every task that both have a score for."""
    one, two = task_means(upgrade, "score"), task_means(baseline, "score")
    gaps = {task: one[task] - two[task] for task in one if task in two}
    groups: dict[str, list[float]] = defaultdict(list)
    for task, gap in gaps.items():
        if task in tiers:
            groups[tiers[task]].append(gap)
    ordered = tuple(sorted(gaps.items(), key=lambda item: (-item[1], item[0])))
    return ModelGap(ordered, eta_squared(groups), compare_cells([(upgrade, baseline)])[0])


def _point(cell: Cell) -> tuple[float, float] | None:
    cost, score = cell.figures["cost_per_task"].amount, cell.figures["mean_score"].amount
    return None if cost is None or score is None else (cost, score)


def _spend(row: TierRow) -> float:
    cost = row.cell.figures["cost_per_task"].amount
    return float("inf") if cost is None else cost
