"""Price row: what one model costs at one provider, from which day to which, and who says so."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from runner.costs.token_prices import TokenPrices
from runner.records.base import Part, Slug


class RegionClass(StrEnum):
    """Where a request may be served: what decides between two prices of one model."""

    REGIONAL = "regional"
    """Inside one region or one geography, such as the inference profiles ``us.`` and ``eu.``."""
    GLOBAL = "global"
    """Anywhere in the world."""
    ANY = "any"
    """The provider has one price wherever it serves."""


class ServiceTier(StrEnum):
    """How soon a request is served."""

    STANDARD = "standard"
    BATCH = "batch"
    FLEX = "flex"
    PRIORITY = "priority"


MODEL_PATTERN = r"^[a-z0-9][a-z0-9._/:@*-]*$"
Price = Annotated[float, Field(ge=0)]


class RowPrices(Part):
    """US dollars per million tokens of each class. A class without a price is null, not free."""

    input: Price
    output: Price
    cache_read: Price | None = None
    cache_write: Price | None = Field(default=None, description="kept for five minutes")
    cache_write_1h: Price | None = Field(default=None, description="kept for one hour")
    per_request: Price | None = Field(default=None, description="US dollars a request, beside its tokens")


class PriceRow(Part):
    """One price of one model. Both days are included; no last day means that the price still holds."""

    provider: Slug
    model: str = Field(
        min_length=1,
        max_length=300,
        pattern=MODEL_PATTERN,
        description="id without region prefix and version, in lower case; * stands for any characters",
    )
    region_class: Annotated[RegionClass, Field(strict=False)] = RegionClass.ANY
    service_tier: Annotated[ServiceTier, Field(strict=False)] = ServiceTier.STANDARD
    context_above: int = Field(
        default=0, ge=0, description="holds for prompts of more tokens than this; 0 is every prompt"
    )
    prices: RowPrices
    currency: str = Field(default="USD", pattern=r"^USD$")
    effective_from: date
    effective_to: date | None = None
    source: str = Field(min_length=1, max_length=500, description="file and version, or address")
    checked_on: date
    note: str = Field(default="", max_length=1000)
    gap_note: str = Field(
        default="", max_length=1000, description="why nothing is known between the row before and this one"
    )

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> PriceRow:
        if self.effective_to is not None and self.effective_to < self.effective_from:
            raise ValueError("effective_to is before effective_from")
        return self

    @property
    def key(self) -> PriceKey:
        """What two rows of different days have in common."""
        return (self.provider, self.model, self.region_class, self.service_tier, self.context_above)

    @property
    def token_prices(self) -> TokenPrices:
        """The four prices that a count of tokens is multiplied by.

        Agents report one count of tokens written to a cache; it is priced as kept for five minutes, which
        is what the interfaces do unless they are asked for an hour.
        """
        return TokenPrices(
            input=self.prices.input,
            output=self.prices.output,
            cache_read=self.prices.cache_read,
            cache_write=self.prices.cache_write,
        )

    def holds_on(self, day: date) -> bool:
        """Whether this is the price of ``day``."""
        return self.effective_from <= day and (self.effective_to is None or day <= self.effective_to)

    def days(self) -> str:
        """The days as words: ``2026-07-30 to 2026-08-31``, ``since 2026-07-30``."""
        if self.effective_to is None:
            return f"since {self.effective_from.isoformat()}"
        return f"{self.effective_from.isoformat()} to {self.effective_to.isoformat()}"


PriceKey = tuple[str, str, RegionClass, ServiceTier, int]
