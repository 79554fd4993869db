"""Scoring: what it cost to have a trial or a made-up submission scored, by the rule for trials."""

from __future__ import annotations

from typing import TypeVar

from runner.costs.bases import Pricing, Work, known_headline, table_of, ways_of
from runner.costs.price_table import Share
from runner.records import Cost, JudgementRecord, ProofRecord

Scoring = TypeVar("Scoring", JudgementRecord, ProofRecord)


def priced_anew(record: Scoring, pricing: Pricing) -> Scoring:
    """``record`` with its costs as they are worked out now, in the order in which the rule for trials asks.

    The tokens of the judge are multiplied by the price book's row of the day of the scoring, or of the day
    that is asked for, so that a corrected row corrects every scoring. A bill, credits and prices that were
    given for the scoring come before that; a scripted answer stays free. The first known one is its cost.
    """
    judge, usage = record.judge, record.usage
    if record.demonstration or judge.provider is None or (not record.costs and usage is None):
        return record
    work = Work(
        recorded=record.costs,
        provider=judge.provider,
        shares=(Share(judge.model, usage),) if judge.model is not None else (),
        day=record.judged_at.date() if record.judged_at is not None else None,
        billed=judge.model is not None,
    )
    ways = ways_of(work, pricing, table_of(work, pricing))
    headline: Cost | None = known_headline(ways)
    others: list[Cost] = [each.cost for each in ways if each.cost is not headline]
    return record.model_copy(update={"costs": (*([headline] if headline is not None else []), *others)})
