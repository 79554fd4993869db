"""Pairs: the same model under two harnesses, compared on the tasks that both have."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from generators.statistics.paired import PairedMean, paired_mean
from generators.statistics.published_rules import Side, Tally, tally, tie_rule
from generators.tables.aliases import ModelAliases
from generators.tables.boards import task_means
from generators.tables.cells import Cell

MEASURES = ("score", "cost", "tokens", "minutes")
HIGHER_IS_BETTER = {"score": True, "cost": False, "tokens": False, "minutes": False}


@dataclass(frozen=True)
class Measured:
    """One measure of a pair on common tasks; ``side`` is None where no verdict may be given, and says why."""

    means: PairedMean | None
    side: Side | None
    reason: str = ""


@dataclass(frozen=True)
class ModelPair:
    """One model under two harnesses of one skill and dataset."""

    first: Cell
    second: Cell
    measures: dict[str, Measured]


@dataclass(frozen=True)
class HarnessPair:
    """Two harnesses with every model both have, and the tally of each measure."""

    skill: str
    dataset: str
    first: str
    second: str
    models: tuple[ModelPair, ...]

    def tally(self, measure: str) -> Tally:
        """Wins and ties of one measure under the tie rule; pairs without a verdict are not counted."""
        sides = [pair.measures[measure].side for pair in self.models]
        return tally([side for side in sides if side is not None])


def harness_pairs(cells: Iterable[Cell], aliases: ModelAliases) -> list[HarnessPair]:
    """Every two harnesses that share a model, by skill and dataset; the pairs with most models first."""
    grouped: dict[tuple[str, str], dict[str, list[Cell]]] = {}
    for cell in cells:
        place = grouped.setdefault((cell.identity.skill, cell.identity.dataset), {})
        place.setdefault(cell.identity.harness, []).append(cell)
    found = []
    for (skill, dataset), harnesses in grouped.items():
        for first, second in itertools.combinations(sorted(harnesses), 2):
            models = tuple(_model_pairs(harnesses[first], harnesses[second], aliases))
            if models:
                found.append(HarnessPair(skill, dataset, first, second, models))
    return sorted(
        found, key=lambda pair: (-len(pair.models), pair.skill, pair.dataset, pair.first, pair.second)
    )


def model_name(cell: Cell, aliases: ModelAliases) -> tuple[str, str | None]:
    """What makes models of two cells the same: the model its slug stands for, and the effort."""
    return aliases.model(cell.identity.model.slug), cell.identity.effort


def compare(first: Cell, second: Cell) -> ModelPair:
    """Every measure of two cells on their common tasks.

    Cells of different judges, rubrics or dataset versions get no verdict on the score, cells of different
    cost bases none on the cost: the means still stand side by side.
    """
    measures = {}
    for measure in MEASURES:
        means = paired_mean(_scored_only(first, measure), _scored_only(second, measure))
        reason = why_no_verdict(first, second, measure)
        if means is None:
            measures[measure] = Measured(None, None, reason or "no common task has it for both")
        elif reason:
            measures[measure] = Measured(means, None, reason)
        else:
            side = tie_rule(means.first, means.second, higher_is_better=HIGHER_IS_BETTER[measure])
            measures[measure] = Measured(means, side)
    return ModelPair(first, second, measures)


def _model_pairs(first: Sequence[Cell], second: Sequence[Cell], aliases: ModelAliases) -> Iterable[ModelPair]:
    for one, two in itertools.product(first, second):
        same = model_name(one, aliases) == model_name(two, aliases)
        if same and one.has_scores and two.has_scores:
            yield compare(one, two)


def _scored_only(cell: Cell, measure: str) -> dict[str, float]:
    """Task means of a measure, over the tasks that have a score: one filter for all measures (T-31)."""
    scored = task_means(cell, "score")
    return {task: amount for task, amount in task_means(cell, measure).items() if task in scored}


def why_no_verdict(first: Cell, second: Cell, measure: str) -> str:
    """Why a measure of two cells must not be compared; empty where it may."""
    if first.dataset_digest != second.dataset_digest:
        return "made from different versions of the dataset"
    if measure == "score" and first.yardstick != second.yardstick:
        same = first.rubric == second.rubric
        return "judged by different judges" if same else "judged under different rubrics"
    if measure == "cost" and first.basis != second.basis:
        return "costs rest on different bases"
    return ""
