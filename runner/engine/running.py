"""Running: a plan taken up, its lock held, its journal kept, until nothing is left that may run."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime

from runner.engine.journal import Journal, RunState, read_state
from runner.engine.keeping import clear_written
from runner.engine.lock import locked
from runner.engine.processes import identify
from runner.engine.resuming import require_undamaged
from runner.engine.run import Observer, Run
from runner.engine.shift import Shift
from runner.engine.stop import Stop
from runner.engine.tally import EXIT_BELOW_THRESHOLD, EXIT_DONE, EXIT_PARTIAL, RunSummary
from runner.engine.wallclock import WallClock

__all__ = [
    "EXIT_BELOW_THRESHOLD",
    "EXIT_DONE",
    "EXIT_PARTIAL",
    "Observer",
    "Run",
    "RunSummary",
    "Stop",
    "run_plan",
]


def run_plan(run: Run) -> RunSummary:
    """Run every trial of the plan that the store does not hold yet.

    Models that take turns on a server are served one after the other; where one cannot be served, its trials
    are left and the others go on. Each finished trial is written before the next one starts in its place, so
    a killed run loses only what was in flight, and what that had spent is counted when it runs again. A
    cancelled trial is not written: resuming runs it again. A trial that holds a secret is kept in quarantine
    and not run again. Where a trial cannot be written, or we fail at one, no other starts, those in flight
    are still waited for and written, and then the first failure is raised.
    """
    plan, store, places = run.plan, run.store, run.places
    with locked(places.lock(plan.plan_id), wait=False, holder=f"another runner of {plan.plan_id}"):
        store.clear_interrupted(plan)
        store.adopt(plan)
        require_undamaged(plan, store)
        clear_written(plan, places, store)
        before = read_state(places.state(plan.plan_id))
        wall = WallClock(
            run.shared.max_hours,
            run.shared.end_hours,
            0.0 if before is None else before.worked_seconds,
            run.clock,
        )
        journal = Journal(
            places.state(plan.plan_id),
            _first_state(run),
            seconds=wall.seconds,
            stopping=run.stop.state,
            mask=run.scanner.mask,
        )
        try:
            with journal:
                summary = _worked_off(run, Shift(run, journal, wall))
        finally:
            run.notifier.close()
    with contextlib.suppress(OSError):
        places.scratch(plan.plan_id, 0).parent.rmdir()
    return summary


def _worked_off(run: Run, shift: Shift) -> RunSummary:
    try:
        return shift.work_off()
    except BaseException as error:
        # Who waits for word is told of a stop by Ctrl-C as of a fault.
        reason = run.scanner.mask(" ".join(str(error).split())) or type(error).__name__
        run.notifier.tell("failed", shift.summary(), reason=reason)
        raise


def _first_state(run: Run) -> RunState:
    me, now = identify(os.getpid()), datetime.now(UTC)
    return RunState(
        plan_id=run.plan.plan_id,
        pid=os.getpid(),
        started=None if me is None else me.started,
        begun_at=now,
        heartbeat=now,
        log=run.log,
        concurrency=run.shared.concurrency,
    )
