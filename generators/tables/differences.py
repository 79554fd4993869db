"""Differences: how far two cells lie apart in cost, time and tokens on the tasks that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from generators.statistics.amounts import bootstrap_t
from generators.statistics.intervals import Interval
from generators.statistics.multiplicity import holm, p_text
from generators.statistics.paired import PairedMean, paired_mean, sign_flip
from generators.statistics.planner import FEWEST_TASKS, SIGNIFICANCE
from generators.statistics.verdict import Word
from generators.tables.boards import task_means
from generators.tables.cells import Cell
from generators.tables.pairs import why_no_verdict
from runner.records import CostBasis

AMOUNTS = ("cost", "minutes", "tokens")


@dataclass(frozen=True)
class AmountDifference:
    """First minus second of one amount per task, over the graded tasks that have it for both."""

    measure: str
    means: PairedMean | None
    interval: Interval | None
    """Bootstrap-t of the mean difference; without ends below five tasks."""
    p_value: float | None
    """Of the sign-flip test; None below six tasks, where nothing can be claimed."""
    apart: tuple[CostBasis | None, CostBasis | None] | None = None
    """The two bases of dollars that do not compare; None where they are one."""
    reason: str = ""
    """Why nothing may be concluded; empty where something may."""

    @property
    def tasks(self) -> int:
        """Common tasks that have the amount."""
        return self.means.tasks if self.means is not None else 0


@dataclass(frozen=True)
class AmountConclusion:
    """What the policy says of a difference in an amount that stands in a table with others."""

    difference: AmountDifference
    word: Word
    """Better where one needs less; never a tie, for no margin is set for amounts."""
    lower: str | None
    """``first`` or ``second``: the one that needs less."""
    number: str
    """What decided."""


def graded_means(cell: Cell, measure: str) -> dict[str, float]:
    """Task means of a measure, over the tasks that have a score, or without any judge a check (T-31)."""
    graded = task_means(cell, "score" if cell.has_scores else "resolved")
    return {task: amount for task, amount in task_means(cell, measure).items() if task in graded}


def amount_difference(first: Cell, second: Cell, measure: str) -> AmountDifference:
    """The paired difference of an amount; dollars of different bases keep it, with the mark."""
    one, two = graded_means(first, measure), graded_means(second, measure)
    means = paired_mean(one, two)
    apart = (
        (first.basis, second.basis)
        if measure == "cost" and means is not None and first.basis is not second.basis
        else None
    )
    reason = why_no_verdict(first, second, measure)
    if means is None:
        return AmountDifference(measure, None, None, None, None, reason or "no common task has it for both")
    differences = np.array([one[task] - two[task] for task in sorted(one.keys() & two.keys())])
    drawn = bootstrap_t(differences, signed=True)
    p_value = sign_flip(differences).p_value if means.tasks >= FEWEST_TASKS else None
    return AmountDifference(measure, means, drawn.interval if drawn else None, p_value, apart, reason)


def conclude(differences: Sequence[AmountDifference]) -> list[AmountConclusion]:
    """Conclusions on the rows of one table: p adjusted for its able rows by Holm's rule.

    One cell needs less than another where the adjusted p of the sign-flip test is below 0.05 and the
    bootstrap-t interval leaves out zero. Anything else is not enough data.
    """
    able = [row for row, each in enumerate(differences) if each.p_value is not None and not each.reason]
    adjusted = dict(zip(able, holm([differences[row].p_value or 0.0 for row in able]), strict=True))
    return [_concluded(each, adjusted.get(row)) for row, each in enumerate(differences)]


def _concluded(each: AmountDifference, adjusted: float | None) -> AmountConclusion:
    undecided = AmountConclusion(each, Word.NOT_ENOUGH, None, "")
    if each.reason:
        return replace(undecided, number=each.reason)
    if adjusted is None:
        return replace(undecided, number=f"{each.tasks} common tasks, limit {FEWEST_TASKS}")
    number = f"adjusted p {p_text(adjusted)}"
    if adjusted >= SIGNIFICANCE or not _without_zero(each.interval) or each.means is None:
        return replace(undecided, number=number)
    lower = "first" if each.means.difference < 0 else "second"
    return AmountConclusion(each, Word.BETTER, lower, number)


def _without_zero(interval: Interval | None) -> bool:
    """Whether zero lies outside; differences that are all alike have no ends, and their sign decides."""
    if interval is None:
        return False
    if interval.lower is None or interval.upper is None:
        return interval.estimate != 0.0
    return interval.lower > 0 or interval.upper < 0
