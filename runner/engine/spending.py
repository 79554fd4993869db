"""Spending: what trials used so far, and which budget that leaves nothing of."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runner.records import Cost, CostBasis, JudgementRecord, TrialRecord, Usage

BILLED = (CostBasis.METERED, CostBasis.PRICE_TABLE, CostBasis.CREDITS)


@dataclass(frozen=True)
class Spent:
    """Dollars, tokens and seconds, each at least so much: what is not known is not in the sum."""

    usd: float = 0.0
    tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.usd + other.usd, self.tokens + other.tokens, self.seconds + other.seconds)


@dataclass(frozen=True)
class Budget:
    """The most that may be spent; None is no limit."""

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None

    def used_up(self, spent: Spent) -> str | None:
        """Which part of the budget is used up, in words; None while something is left of each."""
        if self.usd is not None and spent.usd >= self.usd:
            return f"${spent.usd:.2f} of ${self.usd:g}"
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"{spent.tokens} of {self.tokens} tokens"
        if self.seconds is not None and spent.seconds >= self.seconds:
            return f"{spent.seconds:.0f} of {self.seconds:g} seconds"
        return None


def tokens_used(usage: Usage | None) -> int:
    """Tokens of every known class, each counted once; a lower bound where a class is unknown."""
    if usage is None:
        return 0
    parts = [usage.input_tokens, usage.output_tokens]
    if usage.cache_semantics == "disjoint":
        parts += [usage.cache_read_tokens, usage.cache_write_tokens]
    return sum(part or 0 for part in parts)


def dollars_billed(costs: Iterable[Cost]) -> float | None:
    """What was billed, on the first basis that knows it; None where nothing does."""
    known = (cost.amount_usd for cost in costs if cost.basis in BILLED and cost.amount_usd is not None)
    return next(known, None)


def spent_by(trial: TrialRecord) -> Spent:
    """What one finished trial used; counts that its total lacks are taken from its invocations."""
    return Spent(
        usd=dollars_billed(trial.costs) or 0.0,
        tokens=max(tokens_used(trial.usage), sum(tokens_used(each.usage) for each in trial.invocations)),
        seconds=trial.duration_seconds or 0.0,
    )


def spent_on_judging(judgements: Iterable[JudgementRecord]) -> Spent:
    """What judgements used. Their time is not that of an agent and counts nowhere."""
    parts = [
        Spent(usd=dollars_billed(each.costs) or 0.0, tokens=tokens_used(each.usage)) for each in judgements
    ]
    return sum(parts, Spent())


class Account:
    """What a run and each of its cells have spent, against their budgets. Many threads may use it.

    What the judges of a run cost counts for the run and for no cell.
    """

    def __init__(self, run: Budget, cells: Mapping[tuple[str, ...], Budget]) -> None:
        self._run, self._cells = run, cells
        self._spent: dict[tuple[str, ...], Spent] = {}
        self._begun: dict[int, tuple[tuple[str, ...], Spent]] = {}
        self._judged: dict[tuple[str, ...], Spent] = {}
        self._lock = threading.Lock()

    def add(self, trial: TrialRecord) -> None:
        """Count a finished trial; what it had spent before it was stopped is in its record."""
        cell = trial.identity.cell.key
        with self._lock:
            self._spent[cell] = self._spent.get(cell, Spent()) + spent_by(trial)
            if trial.position is not None:
                self._begun.pop(trial.position, None)

    def begun(self, position: int, cell: tuple[str, ...], spent: Spent) -> None:
        """Count what a trial without a record has spent so far, in place of what was known of it."""
        with self._lock:
            self._begun[position] = (cell, spent)

    def judged(self, trial: tuple[str, ...], spent: Spent) -> None:
        """Count what judging a trial has cost, in place of what was known of it."""
        with self._lock:
            self._judged[trial] = spent

    def run_used_up(self) -> str | None:
        """Why no trial at all may start, and none may be judged, in words."""
        with self._lock:
            begun = [spent for _, spent in self._begun.values()]
            all_of_it = [*self._spent.values(), *begun, *self._judged.values()]
        reason = self._run.used_up(sum(all_of_it, Spent()))
        return reason and f"the budget of the run is used up: {reason}"

    def cell_used_up(self, cell: tuple[str, ...]) -> str | None:
        """Why no trial of ``cell`` may start, in words."""
        with self._lock:
            begun = [spent for of, spent in self._begun.values() if of == cell]
            finished = self._spent.get(cell, Spent())
        reason = self._cells.get(cell, Budget()).used_up(sum(begun, finished))
        return reason and f"the budget of {' / '.join(cell)} is used up: {reason}"
