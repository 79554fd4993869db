"""Price rules: what must be true of rows taken together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from runner.costs.price_row import PriceKey, PriceRow

DAY = timedelta(days=1)


@dataclass(frozen=True)
class RuleFault:
    """A fault of a row, by its position in the rows that were given."""

    position: int
    message: str

    def __str__(self) -> str:
        return f"  {self.message}"


def rule_faults(rows: Sequence[PriceRow]) -> list[RuleFault]:
    """Overlaps and unexplained gaps between rows of one key, in the order of the rows."""
    by_key: dict[PriceKey, list[int]] = {}
    for position, row in enumerate(rows):
        by_key.setdefault(row.key, []).append(position)
    faults = []
    for positions in by_key.values():
        ordered = sorted(positions, key=lambda position: rows[position].effective_from)
        for earlier, later in pairwise(ordered):
            message = _between(rows[earlier], rows[later])
            if message:
                faults.append(RuleFault(later, f"{_named(rows[later])}: {message}"))
    return sorted(faults, key=lambda fault: fault.position)


def _between(earlier: PriceRow, later: PriceRow) -> str:
    if earlier.effective_to is None or earlier.effective_to >= later.effective_from:
        end = f"close the earlier one with effective_to: {(later.effective_from - DAY).isoformat()}"
        advice = "delete one of them" if earlier.effective_from == later.effective_from else end
        return f"the row of {later.days()} overlaps the one of {earlier.days()}; {advice}"
    if later.effective_from - earlier.effective_to > DAY and not later.gap_note:
        return (
            f"no price from {(earlier.effective_to + DAY).isoformat()} to "
            f"{(later.effective_from - DAY).isoformat()}; say why in gap_note"
        )
    return ""


def _named(row: PriceRow) -> str:
    parts = [row.provider, row.model, row.region_class.value, row.service_tier.value]
    return " ".join([*parts, *([f"above {row.context_above}"] if row.context_above else [])])
