"""Evidence: one trial and every way to know what it cost, as the comparison of these ways needs them."""

from __future__ import annotations

from dataclasses import dataclass

from runner.costs.bases import NOT_BILLED, Pricing, TrialCosts, Way, dated, day_of
from runner.costs.price_lists import Charge, Followed
from runner.costs.token_prices import TokenPrices
from runner.records import Cost, CostBasis, TrialRecord

BILLED = frozenset({CostBasis.METERED, CostBasis.PRICE_TABLE})


def usd_per_credit(trial: TrialRecord, pricing: Pricing) -> float | None:
    """The price of a credit that recorded dollars of ``trial`` are held against; None without one."""
    price = pricing.credit_price(trial.identity.cell.provider, day_of(trial))
    return None if price is None else price.usd


@dataclass(frozen=True)
class Evidence:
    """A trial, every way to know what it cost, and the price list that its agent was seen to follow.

    ``usd_per_credit`` is the price of a credit that recorded dollars are held against; None leaves it out.
    """

    trial: TrialRecord
    costs: TrialCosts
    followed: Followed | None = None
    usd_per_credit: float | None = None

    @property
    def recorded(self) -> list[Cost]:
        """What the record itself says was billed, or priced by the agent or for the run, on its day."""
        return [cost for cost in self.stated if cost.basis in BILLED and cost.amount_usd]

    @property
    def stated(self) -> list[Cost]:
        """The costs of the record with their day, so that an amount has the same day on every page."""
        day = day_of(self.trial)
        return [dated(cost, day) for cost in self.trial.costs]

    @property
    def charges(self) -> list[Charge]:
        """The recorded dollars with the tokens they were charged for; none where the tokens are unknown."""
        usage, book = self.trial.usage, self.book
        if usage is None:
            return []
        book_usd = book.amount_usd if book else None
        return [Charge(usage, cost.amount_usd, book_usd) for cost in self.recorded if cost.amount_usd]

    @property
    def book(self) -> Cost | None:
        """Tokens x the row of the price book; None where the book was not asked."""
        return self._on(Way.BOOK)

    @property
    def hardware(self) -> Cost | None:
        """The known hardware-derived cost at the blended rate."""
        cost = self._on(Way.BLENDED)
        return cost if cost is not None and cost.amount_usd else None

    @property
    def row(self) -> TokenPrices | None:
        """The one price row behind ``book``; None where several models have their own, or none."""
        parts = self.costs.table.parts if self.costs.table else ()
        return parts[0].answer.token_prices if len(parts) == 1 else None

    @property
    def book_reason(self) -> str | None:
        """Why the price book has no row; None where it has one, or has nothing to do with the model."""
        table = self.costs.table
        if table is None:
            if self.trial.serving.hosting in NOT_BILLED:
                return None
            return f"the price book has no row of provider {self.trial.identity.cell.provider}"
        if table.found:
            return None
        reasons = [part.answer.missing_reason for part in table.parts if part.answer.missing_reason]
        return reasons[0] if reasons else None

    @property
    def known(self) -> list[Cost]:
        """Ways with a known amount; the split rate is a second form of the blended one, not another way."""
        return [
            each.cost
            for each in self.costs.ways
            if each.cost.amount_usd and each.way not in {Way.SPLIT, Way.NONE}
        ]

    def _on(self, way: Way) -> Cost | None:
        return next((each.cost for each in self.costs.ways if each.way is way), None)
