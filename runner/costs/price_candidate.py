"""Price candidate: what another list says that a model costs, before anybody has reviewed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from runner.costs.price_row import PriceKey, RegionClass, RowPrices, ServiceTier

MILLION = 1_000_000
DECIMALS = 6


@dataclass(frozen=True)
class Candidate:
    """One price of another list. ``rank`` orders entries that mean the same key: the lowest is taken."""

    provider: str
    model: str
    region_class: RegionClass
    service_tier: ServiceTier
    context_above: int
    prices: RowPrices
    entry: str
    rank: int = 0
    effective_from: date | None = None
    effective_to: date | None = None

    @property
    def key(self) -> PriceKey:
        """The key that a row made of it would have."""
        return (self.provider, self.model, self.region_class, self.service_tier, self.context_above)


@dataclass
class Reading:
    """What was read of a list: the candidates, and how many entries were left out for which reason."""

    candidates: list[Candidate] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def settled(reading: Reading) -> Reading:
    """One candidate for each key and first day: the lowest rank; where equals disagree, none."""
    by_key: dict[tuple[PriceKey, date | None], list[Candidate]] = {}
    for candidate in reading.candidates:
        by_key.setdefault((candidate.key, candidate.effective_from), []).append(candidate)
    kept, skipped = [], Counter(reading.skipped)
    for rivals in by_key.values():
        best = min(rival.rank for rival in rivals)
        first = [rival for rival in rivals if rival.rank == best]
        if all(rival.prices == first[0].prices for rival in first):
            kept.append(min(first, key=lambda rival: rival.entry))
        else:
            skipped["entries of one model disagree"] += len(first)
    return Reading(sorted(kept, key=lambda each: (each.key, each.effective_from or date.max)), skipped)


def per_million(price: float | str | Decimal, tokens: int = 1) -> float | None:
    """US dollars per million tokens of a price for ``tokens`` tokens; None where it is no such price."""
    if isinstance(price, bool):
        return None
    try:
        exact = Decimal(str(price)) * MILLION / tokens
    except ArithmeticError:
        return None
    if not exact.is_finite() or exact < 0 or exact > MILLION:
        return None
    return float(round(exact, DECIMALS))


def counted(skipped: Iterable[tuple[str, int]]) -> list[str]:
    """``12 x reason`` lines, the most frequent first."""
    return [
        f"  {count} x {reason}" for reason, count in sorted(skipped, key=lambda each: (-each[1], each[0]))
    ]
