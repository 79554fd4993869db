"""Bounds: what a mean or a difference could still be, whatever the missing trials would have given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """Lowest and highest value that the open trials still allow."""

    lower: float
    upper: float
    open: int
    """Trials that are missing or failed on our side."""


def mean_bounds(known: Sequence[float], open_count: int, *, lowest: float, highest: float) -> Bounds | None:
    """Bounds of a mean when ``open_count`` more values could lie anywhere between lowest and highest.

    Worst case sets each open value to ``lowest``, best case to ``highest`` (Manski 1989, bounds without
    assumptions). None when there is no value at all.
    """
    total = len(known) + open_count
    if total == 0:
        return None
    settled = sum(known)
    return Bounds(
        lower=(settled + open_count * lowest) / total,
        upper=(settled + open_count * highest) / total,
        open=open_count,
    )


def difference_bounds(first: Bounds | None, second: Bounds | None) -> Bounds | None:
    """Bounds of first minus second: each at its worst while the other is at its best; None if one is None."""
    if first is None or second is None:
        return None
    return Bounds(first.lower - second.upper, first.upper - second.lower, first.open + second.open)
