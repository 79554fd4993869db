"""Judging cost: what scoring trials cost. It is shown beside what trials cost and never added to it."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence

from generators.tables.dollars import Priced
from generators.tables.sample import Value
from runner.costs.bases import ORDER
from runner.records import Cost, CostBasis, JudgementRecord, ProofRecord

Scoring = JudgementRecord | ProofRecord
UNKNOWN = "what judging cost is not recorded"
SCRIPTED = "scripted answers, which nobody bills for"


def judging_cost(record: Scoring) -> Cost | None:
    """What a scoring cost; None where that is unknown or it was scripted.

    The costs of ``record`` are those of ``priced_anew``, in the order of the rule for trials.
    """
    known = (cost for cost in record.costs if cost.amount_usd is not None and cost.basis in ORDER)
    return next(known, None)


def judging_total(records: Sequence[Scoring], reason: str = UNKNOWN) -> Value:
    """Sum of the known costs of these scorings."""
    return _value(records, sum, reason)


def judging_mean(records: Sequence[Scoring], reason: str = UNKNOWN) -> Value:
    """Mean of the known costs of these scorings."""
    return _value(records, statistics.fmean, reason)


def _value(records: Sequence[Scoring], how: Callable[[list[float]], float], reason: str) -> Value:
    """On the basis that most of the known costs have; of equally many the first of the headline rule."""
    known = [cost for record in records if (cost := judging_cost(record)) is not None]
    counts: Counter[CostBasis] = Counter(cost.basis for cost in known)
    basis = max(counts, key=lambda each: (counts[each], -ORDER.index(each)), default=None)
    own = [cost for cost in known if cost.basis is basis]
    amounts = [cost.amount_usd for cost in own if cost.amount_usd is not None]
    if not amounts:
        free = records and all(CostBasis.NONE in {cost.basis for cost in each.costs} for each in records)
        reason = SCRIPTED if free else reason
        return Value(None, 0, len(records), reason)
    return Value(float(how(amounts)), len(amounts), len(records), priced=Priced.of(own))
