"""Dollars: what an amount rests on and when its prices held, so that no page shows one without the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    @classmethod
    def over(cls, several: Sequence[Priced]) -> Priced | None:
        """Of amounts that stand beside each other, on one basis; None where there is none.

        Raises:
            ValueError: they are on different bases, which no one line can tell.
        """
        if not several:
            return None
        if len({each.basis for each in several}) > 1:
            raise ValueError("amounts on several bases have no days in common")
        first = [each.first for each in several if each.first is not None]
        last = [each.last for each in several if each.last is not None]
        undated = any(each.undated for each in several)
        return cls(several[0].basis, min(first, default=None), max(last, default=None), undated)
