"""Shift: one runner at work on a plan, from what is left of it to its summary."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from subprocess import SubprocessError
from typing import Any

from runner.engine.attempt import Attempt, clear, spent_on
from runner.engine.blocks import Block, blocks_of
from runner.engine.desk import Desk
from runner.engine.desks import Desks, Either
from runner.engine.earlier import ended_before
from runner.engine.journal import FailedBlock, Journal
from runner.engine.judging_queue import JudgingQueue
from runner.engine.keeping import is_left, keep, release_held
from runner.engine.planning import by_cell
from runner.engine.run import Run
from runner.engine.sessions import require_windows
from runner.engine.spending import Account, spent_by
from runner.engine.stop import Interrupted
from runner.engine.tally import RunSummary, Tally, stored_trials
from runner.engine.trial_queue import TrialQueue
from runner.engine.wallclock import WallClock
from runner.engine.watching import Watching
from runner.errors import HarnessmarkError, StoreError
from runner.records import CheckRecord, Outcome, TrialRecord

OPENINGS = 2
"""How often a server is started for one block: once more where it failed on the way."""
NOT_SERVED = (HarnessmarkError, OSError, SubprocessError)
SUSPECT = frozenset(Outcome) - {Outcome.COMPLETED, Outcome.BUDGET, Outcome.CANCELLED}
"""Outcomes that a server which is gone may have brought about."""


class Shift:
    """One runner at work; the lock of the plan is held.

    Everything but the trials themselves happens in the thread that calls :meth:`work_off`.
    """

    def __init__(self, run: Run, journal: Journal, wall: WallClock) -> None:
        self.run, self.journal, self.wall = run, journal, wall
        self.failures: list[BaseException] = []
        held = release_held(run.plan, run.places, run.store, run.observer.note)
        cells = {key: group.settings.cell_budget() for key, group in by_cell(run.groups).items()}
        self.account = Account(run.shared.run_budget(), cells)
        self.tally = Tally(run.plan)
        finished = set()
        for position, stored in stored_trials(run.plan, run.store):
            finished.add(position)
            self._count(stored.record, stored.checks)
        left = set(range(len(run.plan.trials))) - finished - held
        for position in left:
            done = ended_before(run.places.scratch(run.plan.plan_id, position))
            if done:
                self.account.begun(position, run.plan.trials[position].identity.cell.key, spent_on(done))
        self.queue = TrialQueue(
            run.plan,
            left,
            account=self.account,
            tally=self.tally,
            wall=wall,
            has_dollar_budget=run.has_dollar_budget,
            warn=run.observer.note,
            refuse=self._refused,
        )
        self.judging = JudgingQueue(
            run.judging,
            self._judged,
            bill=lambda identity, spent: self.account.judged(identity.key, spent),
            refusal=self.account.run_used_up,
        )
        self.watching = Watching(run.places, run.plan.plan_id, run.observer.note)
        self.desks = Desks(
            plan=run.plan,
            groups=run.groups,
            sessions=run.sessions,
            places=run.places,
            isolation=run.isolation,
            scanner=run.scanner,
            concurrency=run.shared.concurrency,
            hear=run.observer.line,
            sign=journal.sign,
            agent=journal.agent,
            may_start=lambda: not run.stop.no_more.is_set() and wall.over() is None,
            watching=self.watching,
        )

    def work_off(self) -> RunSummary:
        """Every block of the plan, then what is left to judge."""
        run = self.run
        run.observer.begun(run.plan, self.tally.finished)
        with ThreadPoolExecutor(run.workers) as self.pool, ThreadPoolExecutor(1) as self.cleaner:
            try:
                for planned in run.plan.trials:
                    if run.store.has_trial(planned.identity):
                        self.judging.put(planned.identity)
                for block in blocks_of(run.plan, run.sessions.keys):
                    self._block(block)
            finally:
                self.journal.say(phase="judging", model=None)
                self.judging.close(give_up=lambda: self.is_over or self.wall.past_end() is not None)
        summary = self.summary()
        if self.failures:
            raise self.failures[0]
        code = summary.exit_code(run.shared.fail_under)
        self.journal.end(exit_code=code)
        run.notifier.tell("ended", summary, reason="; ".join(summary.reasons), exit_code=code)
        return summary

    @property
    def is_over(self) -> bool:
        """Whether nothing is to start any more."""
        return bool(self.failures) or self.run.stop.no_more.is_set()

    def summary(self) -> RunSummary:
        """How the run stands."""
        state = self.journal.state
        return self.tally.summary(
            failed=state.failed, not_judged=dict(self.judging.failed), reasons=state.reasons
        )

    def _block(self, block: Block) -> None:
        """Serve the models of a block and run its trials; where they cannot be served, say so and go on."""
        run, reason = self.run, None
        models = block.models(run.plan)
        for _ in range(OPENINGS):
            if self.is_over or not self.queue.has_any(block.positions):
                return
            reason = self._serve(block, ", ".join(models))
            if reason is not None:
                run.observer.note(f"{', '.join(models)} cannot be served: {reason}")
        if reason is not None and self.queue.has_any(block.positions):
            self._not_served(models, reason, block.key)

    def _not_served(self, models: tuple[str, ...], reason: str, key: str | None) -> None:
        failed = FailedBlock(key=key or "", models=models, reason=reason[:1000])
        if failed not in self.journal.state.failed:
            self.journal.say(failed=(*self.journal.state.failed, failed))
            self.run.notifier.tell("model-failed", self.summary(), reason=f"{', '.join(models)}: {reason}")

    def _serve(self, block: Block, models: str) -> str | None:
        """Run a block; why its models could not be served to its end, or None."""
        run, served = self.run, ExitStack()
        if block.key is None:
            return self._watched(block)
        self.journal.say(phase="switching", model=models)
        try:
            with run.stop.interrupting():
                served.enter_context(run.sessions.opened(block.key, run.observer.note))
                for warning in require_windows(run.groups, run.sessions, block.key):
                    run.observer.note(warning)
        except Interrupted:
            self._close(served)
            return None
        except NOT_SERVED as error:
            self._close(served)
            return self._why(error)
        try:
            self.journal.say(phase="running", model=models)
            return self._watched(block)
        finally:
            self._close(served)

    def _close(self, served: ExitStack) -> None:
        try:
            served.close()
        except NOT_SERVED as error:
            self.run.observer.note(f"a server could not be stopped in order: {self._why(error)}")

    def _why(self, error: BaseException) -> str:
        """What ``error`` says, on one line; a server's own words may hold its key."""
        return self.run.scanner.mask(" ".join(str(error).split()))

    def _watched(self, block: Block) -> str | None:
        """Run a block while its servers' metrics are collected."""
        cells = [self.run.plan.trials[position].identity.cell for position in block.positions]
        known = {cell.key: cell for cell in cells}.values()
        with self.watching.of([(cell, self.run.sessions.of(cell)) for cell in known]):
            return self._work(block)

    def _work(self, block: Block) -> str | None:
        """Run what is left of a block whose models are reachable; why their server was lost, or None."""
        self.queue.begin(block.positions)
        lost: str | None = None
        gone = Either(self.run.stop.now)
        at_work: dict[Future[Attempt], Desk] = {}
        judged: dict[Future[None], None] = {}
        while True:
            while len(at_work) + len(judged) < self.run.workers and not self.is_over and lost is None:
                position = self.queue.next()
                if position is None:
                    break
                try:
                    desk = self.desks.desk(position, gone)
                except HarnessmarkError as error:
                    lost = self._unreachable(position, error, block.key)
                    continue
                self.journal.begins(position)
                at_work[self.pool.submit(self.run.work, desk)] = desk
            if lost is not None:
                gone.set()
            if not at_work and not judged:
                return lost
            pending: list[Future[Any]] = [*at_work, *judged]
            done, _ = wait(pending, self._patience(), FIRST_COMPLETED)
            self._mind_the_clock()
            for future in [each for each in at_work if each in done]:
                desk = at_work.pop(future)
                lost = self._ended(desk, future, block.key) or lost
                if self.judging.inline and self.judging.lacks_stored(desk.planned.identity, self.run.store):
                    judged[self.pool.submit(self.judging.judge_here, desk.planned.identity)] = None
            for judgement in [each for each in judged if each in done]:
                del judged[judgement]
                self._noted(judgement.exception())

    def _unreachable(self, position: int, error: HarnessmarkError, key: str | None) -> str | None:
        """A trial cannot even begin; the reason where its whole block is at an end."""
        reason, cell = self._why(error), self.run.plan.trials[position].identity.cell
        self.queue.put_back(position)
        if key is not None:
            return reason
        self._without({cell.key}, cell.served_model, reason)
        return None

    def _without(self, cells: set[tuple[str, ...]], model: str, reason: str) -> None:
        """Go on without cells whose model may be lost while others are not."""
        self.queue.leave(cells)
        self.run.observer.note(f"{model} cannot be served: {reason}")
        self._not_served((model,), reason, None)

    def _ended(self, desk: Desk, future: Future[Attempt], key: str | None) -> str | None:
        """Keep what came of a trial; what is wrong with its server, where that ends its whole block."""
        fault = None
        if not self._noted(future.exception()):
            result, cell = future.result(), desk.planned.identity.cell
            if result.trial.outcome in SUSPECT:
                fault = self.run.sessions.fault(cell)
            if fault is not None:
                fault = desk.mask().text(fault)
                result = _blamed(result, fault)
                if key is None:
                    self._without(self.run.sessions.sharing(cell), cell.served_model, fault)
            self._kept(desk, result)
        self.journal.leaves(desk.position)
        return None if key is None else fault

    def _kept(self, desk: Desk, result: Attempt) -> None:
        run = self.run
        if result.trial.outcome is Outcome.CANCELLED:
            self.queue.put_back(desk.position)
            if result.trial.invocations:
                cell = desk.planned.identity.cell.key
                self.account.begun(desk.position, cell, spent_by(result.trial))
        else:
            try:
                written = keep(result, run.places, run.store, run.observer.note)
            except StoreError as error:
                self._noted(error)
                return
            if written:
                self._count(result.counted, result.checks)
                run.observer.ended(desk.planned, result, self.summary())
                if not self.judging.inline:
                    self.judging.put(desk.planned.identity)
        if not is_left(result):
            self.cleaner.submit(clear, desk.folder)

    def _noted(self, failure: BaseException | None) -> bool:
        """Whether there was a failure of ours; after one nothing starts any more."""
        if failure is not None:
            self.failures.append(failure)
            self.run.stop.no_more.set()
        return failure is not None

    def _count(self, record: TrialRecord, checks: Sequence[CheckRecord]) -> None:
        self.tally.add(record, checks)
        self.account.add(record)

    def _refused(self, reason: str, of_the_run: bool) -> None:
        self.run.observer.note(reason)
        self.journal.add_reason(reason)
        if of_the_run:
            self.run.notifier.tell("budget", self.summary(), reason=reason)

    def _judged(self, queue: JudgingQueue) -> None:
        self.journal.say(judging=queue.waiting, not_judged=dict(queue.failed))

    def _patience(self) -> float | None:
        """Seconds to wait for a trial before the clock is looked at again."""
        return None if self.run.stop.now.is_set() else self.wall.until_end()

    def _mind_the_clock(self) -> None:
        reason = self.wall.past_end()
        if reason is not None and not self.run.stop.now.is_set():
            self._refused(reason, of_the_run=True)
            self.run.stop.no_more.set()
            self.run.stop.now.set()


def _blamed(result: Attempt, fault: str) -> Attempt:
    """``result`` as what it is: our server failed, which says nothing about the model."""
    trial = result.trial
    reason = f"the model's server failed: {fault} (seen as {trial.outcome.value}: {trial.outcome_reason})"
    changed = trial.model_copy(update={"outcome": Outcome.INFRASTRUCTURE, "outcome_reason": reason[:1000]})
    return replace(result, trial=changed)
