"""Folding: several invocations of one trial into its totals; what one does not know, no sum knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from runner.records import CacheSemantics, Cost, SemanticsDecision, Usage

COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class Spending(Protocol):
    """An invocation of an agent, an attempt of a judge."""

    @property
    def usage(self) -> Usage | None:
        """Its tokens; None where they are not known."""


def total(values: Iterable[int | None]) -> int | None:
    """Sum in which null is sticky: null + x is null; the sum of nothing is null."""
    known = list(values)
    if not known or any(value is None for value in known):
        return None
    return sum(value for value in known if value is not None)


def fold_usage(invocations: Sequence[Spending]) -> Usage | None:
    """Sum over a trial's invocations or a judgement's attempts, null where any of them does not report it."""
    usages = [invocation.usage for invocation in invocations]
    if not usages or any(usage is None for usage in usages):
        return None
    known = [usage for usage in usages if usage is not None]
    semantics = {usage.cache_semantics for usage in known}
    same = len(semantics) == 1
    sums = {name: total(getattr(usage, name) for usage in known) for name in COUNTS}
    return Usage(
        **sums,
        cache_semantics=semantics.pop() if same else CacheSemantics.UNKNOWN,
        semantics_decided_by=known[0].semantics_decided_by if same else SemanticsDecision.NONE,
        sources=known[0].sources,
    )


def fold_costs(costs: Sequence[Sequence[Cost]]) -> tuple[Cost, ...]:
    """Costs of a trial by basis; an invocation without a cost on a basis makes that basis unknown."""
    bases = list(dict.fromkeys(cost.basis for each in costs for cost in each))
    folded = []
    for basis in bases:
        parts = [next((cost for cost in each if cost.basis == basis), None) for each in costs]
        first = next(part for part in parts if part is not None)
        amounts = [None if part is None else part.amount_usd for part in parts]
        in_credits = _sum(None if part is None else part.credits_used for part in parts)
        if any(amount is None for amount in amounts):
            reason = _why_unknown(parts)
            folded.append(
                Cost(
                    basis=basis,
                    amount_usd=None,
                    source=first.source,
                    credits_used=in_credits,
                    missing_reason=reason,
                )
            )
        else:
            summed = sum(amount for amount in amounts if amount is not None)
            folded.append(first.model_copy(update={"amount_usd": summed, "credits_used": in_credits}))
    return tuple(folded)


def _why_unknown(parts: Sequence[Cost | None]) -> str:
    """Their own reason where all give the same one."""
    reasons = {None if part is None else part.missing_reason for part in parts}
    [reason, *others] = reasons
    return "not every invocation reports it" if others or reason is None else reason


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if any(value is None for value in known) else round(sum(v for v in known if v is not None), 6)
