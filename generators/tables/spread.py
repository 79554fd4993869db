"""Spread: what a mean rests on, and from that how far it can be off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from generators.statistics.amounts import FEWEST, bootstrap_t
from generators.statistics.bounds import Bounds
from generators.statistics.intervals import Interval, mean_interval, share_interval

if TYPE_CHECKING:
    from generators.tables.facts import TrialFacts

HIGHEST = 100.0
"""Of scores and of percentages, unless a mean says otherwise; the lowest is 0."""


class Kind(StrEnum):
    """Which interval suits a mean."""

    SCORE = "Student's t"
    SHARE = "Wilson"
    AMOUNT = "bootstrap-t"


@dataclass(frozen=True)
class Spread:
    """The values that a mean is made of, one for each unit, and what its open trials still allow."""

    values: tuple[float, ...]
    """Means per unit, which is the task unless ``unit`` says otherwise. Shares are in percent."""
    kind: Kind
    passes: tuple[int, int] | None = None
    """Of a share: passes and trials, where each task was tried once; None calls for t over the tasks."""
    bounds: Bounds | None = None
    unit: str = "task"
    highest: float = HIGHEST
    zeros: int = 0
    """Failed trials that count as 0 in the bounds."""

    @cached_property
    def interval(self) -> Interval | None:
        """The 95 % interval by the policy: t for scores, Wilson for shares, bootstrap-t for amounts.

        None where the values cannot carry one; ``reason`` says why.
        """
        found = self._found()
        if found is None or found.lower is None or found.upper is None:
            return None
        if self.kind is Kind.AMOUNT:
            return found
        return replace(found, lower=max(0.0, found.lower), upper=min(self.highest, found.upper))

    @property
    def method(self) -> str:
        """Name of the interval's method."""
        return Kind.SCORE.value if self.kind is Kind.SHARE and self.passes is None else self.kind.value

    @property
    def reason(self) -> str:
        """Why there is no interval; empty where there is one."""
        if self.interval is not None:
            return ""
        count = len(self.values)
        if count < 2:
            return f"{'one' if count else 'no'} {self.unit} only"
        if self.kind is Kind.AMOUNT and count < FEWEST:
            return f"fewer than {FEWEST} {self.unit}s"
        return f"{count} {self.unit}s, all alike"

    def _found(self) -> Interval | None:
        if self.kind is Kind.AMOUNT:
            drawn = bootstrap_t(self.values)
            return drawn.interval if drawn else None
        if self.kind is Kind.SHARE and self.passes is not None:
            share = share_interval(*self.passes)
            if share is None or share.lower is None or share.upper is None:
                return None
            return Interval(
                HIGHEST * share.estimate, HIGHEST * share.lower, HIGHEST * share.upper, share.count
            )
        return mean_interval(self.values)


def per_task(
    trials: Iterable[TrialFacts], measure: Callable[[TrialFacts], float | None]
) -> tuple[float, ...]:
    """Mean of a measure for each task over its trials that have one, in order of first appearance."""
    found: dict[str, list[float]] = {}
    for trial in trials:
        amount = measure(trial)
        if amount is not None:
            found.setdefault(trial.task, []).append(amount)
    return tuple(sum(amounts) / len(amounts) for amounts in found.values())


def amounts_per_task(trials: Iterable[TrialFacts], measure: Callable[[TrialFacts], float | None]) -> Spread:
    """Spread of a mean amount such as dollars, minutes or tokens."""
    return Spread(per_task(trials, measure), Kind.AMOUNT)
