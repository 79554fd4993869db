"""Sample, Value and Figure: what a figure is computed from, what it answers, and how it is described."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from generators.tables.dollars import Priced
from generators.tables.facts import TrialFacts
from generators.tables.scoring import ScoreState
from generators.tables.spread import Kind, Spread
from runner.costs.bases import ORDER
from runner.records import CostBasis


class Unit(StrEnum):
    """How a figure is written."""

    POINTS = "points"
    DOLLARS = "US dollars"
    TOKENS = "tokens"
    MINUTES = "minutes"
    TURNS = "turns"
    PERCENT = "percent"
    TASKS = "tasks"


@dataclass(frozen=True)
class Value:
    """A figure's value with its n of m; ``amount`` is None when unknown, and ``reason`` says why.

    Dollars carry ``priced``: their basis and the days of their prices. Means carry ``spread``: what they
    rest on, from which their interval and bounds follow.
    """

    amount: float | None
    n: int
    m: int
    reason: str = ""
    priced: Priced | None = field(default=None, compare=False)
    spread: Spread | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Sample:
    """The trials that count in a cell, and how many were planned (fixed before the run)."""

    trials: tuple[TrialFacts, ...]
    planned: int

    @property
    def scored(self) -> tuple[TrialFacts, ...]:
        """Trials with a judge score."""
        return tuple(trial for trial in self.trials if trial.state is ScoreState.SCORED)

    @property
    def graded(self) -> tuple[TrialFacts, ...]:
        """What means per task rest on: the scored trials, or where no judge scored any, those with checks."""
        return self.scored or tuple(trial for trial in self.trials if trial.checks_graded)

    @cached_property
    def basis(self) -> CostBasis | None:
        """The one basis of all cost figures: that of the graded trials, else of all that count."""
        return basis_of(self.graded) or basis_of(self.trials)

    @property
    def scores(self) -> list[float]:
        """Scores of the scored trials."""
        return [trial.score for trial in self.trials if trial.score is not None]

    @property
    def failed(self) -> int:
        """Trials that count as zero where failures count."""
        return sum(trial.state is ScoreState.FAILED for trial in self.trials)

    @property
    def open(self) -> int:
        """Planned trials whose score is unknown: unscored, failed on our side, or never recorded."""
        return self.planned - len(self.scores) - self.failed


@dataclass(frozen=True)
class Figure:
    """One figure: its name in exports, its title on pages, its formula, and the function that computes it."""

    name: str
    title: str
    unit: Unit
    formula: str
    compute: Callable[[Sample], Value]
    interval: Kind | None = None
    """For means: the interval that suits them."""

    @property
    def is_mean(self) -> bool:
        """Whether values carry an interval, or why there is none."""
        return self.interval is not None

    @property
    def bounded(self) -> bool:
        """Whether open trials have bounds: scores and shares lie between 0 and 100, amounts have no end."""
        return self.interval in {Kind.SCORE, Kind.SHARE}

    @property
    def method(self) -> str:
        """Name of the interval's method, for the data dictionary."""
        if self.interval is Kind.SHARE:
            return f"{Kind.SHARE} where each task was tried once, else {Kind.SCORE}"
        return self.interval.value if self.interval else ""

    @property
    def meaning(self) -> str:
        """What the figure says: the function's docstring, which also names its source."""
        return " ".join((self.compute.__doc__ or "").split())


def basis_of(trials: Sequence[TrialFacts]) -> CostBasis | None:
    """The basis on which the headline cost of most trials is known; None where no cost is known.

    Of bases that equally many have, the one that comes first in the headline rule. A trial whose headline
    rests on another basis enters a figure with its amount on this one, where that is known, else not at all.
    """
    counts = Counter(trial.cost.basis for trial in trials if trial.cost_on(trial.cost.basis) is not None)
    return max(counts, key=lambda basis: (counts[basis], -ORDER.index(basis)), default=None)


def total_of(amounts: Sequence[float | None], planned: int, reason: str) -> Value:
    """Sum of the known amounts, with how many they are; unknown when none is known."""
    known = [amount for amount in amounts if amount is not None]
    if not known:
        return Value(None, 0, planned, reason)
    return Value(float(sum(known)), len(known), planned)
