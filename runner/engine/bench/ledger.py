"""Ledger of a run in memory: what is done, what each target has spent, and why something is not asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from runner.endpoint.statistics.money import at_most
from runner.endpoint.statistics.outcomes import GIVEN_UP, OURS
from runner.endpoint.suites.coding.trace import CUT_BY
from runner.records.bench_manifest import BenchManifest, BenchPrice
from runner.records.bench_summary import BenchAccount
from runner.records.bench_trial import BenchTrial

TIME_SPENT = "the budget of time was spent"
MONEY_SPENT = "the budget of money was spent"
LOAD_TIME_SPENT = "the budget of time for load was spent"
LOAD_TIME_SHORT = "the budget of time for load does not cover a steady window"
MADE_UP_FOR = frozenset({TIME_SPENT, LOAD_TIME_SPENT, LOAD_TIME_SHORT})
"""Reasons that a resumed run does not accept: it asks again, as time begins anew in each sitting."""
CUT = MADE_UP_FOR | {MONEY_SPENT} | frozenset(CUT_BY.values())
"""Reasons for which a run is partial. Money is for all sittings together, so none makes up for that; a task
that a budget ended was paid for, and is not begun again."""
FOR_ALL = "it is for all sittings together: a new run may have a larger one"


def counts(trial: BenchTrial) -> bool:
    """Whether a trial is over: made, or skipped for good. One that we ourselves gave up is not."""
    if trial.skipped is not None:
        return trial.skipped not in MADE_UP_FOR | {GIVEN_UP}
    return all(request.outcome not in OURS for request in trial.requests)


@dataclass
class Spending:
    """Time and money that targets have cost so far, of this and of earlier sittings.

    Args:
        manifest: holds the budgets. That of money is shared evenly among the targets.
        cut: requests that were given up in flight. What they cost is unknown; for the budget each counts
            like the dearest one of its target, ``dearest``.
    """

    manifest: BenchManifest
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    dollars: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    load_seconds: float = 0.0
    cut: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    dearest: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @cached_property
    def prices(self) -> Mapping[str, BenchPrice]:
        """What each target costs."""
        return {target.identifier: target.price for target in self.manifest.targets}

    def take_preflight(self, *, with_time: bool) -> None:
        """Take into account what was asked before the first trial."""
        for each in self.manifest.preflight:
            self._charge(each.target, each.charged_usd)
            self.seconds[each.target] += each.seconds if with_time else 0.0

    def take(self, trials: Iterable[BenchTrial], *, with_time: bool) -> None:
        """Take earlier trials into account."""
        for trial in trials:
            self.add(trial, with_time=with_time)

    def take_cut(self, cut: Mapping[str, int], trials: Iterable[BenchTrial]) -> None:
        """Take into account what a killed runner left in flight and no line of ``trials`` tells.

        Args:
            cut: requests by the keys of their trials, with those that the lines tell.
        """
        told = {trial.key: trial.cut_requests for trial in trials}
        for planned in self.manifest.planned:
            self.cut[planned.target] += max(0, cut.get(planned.key, 0) - told.get(planned.key, 0))

    def add(self, trial: BenchTrial, *, with_time: bool = True) -> None:
        """One trial more. The time of load stages is counted by whoever runs them."""
        price = self.prices.get(trial.target)
        if price is not None:
            for request in trial.requests:
                self._charge(trial.target, at_most(request, price))
        self.cut[trial.target] += trial.cut_requests
        if trial.load is None and with_time and (trial.requests or trial.skipped is None):
            self.seconds[trial.target] += trial.seconds

    def reason(self, target: str) -> str:
        """Why nothing more is asked of ``target``; empty while its budgets last."""
        settings = self.manifest.settings
        if settings.budget_seconds is not None and self.seconds[target] >= settings.budget_seconds:
            return TIME_SPENT
        return self.money_reason(target)

    def money_reason(self, target: str) -> str:
        """The same, for money alone."""
        share = self.share_usd
        return MONEY_SPENT if share is not None and self.charged(target) >= share else ""

    def charged(self, target: str) -> float:
        """US dollars that ``target`` can hardly have cost more than; for budgets alone, and in no figure."""
        return self.dollars[target] + self.cut[target] * self.dearest[target]

    @property
    def share_usd(self) -> float | None:
        """What each target may spend."""
        budget = self.manifest.settings.budget_usd
        return None if budget is None else budget / len(self.manifest.targets)

    def left_seconds(self, target: str) -> float | None:
        """How long ``target`` may still take; None without a limit."""
        budget = self.manifest.settings.budget_seconds
        return None if budget is None else max(0.0, budget - self.seconds[target])

    def left_usd(self, target: str) -> float | None:
        """What ``target`` may still spend; None without a limit."""
        share = self.share_usd
        return None if share is None else max(0.0, share - self.charged(target))

    def _charge(self, target: str, dollars: float) -> None:
        self.dollars[target] += dollars
        self.dearest[target] = max(self.dearest[target], dollars)


def asks_again(manifest: BenchManifest, account: BenchAccount, *, complete: bool) -> bool:
    """Whether a further sitting has anything to ask: what is left, what time cut, or an unfinished search."""
    unfinished = searches(manifest) and not complete
    return bool(account.left or MADE_UP_FOR & account.skipped.keys() or unfinished)


def searches(manifest: BenchManifest) -> bool:
    """Whether a stage decides as it goes, so that nobody knows before what it asks."""
    return any(stage.adaptive for stage in manifest.stages)


def done_by_key(trials: Iterable[BenchTrial]) -> Mapping[str, BenchTrial]:
    """Trials that need not be made any more."""
    return {trial.key: trial for trial in trials if counts(trial)}
