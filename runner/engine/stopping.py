"""Stopping: asks a runner to stop, by a signal to the very process that said it is at work."""

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
from runner.engine.works import Work, all_works, find_work
from runner.errors import UsageError

ANSWER_SECONDS = 30.0
LOOK_SECONDS = 0.05
BEFORE_TRIALS = frozenset({"pre-flight", "calibrating"})


def stop_command(places: Places, say: Callable[[str], None], *, plan_id: str | None, now: bool) -> int:
    """Ask a runner to start nothing more, and with ``now`` to stop what is in flight too.

    A sweep has one level in hand, which counts only when it is whole: it is given up either way.

    Args:
        plan_id: id of one of them; None for the only one that somebody is at work on.

    Raises:
        UsageError: nobody is at work, or it cannot be told which one is meant.
    """
    work = _work(places, plan_id)
    state = _at_work(places, work)
    process = Process(state.pid, state.started or 0)
    if not state.stopping:
        _send(process)
        state = _answer(places, work, process)
    if now and state.ended_at is None and state.stopping != "now":
        _send(process)
        state = _answer(places, work, process, wanted="now")
    latest = read_state(places.state(work.name)) or state
    name = work.identifier
    if (latest.ended_at is not None or not is_alive(process)) and not _is_kept(places, work):
        say(f"the runner of {name} has ended before its first trial; nothing was measured")
        return 0
    if latest.ended_at is not None or not is_alive(process):
        say(f"the runner of {name} has ended")
    elif latest.phase in BEFORE_TRIALS:
        say(f"the runner of {name} ends before its first trial")
    elif latest.stopping == "now" and work.kind == "sweep":
        say(f"the runner of {name} gives up the level in hand; it is measured again on resume")
    elif latest.stopping == "now":
        say(f"the runner of {name} is stopping the trials in flight; they will run again on resume")
    elif not latest.stopping:
        say(f"the runner of {name} was asked to stop, but has not answered yet")
    else:
        count = f"{len(latest.running)} " if work.kind == "run" else ""
        say(f"the runner of {name} starts nothing more; {count}trials in flight are finished first")
        say(f"stop them too: invoke stop --plan {name} --now")
    say(f"look at it: invoke status --plan {name}")
    return 0


def _work(places: Places, identifier: str | None) -> Work:
    """What is meant."""
    if identifier is not None:
        return find_work(identifier, places)
    busy = [work for work in all_works(places) if _is_busy(places, work)]
    if len(busy) != 1:
        names = ", ".join(work.identifier for work in busy)
        what = f"several are at work: {names}" if busy else "nobody is at work on a plan or a measurement"
        raise UsageError(what, remedy="invoke status shows what is unfinished; --plan names one")
    return busy[0]


def _is_kept(places: Places, work: Work) -> bool:
    """Whether there is a file of it in the store; a benchmark that is prepared has none yet."""
    return any(each.name == work.name for each in all_works(places))


def _at_work(places: Places, work: Work) -> RunState:
    """What the runner that is meant says of itself."""
    name, state, locked = work.identifier, read_state(places.state(work.name)), _is_busy(places, work)
    if not locked or state is None or state.ended_at is not None or not writer_is_alive(state):
        raise UsageError(
            f"nobody is at work on {name}" if not locked else f"the runner of {name} has just begun",
            remedy=f"invoke status --plan {name}",
        )
    if state.started is None and sys.platform.startswith("linux"):
        raise UsageError(f"which process works on {name} is not known", remedy="press Ctrl-C where it runs")
    return state


def _is_busy(places: Places, work: Work) -> bool:
    """Whether somebody works on it. A runner holds its lock for a moment after it said that it ended."""
    if not is_locked(places.lock(work.name)):
        return False
    state = read_state(places.state(work.name))
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


def _answer(places: Places, work: Work, process: Process, *, wanted: str = "") -> RunState:
    """Wait until the runner says that it has heard."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while True:
        state = read_state(places.state(work.name))
        if state is not None and (state.ended_at is not None or (state.stopping and not wanted)):
            return state
        if state is not None and wanted and state.stopping == wanted:
            return state
        if not is_alive(process) or time.monotonic() > deadline:
            if state is None:
                raise UsageError(f"what the runner of {work.identifier} says of itself is gone")
            return state
        time.sleep(LOOK_SECONDS)
