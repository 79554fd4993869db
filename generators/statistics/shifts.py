"""Shifts: how far a change that should not matter, or should, moves the score of the same work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from generators.statistics.intervals import LEVEL, Interval, share_interval

ROUNDING = 1e-9
"""What binary numbers may lose of a point."""


@dataclass(frozen=True)
class Shift:
    """Score after a change minus score before it, in points, each the mean of so many scorings."""

    points: float
    before: int
    after: int


def noise_limit(within_sd: float, before: int, after: int) -> float:
    """What the difference of two means of the same work exceeds by chance in 2.5 % of cases, in points.

    z(0.975) * sd * sqrt(1 / before + 1 / after), for scorings that scatter by ``within_sd`` independently.
    """
    z = float(stats.norm.ppf((1 + LEVEL) / 2))
    return z * within_sd * math.sqrt(1 / before + 1 / after)


def share_above_noise(shifts: Sequence[Shift], within_sd: float) -> Interval | None:
    """Share of shifts upwards that exceed the limit of noise, with Wilson's interval; None without shifts."""
    above = [
        shift
        for shift in shifts
        if shift.points > noise_limit(within_sd, shift.before, shift.after) + ROUNDING
    ]
    return share_interval(len(above), len(shifts))


@dataclass(frozen=True)
class Orders:
    """Pairs of a good and a worse submission, by how they were ranked."""

    right: int
    tied: int
    wrong: int

    @property
    def share(self) -> Interval | None:
        """Share of all pairs in the right order, with Wilson's interval; a tie is no right order."""
        return share_interval(self.right, self.right + self.tied + self.wrong)


def orders(shifts: Sequence[Shift]) -> Orders:
    """How often the worse submission scored lower, the same, and higher."""
    tied = sum(abs(shift.points) <= ROUNDING for shift in shifts)
    right = sum(shift.points < -ROUNDING for shift in shifts)
    return Orders(right, tied, len(shifts) - right - tied)
