"""Points of a cost-quality chart, and the plan of where they go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from generators.charts.axis import Axis, Scale, cost_scale, linear_axis, log_axis
from generators.charts.symbol import symbol_for
from generators.charts.wording import basis_name, dollars, n_of_m, probability, score_text
from runner.errors import PublishError
from runner.records.cost import CostBasis


@dataclass(frozen=True)
class ParetoPoint:
    """One cell on a cost-quality chart.

    `cost_usd` is the mean cost per task in dollars, `score` the mean score from 0 to 100; either may be
    unknown. `n_scored` of `n_planned` tasks stand behind them. `membership` is the probability (0 to 1)
    that the cell lies on the frontier of its cost basis.
    """

    label: str
    href: str
    cost_usd: float | None
    score: float | None
    basis: str
    hosting: str
    harness: str
    n_scored: int
    n_planned: int
    on_basis_frontier: bool
    on_combined_frontier: bool
    membership: float | None = None
    note: str = ""
    score_sure: str = ""
    """How sure the score is: its interval, or why there is none."""
    cost_sure: str = ""
    price_days: str = ""
    """The days of the prices in the cost."""

    @property
    def complete(self) -> bool:
        """Whether every planned task was scored."""
        return self.n_scored >= self.n_planned

    @property
    def name(self) -> str:
        """The label, with a star when tasks are missing."""
        return self.label if self.complete else f"{self.label}*"

    @property
    def plottable(self) -> bool:
        """Whether both coordinates are known."""
        return self.cost_usd is not None and self.score is not None

    def facts(self) -> list[str]:
        """What hover box and screen reader say besides the name."""
        basis = f"{basis_name(self.basis)}, {self.hosting}" if self.hosting else basis_name(self.basis)
        if self.price_days and self.cost_usd is not None:
            basis = f"{basis}, {self.price_days}"
        rests_on = _joined(n_of_m(self.n_scored, self.n_planned), self.score_sure)
        facts = [
            f"score {score_text(self.score)} ({rests_on})",
            f"{dollars(self.cost_usd)} per task ({_joined(basis, self.cost_sure)})",
        ]
        if self.membership is not None:
            facts.append(f"probability of being on the frontier {probability(self.membership)}")
        return [*facts, self.note] if self.note else facts


@dataclass(frozen=True)
class Mark:
    """A point that is drawn: its number in the table, its place and its symbol."""

    number: int
    point: ParetoPoint
    cost: float
    score: float
    symbol: str


@dataclass(frozen=True)
class ParetoPlan:
    """What both renderers draw. Numbers run over the marks, then over the points left out."""

    marks: tuple[Mark, ...]
    left_out: tuple[tuple[int, ParetoPoint], ...]
    bases: tuple[str, ...]
    harnesses: tuple[str, ...]
    scale: Scale
    log_possible: bool

    def cost_axis(self, scale: Scale, wanted_ticks: int = 7) -> Axis:
        """The horizontal axis at a scale."""
        costs = [mark.cost for mark in self.marks]
        if scale == "log":
            return log_axis(costs, wanted_ticks=wanted_ticks)
        return linear_axis(costs, floor=0.0, least_span=max(costs) * 0.2 or 1.0, wanted_ticks=wanted_ticks)

    def score_axis(self) -> Axis:
        """The vertical axis."""
        scores = [mark.score for mark in self.marks]
        return linear_axis(scores, floor=0.0, ceiling=100.0, least_span=10.0)

    def of_basis(self, basis: str) -> list[Mark]:
        """The marks of one cost basis."""
        return [mark for mark in self.marks if mark.point.basis == basis]

    def basis_frontier(self, basis: str) -> list[Mark]:
        """The frontier of one cost basis, by rising cost."""
        return _by_cost(mark for mark in self.of_basis(basis) if mark.point.on_basis_frontier)

    def combined_frontier(self) -> list[Mark]:
        """The frontier over all bases, by rising cost; empty when there is one basis only."""
        if len(self.bases) < 2:
            return []
        return _by_cost(mark for mark in self.marks if mark.point.on_combined_frontier)


def plan(points: Sequence[ParetoPoint], *, slug: str) -> ParetoPlan:
    """Sorts, numbers and checks the points of a chart."""
    for point in points:
        _check(point, slug)
    ordered = sorted(points, key=_rank)
    shown = [point for point in ordered if point.plottable]
    known = [str(basis) for basis in CostBasis]
    bases = sorted({point.basis for point in shown}, key=lambda name: (_index(known, name), name))
    harnesses = sorted({point.harness for point in shown})
    marks = tuple(
        Mark(
            number,
            point,
            _known(point.cost_usd),
            _known(point.score),
            symbol_for(harnesses.index(point.harness) if len(harnesses) > 1 else bases.index(point.basis)),
        )
        for number, point in enumerate(shown, start=1)
    )
    rest = [point for point in ordered if not point.plottable]
    left_out = tuple(enumerate(rest, start=len(marks) + 1))
    costs = [mark.cost for mark in marks]
    scale: Scale = cost_scale(costs) if costs else "linear"
    return ParetoPlan(marks, left_out, tuple(bases), tuple(harnesses), scale, bool(costs) and min(costs) > 0)


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _check(point: ParetoPoint, slug: str) -> None:
    for name, value in (("cost", point.cost_usd), ("score", point.score)):
        if value is not None and (not math.isfinite(value) or value < 0):
            raise PublishError(
                f"a chart was given a {name} that is no amount: {value}",
                where=f"{slug}: {point.label}",
                remedy="pass None for what is unknown",
            )


def _rank(point: ParetoPoint) -> tuple[float, float, str, str]:
    score = -1.0 if point.score is None else point.score
    cost = math.inf if point.cost_usd is None else point.cost_usd
    return (-score, cost, point.label, point.href)


def _by_cost(marks: Iterable[Mark]) -> list[Mark]:
    return sorted(marks, key=lambda mark: (mark.cost, mark.score))


def _index(names: list[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def _known(value: float | None) -> float:
    if value is None:
        raise PublishError("a point without coordinates was to be drawn")
    return value
