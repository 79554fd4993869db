"""Run: a plan with everything that running it needs, and who looks on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from runner.engine.attempt import Attempt, attempt
from runner.engine.desk import Desk
from runner.engine.isolation import Isolation
from runner.engine.judging_queue import Judging
from runner.engine.notifying import Notifier
from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.sessions import Sessions
from runner.engine.settings import RunSettings
from runner.engine.spending import Budget
from runner.engine.stop import Stop
from runner.engine.tally import RunSummary
from runner.records import PlannedTrial, PlanRecord
from runner.secrets import Scanner
from runner.store import ResultsStore


class Observer(Protocol):
    """Sees a run go by; shows progress."""

    def begun(self, plan: PlanRecord, already_finished: int) -> None:
        """The run starts."""

    def ended(self, planned: PlannedTrial, result: Attempt, so_far: RunSummary) -> None:
        """A trial is written."""

    def note(self, text: str) -> None:
        """Something about the run that the user should know."""

    def line(self, planned: PlannedTrial, text: str, trace: str | None) -> None:
        """The harness of a trial printed a line; ``trace`` says it in a few words, where there is news."""


@dataclass(frozen=True)
class Run:
    """A plan with everything that running it needs."""

    plan: PlanRecord
    groups: Sequence[Group]
    sessions: Sessions
    places: Places
    store: ResultsStore
    scanner: Scanner
    observer: Observer
    stop: Stop
    isolation: Isolation
    judging: Judging | None = None
    notifier: Notifier = field(default_factory=Notifier)
    log: str | None = None
    """Where what is shown goes, when nobody looks on."""
    work: Callable[[Desk], Attempt] = attempt
    clock: Callable[[], float] = time.monotonic

    @property
    def has_dollar_budget(self) -> bool:
        """Whether the run or one of its cells may spend so many dollars only."""
        return any(
            group.settings.budget_usd is not None or group.settings.cell_budget_usd is not None
            for group in self.groups
        )

    @property
    def workers(self) -> int:
        """How many trials are in hand: agents at work, and as many being made ready or graded meanwhile.

        With a budget only those with an agent: one that was made ready would start before the cost of the
        one before it is known.
        """
        budgets = [self.shared.run_budget(), *(group.settings.cell_budget() for group in self.groups)]
        ahead = all(budget == Budget() for budget in budgets)
        return self.shared.concurrency * (2 if ahead else 1)

    @property
    def shared(self) -> RunSettings:
        """Settings that hold for the whole run; they are alike in all groups."""
        return self.groups[0].settings
