"""Stopping: asks the runner of a plan to stop, by a signal to the very process that said it is at work."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable

from runner.engine.journal import RunState, read_state, writer_is_alive
from runner.engine.lock import is_locked
from runner.engine.places import Places
from runner.engine.processes import Process, is_alive
from runner.engine.resuming import all_plans, find_any_plan
from runner.errors import UsageError

ANSWER_SECONDS = 30.0
LOOK_SECONDS = 0.05


def stop_command(places: Places, say: Callable[[str], None], *, plan_id: str | None, now: bool) -> int:
    """Ask the runner of a plan to start nothing more, and with ``now`` to stop what is in flight too.

    Args:
        plan_id: None for the only plan that somebody is at work on.

    Raises:
        UsageError: nobody is at work, or it cannot be told which plan is meant.
    """
    state = _at_work(places, plan_id)
    path, process = places.state(state.plan_id), Process(state.pid, state.started or 0)
    if not state.stopping:
        _send(process)
        state = _answer(places, state.plan_id, process)
    if now and state.ended_at is None and state.stopping != "now":
        _send(process)
        state = _answer(places, state.plan_id, process, wanted="now")
    latest = read_state(path) or state
    if latest.ended_at is not None or not is_alive(process):
        say(f"the runner of {state.plan_id} has ended")
    elif latest.stopping == "now":
        say(f"the runner of {state.plan_id} is stopping the trials in flight; they will run again on resume")
    elif not latest.stopping:
        say(f"the runner of {state.plan_id} was asked to stop, but has not answered yet")
    else:
        count = len(latest.running)
        say(f"the runner of {state.plan_id} starts nothing more; {count} trials in flight are finished first")
        say(f"stop them too: invoke stop --plan {state.plan_id} --now")
    say(f"look at it: invoke status --plan {state.plan_id}")
    return 0


def _at_work(places: Places, plan_id: str | None) -> RunState:
    """What the runner that is meant says of itself."""
    if plan_id is None:
        busy = [plan.plan_id for plan, _ in all_plans(places) if _is_busy(places, plan.plan_id)]
        if len(busy) != 1:
            what = "nobody is at work on a plan" if not busy else f"several are at work: {', '.join(busy)}"
            raise UsageError(what, remedy="invoke status shows what is unfinished; --plan names one")
        plan_id = busy[0]
    plan_id = find_any_plan(plan_id, places)[0].plan_id
    state = read_state(places.state(plan_id))
    locked = _is_busy(places, plan_id)
    if not locked or state is None or state.ended_at is not None or not writer_is_alive(state):
        raise UsageError(
            f"nobody is at work on {plan_id}" if not locked else f"the runner of {plan_id} has just begun",
            remedy=f"invoke status --plan {plan_id}",
        )
    if state.started is None and sys.platform.startswith("linux"):
        raise UsageError(
            f"which process works on {plan_id} is not known", remedy="press Ctrl-C where it runs"
        )
    return state


def _is_busy(places: Places, plan_id: str) -> bool:
    """Whether somebody works on a plan. A runner holds its lock for a moment after it said that it ended."""
    if not is_locked(places.lock(plan_id)):
        return False
    state = read_state(places.state(plan_id))
    return state is None or state.ended_at is None or not writer_is_alive(state)


def _send(process: Process) -> None:
    """The polite signal, if it is still the same process."""
    if not sys.platform.startswith("linux"):
        os.kill(process.pid, signal.SIGTERM)
        return
    try:
        # The descriptor stands for one process: looked at after it is open, it cannot be another one's.
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        if is_alive(process):
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
    except ProcessLookupError:
        return
    finally:
        os.close(descriptor)


def _answer(places: Places, plan_id: str, process: Process, *, wanted: str = "") -> RunState:
    """Wait until the runner says that it has heard."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while True:
        state = read_state(places.state(plan_id))
        if state is not None and (state.ended_at is not None or (state.stopping and not wanted)):
            return state
        if state is not None and wanted and state.stopping == wanted:
            return state
        if not is_alive(process) or time.monotonic() > deadline:
            if state is None:
                raise UsageError(f"what the runner of {plan_id} says of itself is gone")
            return state
        time.sleep(LOOK_SECONDS)
