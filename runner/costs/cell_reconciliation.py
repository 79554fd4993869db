"""Cell reconciliation: both sides of each comparison summed over the trials of a cell that have both."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from runner.costs.comparison import Comparison, Figure, Pair, agreement_of, agreement_with_list
from runner.costs.disagreement import AGREES_WITHIN, Agreement, Reason
from runner.costs.reconciliation import SEVERITY, Note, TrialReconciliation


@dataclass(frozen=True)
class CellComparison:
    """Two ways summed over the trials that have both; ``n`` is how many those are."""

    pair: Pair
    first: Figure
    second: Figure
    ratio: float | None
    agreement: Agreement
    reasons: tuple[tuple[Reason, int], ...]
    n: int


@dataclass(frozen=True)
class CellReconciliation:
    """The comparisons of a cell, each over the same trials on both sides, out of ``m`` recorded ones."""

    comparisons: tuple[CellComparison, ...]
    notes: tuple[Note, ...]
    trials: tuple[TrialReconciliation, ...]

    @property
    def agreement(self) -> Agreement:
        """The worst agreement of the sums; without any, the worst of the trials."""
        found = {each.agreement for each in self.comparisons} or {each.agreement for each in self.trials}
        return next((level for level in SEVERITY if level in found), Agreement.NO_AMOUNT)

    @property
    def beyond(self) -> bool:
        """Whether sums over the same trials differ by more than ``AGREES_WITHIN``."""
        return self.agreement is Agreement.BEYOND

    @property
    def main(self) -> CellComparison | None:
        """The comparison that decides: of the worst agreement the one farthest from 1."""
        level = self.agreement
        found = [each for each in self.comparisons if each.agreement is level]
        return max(found, key=lambda each: abs(math.log(each.ratio or 1)), default=None)

    @property
    def reasons(self) -> tuple[tuple[Reason, int], ...]:
        """Every class with the number of trials it applies to, most first; notes of the cell last."""
        counts = Counter(reason for trial in self.trials for reason in trial.reasons)
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], list(Reason).index(pair[0])))
        return (*ordered, *((note.reason, 0) for note in self.notes if note.reason not in counts))

    @property
    def reason(self) -> Reason | None:
        """The class that most trials of the deciding comparison show."""
        main = self.main
        if main is not None:
            return main.reasons[0][0] if main.reasons else None
        single = Counter(trial.reason for trial in self.trials if trial.reason is not None)
        return single.most_common(1)[0][0] if single else None


def reconcile_cell(trials: Sequence[TrialReconciliation], notes: Sequence[Note] = ()) -> CellReconciliation:
    """Sum both sides of each kind of comparison over the trials that have both amounts."""
    found = []
    for pair in Pair:
        members = [
            each
            for trial in trials
            for each in trial.comparisons
            if each.pair is pair and each.first.amount_usd is not None and each.second.amount_usd is not None
        ]
        if members:
            found.append(_summed(pair, members))
    return CellReconciliation(tuple(found), tuple(notes), tuple(trials))


def failed_tasks(all_usd: float | None, graded_usd: float | None) -> Note | None:
    """A note where the spend over all trials exceeds that over the graded ones by more than 5 %."""
    if not all_usd or not graded_usd or all_usd / graded_usd <= 1 + AGREES_WITHIN:
        return None
    ratio = all_usd / graded_usd
    text = f"All trials cost {all_usd:.2f} USD, the graded ones {graded_usd:.2f}: a factor of {ratio:.2f}."
    return Note(Reason.FAILED_TASKS, text, ratio)


def other_hourly_rate(source_usd: float | None, used_usd: float) -> Note | None:
    """A note where a sweep's source priced its machine at another hourly rate than the price list."""
    if not source_usd or agreement_of(source_usd / used_usd) is Agreement.AGREES:
        return None
    text = f"The source used {source_usd} USD an hour, the price list says {used_usd:g}."
    return Note(Reason.OTHER_HOURLY_RATE, text, source_usd / used_usd)


def _summed(pair: Pair, members: Sequence[Comparison]) -> CellComparison:
    first, second = (sum(amounts) for amounts in zip(*(_amounts(each) for each in members), strict=True))
    comparable = any(each.agreement is not Agreement.NOT_COMPARABLE for each in members)
    ratio = first / second if second and comparable else None
    reasons = Counter(reason for each in members for reason in each.explanation.reasons[:1])
    order = sorted(reasons.items(), key=lambda item: (-item[1], list(Reason).index(item[0])))
    return CellComparison(
        pair,
        _shared([each.first for each in members], first),
        _shared([each.second for each in members], second),
        ratio,
        agreement_with_list(ratio) if pair is Pair.LIST else agreement_of(ratio),
        tuple(order),
        len(members),
    )


def _amounts(comparison: Comparison) -> tuple[float, float]:
    return comparison.first.amount_usd or 0.0, comparison.second.amount_usd or 0.0


def _shared(figures: Sequence[Figure], amount: float) -> Figure:
    """The sum with what the summed figures have in common; the oldest price date of several."""
    dates = [figure.price_as_of for figure in figures if figure.price_as_of is not None]
    return Figure(amount, figures[0].what, figures[0].basis, min(dates, default=None))
