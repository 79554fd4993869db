"""Dollars: what an amount rests on and when its prices held, so that no page shows one without the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from runner.records import Cost, CostBasis


@dataclass(frozen=True)
class Priced:
    """The basis of an amount, and the first and last day of the prices in it.

    ``undated`` tells that the day of some price is not known.
    """

    basis: CostBasis
    first: date | None = None
    last: date | None = None
    undated: bool = False

    @classmethod
    def of(cls, costs: Iterable[Cost]) -> Priced | None:
        """Of costs on one basis that were added up or averaged; None where none of them is known.

        Raises:
            ValueError: they are on different bases, so there is no such amount.
        """
        known = [cost for cost in costs if cost.amount_usd is not None]
        if not known:
            return None
        if len({cost.basis for cost in known}) > 1:
            raise ValueError("an amount cannot rest on several bases")
        days = [cost.price_as_of for cost in known if cost.price_as_of is not None]
        return cls(
            known[0].basis, min(days, default=None), max(days, default=None), undated=len(days) < len(known)
        )
