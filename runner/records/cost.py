"""Cost: dollars that say what they rest on."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from pydantic import Field, model_validator

from runner.records.base import Dollars, Part


class CostBasis(StrEnum):
    """What a dollar figure rests on. Figures of different bases are never compared without a mark."""

    METERED = "metered"
    """Billed by the provider for the tokens of this run, as the harness or a gateway reported it."""
    PRICE_TABLE = "price-table"
    """Token counts times the price of the day."""
    HARDWARE_DERIVED = "hardware-derived"
    """Token counts times a rate from a throughput sweep on rented machines."""
    CREDITS = "credits"
    """A vendor's credits times the price of a credit."""
    NOTIONAL = "notional"
    """A list price the agent applied to a model it was not billed for: recorded, never shown as a cost."""
    NONE = "none"
    """No cost arises by design, as in a demonstration."""


class Cost(Part):
    """One way to know what a trial cost. An unknown amount is null and says why."""

    basis: CostBasis
    amount_usd: Dollars | None
    source: str = Field(description="where the amount was read, or the rule that derived it")
    price_as_of: date | None = None
    credits_used: float | None = Field(default=None, ge=0)
    missing_reason: str | None = None

    @model_validator(mode="after")
    def _an_unknown_amount_says_why(self) -> Cost:
        if self.amount_usd is None and not self.missing_reason:
            raise ValueError("a cost without an amount must carry missing_reason")
        return self
