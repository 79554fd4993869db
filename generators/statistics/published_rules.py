"""Published rules: how the reference project chose, kept as lenses to be shown beside our own verdicts.

None of them looks at the spread of the data. They say what is ahead in the figures, not what is better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

TIE_RELATIVE = 0.02
TIE_ABSOLUTE = 1e-9


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


class DecidedBy(StrEnum):
    """What chose a harness."""

    ONLY_ONE = "the only one"
    DOMINATES = "dominates"
    COST_PER_POINT = "cost per point"


@dataclass(frozen=True)
class Contender:
    """A harness with the cost per task (dollars) and the score (points) that one model has under it."""

    name: str
    cost: float
    score: float

    @property
    def cost_per_point(self) -> float:
        """Dollars per point; infinite for a score of zero."""
        return self.cost / self.score if self.score > 0 else math.inf

    def dominates(self, other: Contender) -> bool:
        """Whether it costs no more and scores no less, one of the two strictly."""
        if self.cost > other.cost or self.score < other.score:
            return False
        return self.cost < other.cost or self.score > other.score


@dataclass(frozen=True)
class Selection:
    """The harness chosen for a model."""

    winner: str
    decided_by: DecidedBy
    runners_up: tuple[str, ...]


def best_harness(contenders: Sequence[Contender]) -> Selection | None:
    """Best harness of one model: one that dominates all others wins, otherwise the lowest cost per point.

    Cost per point favours cheap, weak results: a harness 9 points worse at half the price wins by it. Equal
    ones go by name. None without contenders.
    """
    if not contenders:
        return None
    ranked = sorted(contenders, key=lambda each: (each.cost_per_point, each.cost, each.name))
    decided = DecidedBy.COST_PER_POINT if len(ranked) > 1 else DecidedBy.ONLY_ONE
    if len(ranked) > 1:
        for each in ranked:
            if all(each.dominates(other) for other in ranked if other is not each):
                ranked = [each, *(other for other in ranked if other is not each)]
                decided = DecidedBy.DOMINATES
                break
    return Selection(ranked[0].name, decided, tuple(each.name for each in ranked[1:]))


@dataclass(frozen=True)
class TierMean:
    """Mean over the tasks of one tier, with its n of m."""

    mean: float
    n: int
    m: int


def tier_means(amounts: Mapping[str, float], tiers: Mapping[str, str]) -> dict[str, TierMean]:
    """Mean amount per tier over the tasks that have one, in order of first appearance in ``tiers``.

    Args:
        amounts: score or cost by task; a task without one is not in it.
        tiers: tier by task, every task of the dataset.
    """
    found = {}
    for tier in dict.fromkeys(tiers.values()):
        tasks = [task for task, its in tiers.items() if its == tier]
        known = [amounts[task] for task in tasks if task in amounts]
        if known:
            found[tier] = TierMean(math.fsum(known) / len(known), len(known), len(tasks))
    return found


def cheapest_clearing(points: Mapping[str, tuple[float, float]], bar: float) -> str | None:
    """Name of the cheapest point (cost, score) with a score of at least ``bar``; None where none has."""
    clearing = [(cost, name) for name, (cost, score) in points.items() if score >= bar]
    return min(clearing)[1] if clearing else None


def price_of_a_point(cheaper: tuple[float, float], dearer: tuple[float, float]) -> float | None:
    """Dollars per extra point when changing from one (cost, score) to another.

    (cost' - cost) / (score' - score). None where the dearer one scores no higher.
    """
    gain = dearer[1] - cheaper[1]
    return (dearer[0] - cheaper[0]) / gain if gain > 0 else None


def eta_squared(groups: Mapping[str, Sequence[float]]) -> float | None:
    """Share of variance explained by the groups: SSB / (SSB + SSW) (Fisher 1925).

    None with fewer than two groups that have values, and where nothing varies.
    """
    known = [list(group) for group in groups.values() if group]
    if len(known) < 2:
        return None
    count = sum(len(group) for group in known)
    grand = math.fsum(value for group in known for value in group) / count
    means = [math.fsum(group) / len(group) for group in known]
    between = math.fsum(len(group) * (mean - grand) ** 2 for group, mean in zip(known, means, strict=True))
    within = math.fsum(
        (value - mean) ** 2 for group, mean in zip(known, means, strict=True) for value in group
    )
    return between / (between + within) if between + within > 1e-12 * max(1.0, grand**2) else None
