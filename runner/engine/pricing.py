"""Pricing: what an invocation cost at the prices the user gave, beside what its harness reports."""

from __future__ import annotations

from runner.costs import TokenPrices, token_cost
from runner.records import Cost, CostBasis, Usage

SOURCE = "tokens times the prices given for this run"


def with_given_prices(
    costs: tuple[Cost, ...], usage: Usage | None, prices: TokenPrices | None
) -> tuple[Cost, ...]:
    """``costs`` and, where prices were given, a price-table cost from them.

    The user's prices win over a list price that a harness knows, and stand beside a bill. Where the usage or
    a needed price is unknown, the amount is unknown and says so.
    """
    if prices is None:
        return costs
    amount = token_cost(usage, prices)
    reason = None if amount is not None else "tokens or the price of a class of them are not known"
    given = Cost(basis=CostBasis.PRICE_TABLE, amount_usd=amount, source=SOURCE, missing_reason=reason)
    return (*(cost for cost in costs if cost.basis is not CostBasis.PRICE_TABLE), given)
