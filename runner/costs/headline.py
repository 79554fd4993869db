"""Headline cost: the one rule that says what a trial cost, and on which basis."""

from __future__ import annotations

from runner.costs.hardware import HardwareRates, MissingRate
from runner.costs.tokens import tokens_processed
from runner.records import Cost, CostBasis, Hosting, TrialRecord

BILLED = (CostBasis.METERED, CostBasis.CREDITS, CostBasis.PRICE_TABLE)
"""In this order: a bill before a credit count before a calculation from list prices."""


def headline_cost(trial: TrialRecord, rates: HardwareRates) -> Cost:
    """The cost of ``trial`` that tables and charts use.

    A known amount wins in the order metered, credits, price table. Then, for a self-hosted model,
    tokens processed x the hardware-derived rate of its default deployment. Then "no cost by design". A
    notional price is never used. Where nothing is known the amount is null and says why.
    """
    for basis in BILLED:
        for cost in trial.costs:
            if cost.basis is basis and cost.amount_usd is not None:
                return cost
    if trial.serving.hosting is Hosting.SELF_HOSTED:
        return hardware_cost(trial, rates)
    for basis in (CostBasis.NONE, *BILLED):
        for cost in trial.costs:
            if cost.basis is basis:
                return cost
    return Cost(
        basis=CostBasis.METERED,
        amount_usd=None,
        source="none",
        missing_reason="nothing was recorded about the cost",
    )


def hardware_cost(trial: TrialRecord, rates: HardwareRates) -> Cost:
    """Tokens processed x rate; never from wall clock, never from dollars that were rounded before (T-35)."""
    slug = trial.identity.cell.model.slug
    rate = rates.rate_for(slug, trial.serving)
    if isinstance(rate, MissingRate):
        return _unknown(rate.reason)
    tokens = tokens_processed(trial.usage)
    if tokens is None:
        return _unknown("the tokens processed are unknown")
    return Cost(
        basis=CostBasis.HARDWARE_DERIVED,
        amount_usd=tokens * rate.usd_per_token,
        source=(
            f"tokens processed x rate of deployment {rate.deployment.name} at concurrency "
            f"{rate.level.concurrency}, {rate.commitment.value} price"
            + (f"; {rate.hardware_note}" if rate.hardware_note else "")
        ),
        price_as_of=rates.prices.as_of,
    )


def _unknown(reason: str) -> Cost:
    return Cost(
        basis=CostBasis.HARDWARE_DERIVED,
        amount_usd=None,
        source="tokens processed x rate of the model's deployment",
        missing_reason=reason,
    )
