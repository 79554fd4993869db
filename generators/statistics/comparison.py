"""Comparison: pairs by the published tie rule, and the bounds that missing trials leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

TIE_RELATIVE = 0.02
TIE_ABSOLUTE = 1e-9
FEW_TASKS = 20
"""Below this many tasks a point is "not seen on the frontier"; it is never called dominated."""


class Side(StrEnum):
    """Who is ahead under the tie rule."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"


def tie_rule(first: float, second: float, *, higher_is_better: bool) -> Side:
    """Who is ahead, with the tie rule of the published harness comparison.

    A pair is a tie when |a - b| < 1e-9 or |a - b| < 2 % of the larger of the two. The rule looks at two means
    and at no spread: it says who is ahead in these data, not who is better.
    """
    gap = abs(first - second)
    if gap < TIE_ABSOLUTE or gap < TIE_RELATIVE * max(abs(first), abs(second)):
        return Side.TIE
    return Side.FIRST if (first > second) == higher_is_better else Side.SECOND


@dataclass(frozen=True)
class Tally:
    """Wins of each side and ties."""

    first: int
    second: int
    ties: int

    @property
    def total(self) -> int:
        """Pairs compared."""
        return self.first + self.second + self.ties


def tally(sides: Sequence[Side]) -> Tally:
    """Count the sides; ties belong to neither."""
    return Tally(
        first=sum(side is Side.FIRST for side in sides),
        second=sum(side is Side.SECOND for side in sides),
        ties=sum(side is Side.TIE for side in sides),
    )


@dataclass(frozen=True)
class Bounds:
    """Worst and best mean that the open trials still allow."""

    lower: float
    upper: float
    open: int


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


@dataclass(frozen=True)
class PairedMean:
    """Means of two series over the tasks both have."""

    first: float
    second: float
    difference: float
    tasks: int


def paired_mean(first: dict[str, float], second: dict[str, float]) -> PairedMean | None:
    """Means over the common keys of two series, and first minus second; None without a common key."""
    common = sorted(first.keys() & second.keys())
    if not common:
        return None
    one = sum(first[key] for key in common) / len(common)
    two = sum(second[key] for key in common) / len(common)
    return PairedMean(first=one, second=two, difference=one - two, tasks=len(common))
