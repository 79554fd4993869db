"""Workload: what an agent's tokens are made of, and which of them its dollars go to."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from runner.costs.token_prices import MILLION
from runner.costs.tokens import token_classes, tokens_processed

CLASSES = ("fresh input", "cache read", "cache write", "output")
"""Names of the classes of ``TokenClasses``, in its order."""


@dataclass(frozen=True)
class Middle:
    """The middle of some trials' values and how many there are; None where there are none."""

    median: float | None
    count: int


@dataclass(frozen=True)
class Workload:
    """The trials of one harness."""

    harness: str
    trials: int
    read_per_written: Middle
    """Tokens read for each token written."""
    cached_share: Middle
    """Part of the tokens read that came from a cache, 0 to 1."""
    tokens: Middle
    """Tokens processed in one trial."""


@dataclass(frozen=True)
class ClassBill:
    """A trial's tokens by class with what each class costs at one row of the price book, in US dollars."""

    trial: TrialFacts
    cell: Cell
    tokens: Mapping[str, int]
    prices: Mapping[str, float]
    """US dollars per million tokens."""
    source: str

    @property
    def dollars(self) -> dict[str, float]:
        """What each class costs."""
        return {name: self.tokens[name] * self.prices[name] / MILLION for name in CLASSES}

    @property
    def total(self) -> float:
        """What all of them cost."""
        return sum(self.dollars.values())

    @property
    def without_cache(self) -> float:
        """What the same tokens would cost uncached: every token read at the price of fresh input."""
        read = sum(self.tokens[name] for name in CLASSES[:3])
        return (read * self.prices["fresh input"] + self.tokens["output"] * self.prices["output"]) / MILLION


def workloads(cells: Iterable[Cell]) -> tuple[Workload, ...]:
    """What the counted trials of each harness look like, by harness."""
    grouped: dict[str, list[TrialFacts]] = {}
    for cell in cells:
        grouped.setdefault(cell.identity.harness, []).extend(cell.counted)
    return tuple(_workload(harness, trials) for harness, trials in sorted(grouped.items()))


def dearest_bill(cells: Iterable[Cell]) -> ClassBill | None:
    """The trial with most tokens among those that one row of the price book prices, taken apart by class."""
    bills = [bill for cell in cells for trial in cell.counted if (bill := _bill(cell, trial)) is not None]
    return max(
        bills, key=lambda bill: (sum(bill.tokens.values()), bill.cell.key, bill.trial.task), default=None
    )


def _workload(harness: str, trials: Sequence[TrialFacts]) -> Workload:
    ratios, shares, totals = [], [], []
    for trial in trials:
        total = tokens_processed(trial.record.usage)
        output = trial.record.usage.output_tokens if trial.record.usage is not None else None
        if total is not None and output:
            ratios.append((total - output) / output)
        # A trial that a server told nothing of may carry counts of zero for everything.
        if total:
            totals.append(float(total))
        counts = token_classes(trial.record.usage).whole
        if counts is None:
            continue
        fresh, cached, written, _ = counts
        if cached + written:
            shares.append(cached / (fresh + cached + written))
    return Workload(harness, len(trials), _middle(ratios), _middle(shares), _middle(totals))


def _middle(values: Sequence[float]) -> Middle:
    return Middle(statistics.median(values) if values else None, len(values))


def _bill(cell: Cell, trial: TrialFacts) -> ClassBill | None:
    table = trial.costs.table
    if table is None or len(table.parts) != 1 or table.parts[0].usd is None:
        return None
    part = table.parts[0]
    counts, prices = token_classes(part.share.usage).whole, part.answer.token_prices
    if counts is None or prices is None:
        return None
    classes = dict(zip(CLASSES, counts, strict=True))
    rates = (prices.input, prices.cache_read, prices.cache_write, prices.output)
    if any(rate is None and classes[name] for name, rate in zip(CLASSES, rates, strict=True)):
        return None
    known = {name: rate or 0.0 for name, rate in zip(CLASSES, rates, strict=True)}
    return ClassBill(trial, cell, classes, known, table.cost.source)
