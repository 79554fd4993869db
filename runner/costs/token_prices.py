"""Token prices: what four token classes cost at a list price."""

from __future__ import annotations

from pydantic import Field

from runner.costs.tokens import token_classes
from runner.records import Usage
from runner.records.base import Part

MILLION = 1_000_000
DECIMALS = 6


class TokenPrices(Part):
    """US dollars per million tokens. A class without a price is null, not free."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)


def token_cost(usage: Usage | None, prices: TokenPrices | None) -> float | None:
    """US dollars of ``usage`` at ``prices``, to 6 decimals; source: specification 5.5.

    ``(fresh input x input + output x output + read x cache_read + write x cache_write) / 1e6``. Fresh input
    is input without the cached part. None for an unknown model, an unknown count, or cached tokens of a
    class that has no price: None stays None, it is never 0.
    """
    counts = token_classes(usage).whole
    if counts is None or prices is None:
        return None
    fresh, read, write, output = counts
    dollars = fresh * prices.input + output * prices.output
    for count, price in ((read, prices.cache_read), (write, prices.cache_write)):
        if count and price is None:
            return None
        dollars += count * (price or 0.0)
    return round(dollars / MILLION, DECIMALS)


def credits_cost(credits_used: float | None, usd_per_credit: float) -> float | None:
    """US dollars of a vendor's credits; None where the credits are unknown. Source: specification 5.7."""
    return None if credits_used is None else credits_used * usd_per_credit
