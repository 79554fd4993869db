"""Running: the trials of a plan, several at a time, each written the moment it ends."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Protocol

from runner.engine.attempt import Attempt, attempt, clear
from runner.engine.desk import Desk
from runner.engine.isolation import Isolation
from runner.engine.lock import locked
from runner.engine.places import Places
from runner.engine.planning import Group, by_cell
from runner.engine.quarantine import Quarantine
from runner.engine.resuming import require_undamaged
from runner.engine.server_window import Crowd
from runner.engine.sessions import Sessions, common_protocol
from runner.engine.settings import RunSettings
from runner.engine.spending import Account, Budget, dollars_billed
from runner.errors import SecretFound, StoreError
from runner.records import Outcome, PlannedTrial, PlanRecord
from runner.secrets import Scanner
from runner.store import ResultsStore

EXIT_DONE, EXIT_BELOW_THRESHOLD, EXIT_PARTIAL = 0, 2, 3


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
    """How a run stands: what was planned, what is written, and what it cost at least."""

    plan_id: str
    planned: int
    finished: int
    outcomes: Mapping[str, int]
    resolved: int
    graded: int
    spent_usd: float
    """Of the trials whose cost is known."""
    unpriced: int
    """Trials that an agent worked on and whose cost is unknown."""

    def exit_code(self, fail_under: float | None) -> int:
        """0 done, 2 done but fewer resolved than asked, 3 trials or grades are missing or our side failed."""
        missing = self.finished < self.planned or self.graded < self.finished
        if missing or self.outcomes.get(Outcome.INFRASTRUCTURE):
            return EXIT_PARTIAL
        # 55 / 100 x 20 is a little more than 11 in binary; 55 x 20 is exact.
        if fail_under is not None and self.resolved * 100 < fail_under * self.planned:
            return EXIT_BELOW_THRESHOLD
        return EXIT_DONE


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


def run_plan(run: Run) -> RunSummary:
    """Run every trial of the plan that the store does not hold yet.

    Each finished trial is written before the next one starts in its place, so a killed run loses only what
    was in flight, and what that had spent is counted when it runs again. A cancelled trial is not written:
    resuming runs it again. A trial that holds a secret is kept in quarantine and not run again. Where a trial
    cannot be written, or we fail at one, no other starts, those in flight are still waited for and written,
    and then the first failure is raised.
    """
    plan, store = run.plan, run.store
    with locked(run.places.lock(plan.plan_id), wait=False, holder=f"another runner of {plan.plan_id}"):
        store.clear_interrupted(plan)
        store.adopt(plan)
        require_undamaged(plan, store)
        _clear_written(run)
        held = _release_held(run)
        tally = _Tally(run)
        queue = _Queue(run, tally, held)
        run.observer.begun(plan, tally.finished)
        desks = _Desks(run)
        with ThreadPoolExecutor(run.workers) as pool, ThreadPoolExecutor(1) as cleaner:
            running: dict[Future[Attempt], Desk] = {}
            failures: list[BaseException] = []
            while True:
                while len(running) < run.workers and not run.stop.no_more.is_set():
                    position_and_trial = queue.next()
                    if position_and_trial is None:
                        break
                    desk = desks.desk(*position_and_trial)
                    running[pool.submit(attempt, desk)] = desk
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    desk = running.pop(future)
                    failure = _kept(run, tally, desk.planned, future)
                    if failure is not None:
                        failures.append(failure)
                        run.stop.no_more.set()
                    elif not _is_left(future.result()):
                        cleaner.submit(clear, desk.folder)
    with contextlib.suppress(OSError):
        run.places.scratch(plan.plan_id, 0).parent.rmdir()
    if failures:
        raise failures[0]
    return tally.summary()


def _is_left(result: Attempt) -> bool:
    """Whether the next runner needs the scratch folder: the trial was stopped while an agent worked."""
    return result.trial.outcome is Outcome.CANCELLED and bool(result.trial.invocations)


def _clear_written(run: Run) -> None:
    """Remove scratch folders of trials whose record a killed runner wrote last."""
    for position, planned in enumerate(run.plan.trials):
        folder = run.places.scratch(run.plan.plan_id, position)
        if folder.exists() and run.store.has_trial(planned.identity):
            clear(folder)


def _kept(run: Run, tally: _Tally, planned: PlannedTrial, future: Future[Attempt]) -> BaseException | None:
    """Keep what came of a trial; why that could not be done."""
    failure = future.exception()
    if failure is not None:
        return failure
    result = future.result()
    try:
        if result.trial.outcome is not Outcome.CANCELLED:
            _keep(run, tally, planned, result)
    except StoreError as error:
        return error
    return None


def _keep(run: Run, tally: _Tally, planned: PlannedTrial, result: Attempt) -> None:
    """Write a finished trial, or hold it where it holds a secret."""
    try:
        run.store.write_trial(result.trial, checks=result.checks, artifacts=result.artifacts)
    except SecretFound as found:
        folder = Quarantine(run.places.quarantine).hold(result, found)
        shown = folder.relative_to(run.places.root)
        run.observer.note(
            f"{found.message()}\n  the finished trial is kept whole in {shown}; resume the plan "
            f"to write it once it may be, or delete that folder to run it again"
        )
    else:
        tally.add(result)
        run.observer.ended(planned, result, tally.summary())


def _release_held(run: Run) -> set[int]:
    """Write what an earlier run held and may be written now; positions of what is still held."""
    held = set()
    quarantine = Quarantine(run.places.quarantine)
    for position, planned in enumerate(run.plan.trials):
        if not run.store.has_trial(planned.identity):
            reason = quarantine.release(run.plan.plan_id, position, planned, run.store)
            if reason is not None:
                held.add(position)
                run.observer.note(f"trial {position} is in quarantine and not run again: {reason}")
    return held


class _Queue:
    """The trials to run, in the order of the plan, as long as budgets last."""

    def __init__(self, run: Run, tally: _Tally, held: set[int]) -> None:
        self._run, self._tally = run, tally
        self._left = iter(
            [
                (position, planned)
                for position, planned in enumerate(run.plan.trials)
                if position not in held and not run.store.has_trial(planned.identity)
            ]
        )
        self._said: set[str] = set()

    def next(self) -> tuple[int, PlannedTrial] | None:
        """The next trial with its position; None when there is none that may start."""
        account = self._tally.account
        if self._tally.unpriced and self._run.has_dollar_budget:
            self._say("a budget in dollars cannot be kept: the cost of finished trials is unknown")
        if reason := account.run_used_up():
            self._say(reason)
            return None
        for position, planned in self._left:
            reason = account.cell_used_up(planned.identity.cell.key)
            if reason is None:
                return position, planned
            self._say(reason)
        return None

    def _say(self, reason: str) -> None:
        if reason not in self._said:
            self._said.add(reason)
            self._run.observer.note(reason)


class _Tally:
    """Counts of a run, from the store at the start and from each trial after."""

    def __init__(self, run: Run) -> None:
        self.plan = run.plan
        self.finished = self.resolved = self.graded = self.unpriced = 0
        self.spent = 0.0
        self.outcomes: Counter[str] = Counter()
        cells = {key: group.settings.cell_budget() for key, group in by_cell(run.groups).items()}
        self.account = Account(run.shared.run_budget(), cells)
        for planned in run.plan.trials:
            if run.store.has_trial(planned.identity):
                stored = run.store.trial(planned.identity)
                self.add(Attempt(stored.record, stored.checks, {}))

    def add(self, result: Attempt) -> None:
        """Count one finished trial."""
        self.finished += 1
        self.outcomes[result.trial.outcome] += 1
        self.graded += result.resolved is not None
        self.resolved += result.resolved is True
        self.account.add(result.trial)
        billed = dollars_billed(result.trial.costs)
        if billed is not None:
            self.spent += billed
        elif result.trial.invocations and not result.trial.demonstration:
            self.unpriced += 1

    def summary(self) -> RunSummary:
        """The counts as a value."""
        return RunSummary(
            plan_id=self.plan.plan_id,
            planned=len(self.plan.trials),
            finished=self.finished,
            outcomes=dict(self.outcomes),
            resolved=self.resolved,
            graded=self.graded,
            spent_usd=self.spent,
            unpriced=self.unpriced,
        )


class _Desks:
    """Makes the desk of each trial."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._group_of = by_cell(run.groups)
        self._slots = threading.Semaphore(run.shared.concurrency)
        self._crowd = Crowd()

    def desk(self, position: int, planned: PlannedTrial) -> Desk:
        """Everything the trial at ``position`` needs."""
        run, cell = self._run, planned.identity.cell
        group = self._group_of[cell.key]
        parts, settings = group.parts, group.settings
        harness, session = parts.harnesses[cell.harness], run.sessions.of(cell)
        name = f"{run.plan.plan_id}-{position}"
        return Desk(
            planned=planned,
            position=position,
            plan_id=run.plan.plan_id,
            demonstration=run.plan.demonstration,
            hosting=settings.hosting or parts.provider.hosting,
            settings=settings,
            task=parts.dataset.task_by_id(planned.identity.task),
            dataset_path=parts.dataset_path,
            harness=harness,
            skill=parts.skills[cell.skill],
            endpoint=session.endpoint(
                common_protocol(harness, parts.provider, settings.protocol, cell.model.raw_id),
                run=name,
                scenario=f"{parts.dataset.scope}/{planned.identity.task}",
            ),
            folder=run.places.scratch(run.plan.plan_id, position),
            repositories=run.places.repositories,
            streams=run.places.streams,
            installed=run.places.harnesses,
            isolation=run.isolation,
            cancelled=run.stop.now,
            on_line=lambda text: run.observer.line(planned, text, harness.trace(text)),
            scanner=run.scanner,
            slot=self._slots,
            may_start=lambda: not run.stop.no_more.is_set(),
            replaced=run.places.replaced(run.plan.plan_id, position),
            project=run.places.root,
            crowd=self._crowd,
            counters=session.counters,
        )
