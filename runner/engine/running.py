"""Running: the trials of a plan, several at a time, each written the moment it ends."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

from runner.engine.attempt import Attempt, Desk, attempt
from runner.engine.lock import locked
from runner.engine.places import Places
from runner.engine.planning import Parts
from runner.engine.resolution import provider_settings
from runner.engine.resuming import require_undamaged
from runner.engine.settings import RunSettings
from runner.errors import ConfigurationError
from runner.harnesses.base import Harness
from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import ModelSession, Provider
from runner.records import CostBasis, Outcome, PlannedTrial, PlanRecord
from runner.store import ResultsStore

EXIT_DONE, EXIT_BELOW_THRESHOLD, EXIT_PARTIAL = 0, 2, 3
BILLED = (CostBasis.METERED, CostBasis.PRICE_TABLE, CostBasis.CREDITS)


@dataclass
class Stop:
    """How a user ends a run: first no new trials, then the trials in flight too."""

    no_more: threading.Event = field(default_factory=threading.Event)
    now: threading.Event = field(default_factory=threading.Event)

    def press(self) -> bool:
        """One press of Ctrl-C. True when it was the second one."""
        if self.no_more.is_set():
            self.now.set()
        self.no_more.set()
        return self.now.is_set()


@dataclass(frozen=True)
class RunSummary:
    """How a run stands: what was planned, what is written, and what it cost."""

    plan_id: str
    planned: int
    finished: int
    outcomes: Mapping[str, int]
    resolved: int
    graded: int
    spent_usd: float | None
    unpriced: int

    def exit_code(self, fail_under: float | None) -> int:
        """0 done, 2 done but fewer resolved than asked, 3 trials are missing or failed by infrastructure."""
        if self.finished < self.planned or self.outcomes.get(Outcome.INFRASTRUCTURE):
            return EXIT_PARTIAL
        if fail_under is not None and self.resolved < fail_under / 100 * self.planned:
            return EXIT_BELOW_THRESHOLD
        return EXIT_DONE


class Observer(Protocol):
    """Sees a run go by; shows progress."""

    def begun(self, plan: PlanRecord, already_finished: int) -> None:
        """The run starts."""

    def ended(self, planned: PlannedTrial, result: Attempt, so_far: RunSummary) -> None:
        """A trial is written."""

    def line(self, planned: PlannedTrial, text: str, trace: str | None) -> None:
        """The harness of a trial printed a line; ``trace`` says it in a few words, where there is news."""


def run_plan(
    plan: PlanRecord,
    settings: RunSettings,
    parts: Parts,
    places: Places,
    store: ResultsStore,
    observer: Observer,
    stop: Stop,
    environment: Mapping[str, str],
) -> RunSummary:
    """Run every trial of ``plan`` that the store does not hold yet.

    Each finished trial is written before the next one starts in its place, so a killed run loses only what
    was in flight. A cancelled trial is not written: resuming runs it again.
    """
    with locked(places.lock(plan.plan_id), wait=False, holder=f"another runner of {plan.plan_id}"):
        store.clear_interrupted(plan)
        store.adopt(plan)
        require_undamaged(plan, store)
        tally = _Tally(plan, store)
        todo = [(n, each) for n, each in enumerate(plan.trials) if not store.has_trial(each.identity)]
        observer.begun(plan, tally.finished)
        with ExitStack() as stack, ThreadPoolExecutor(settings.concurrency) as pool:
            sessions = {
                model: stack.enter_context(
                    parts.provider.session(model, provider_settings(settings, places), environment)
                )
                for model in settings.model
            }
            desks = _Desks(plan, settings, parts, places, sessions, observer, stop)
            running: dict[Future[Attempt], PlannedTrial] = {}
            queue = iter(todo)
            while True:
                while len(running) < settings.concurrency and not stop.no_more.is_set():
                    if settings.budget_usd is not None and tally.spent >= settings.budget_usd:
                        break
                    position_and_trial = next(queue, None)
                    if position_and_trial is None:
                        break
                    desk = desks.desk(*position_and_trial)
                    running[pool.submit(attempt, desk)] = desk.planned
                if not running:
                    return tally.summary()
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    planned, result = running.pop(future), future.result()
                    if result.trial.outcome is Outcome.CANCELLED:
                        continue
                    store.write_trial(result.trial, checks=result.checks, artifacts=result.artifacts)
                    tally.add(result)
                    observer.ended(planned, result, tally.summary())


class _Tally:
    """Counts of a run, from the store at the start and from each trial after."""

    def __init__(self, plan: PlanRecord, store: ResultsStore) -> None:
        self.plan = plan
        self.finished = self.resolved = self.graded = self.unpriced = 0
        self.spent = 0.0
        self.outcomes: Counter[str] = Counter()
        for planned in plan.trials:
            if store.has_trial(planned.identity):
                stored = store.trial(planned.identity)
                self.add(Attempt(stored.record, stored.checks, {}))

    def add(self, result: Attempt) -> None:
        """Count one finished trial."""
        self.finished += 1
        self.outcomes[result.trial.outcome] += 1
        self.graded += result.resolved is not None
        self.resolved += result.resolved is True
        billed = [cost.amount_usd for cost in result.trial.costs if cost.basis in BILLED]
        if any(amount is not None for amount in billed):
            self.spent += next(amount for amount in billed if amount is not None)
        elif not result.trial.demonstration:
            self.unpriced += 1

    def summary(self) -> RunSummary:
        """The counts as a value. What was spent is unknown as soon as one trial has no price."""
        return RunSummary(
            plan_id=self.plan.plan_id,
            planned=len(self.plan.trials),
            finished=self.finished,
            outcomes=dict(self.outcomes),
            resolved=self.resolved,
            graded=self.graded,
            spent_usd=None if self.unpriced else self.spent,
            unpriced=self.unpriced,
        )


@dataclass(frozen=True)
class _Desks:
    """Makes the desk of each trial."""

    plan: PlanRecord
    settings: RunSettings
    parts: Parts
    places: Places
    sessions: Mapping[str, ModelSession]
    observer: Observer
    stop: Stop

    def desk(self, position: int, planned: PlannedTrial) -> Desk:
        """Everything the trial at ``position`` needs."""
        cell = planned.identity.cell
        harness = self.parts.harnesses[cell.harness]
        scenario = f"{self.parts.dataset.scope}/{planned.identity.task}"
        return Desk(
            planned=planned,
            position=position,
            plan_id=self.plan.plan_id,
            demonstration=self.plan.demonstration,
            hosting=self.settings.hosting or self.parts.provider.hosting,
            settings=self.settings,
            task=self.parts.dataset.task_by_id(planned.identity.task),
            dataset_path=self.parts.dataset_path,
            harness=harness,
            skill=self.parts.skills[cell.skill],
            endpoint=self.sessions[cell.model.raw_id].endpoint(
                common_protocol(harness, self.parts.provider),
                run=f"{self.plan.plan_id}-{position}",
                scenario=scenario,
            ),
            folder=self.places.scratch(self.plan.plan_id, position),
            repositories=self.places.repositories,
            streams=self.places.streams,
            installed=self.places.harnesses,
            cancelled=self.stop.now,
            on_line=lambda text: self.observer.line(planned, text, harness.trace(text)),
        )


def common_protocol(harness: Harness, provider: Provider) -> WireProtocol:
    """The first protocol of the harness that the provider offers.

    Raises:
        ConfigurationError: they share none.
    """
    for protocol in harness.protocols:
        if protocol in provider.protocols:
            return protocol
    raise ConfigurationError(
        f"{harness.name} speaks {', '.join(harness.protocols)}; {provider.name} offers "
        f"{', '.join(provider.protocols)}",
        remedy="choose another provider, or put a proxy that translates between them",
    )
