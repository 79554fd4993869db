"""Agent load: real coding agents at work on tasks, so many at a time, each at a task of its own."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from runner.costs.tokens import tokens_processed
from runner.datasets import seal_task
from runner.engine.attempt import clear
from runner.engine.desk import Desk
from runner.engine.desks import Desks
from runner.engine.invoking import Pass, invoke
from runner.errors import HarnessmarkError
from runner.records import InvocationKind, LoadSession, Outcome, PlanRecord, Usage, Workload

PAUSE_SECONDS = 1.0
"""After a session that failed, so that a server in trouble is not stormed."""
LEAST_SECONDS = 1.0
AT_WORK = frozenset({Outcome.COMPLETED, Outcome.INCOMPLETE, Outcome.BUDGET})
"""How a session that kept the server busy to its own end may have ended."""
MAX_ERROR = 300


class TaskSupply:
    """Positions of tasks in rounds of a seeded shuffle; no two hands have one while others are free."""

    def __init__(self, tasks: Sequence[str], seed: int, label: str) -> None:
        self._tasks = tasks
        self._random = random.Random(f"{seed}/{label}")  # noqa: S311 - order of tasks, no secret
        self._left: list[int] = []
        self._in_use: list[int] = []
        self._lock = threading.Lock()

    def take(self) -> int:
        """The next position; it is in use until it is given back."""
        with self._lock:
            if not any(each not in self._in_use for each in self._left):
                fresh = list(range(len(self._tasks)))
                self._random.shuffle(fresh)
                self._left += fresh
            free = [each for each in self._left if each not in self._in_use]
            chosen = free[0] if free else self._left[0]
            self._left.remove(chosen)
            self._in_use.append(chosen)
            return chosen

    def give_back(self, position: int) -> None:
        """Whoever had it is done."""
        with self._lock:
            self._in_use.remove(position)


@dataclass
class AgentLoad:
    """A load of agents. Nothing of what they do is judged or kept but that they did it.

    Args:
        plan: one trial for each task; never stored.
        desks: makes the place of work of a trial.
        workload: what the record says of this load.
        streams: folder for the raw event streams of these sessions.
        seed: orders the tasks.
    """

    plan: PlanRecord
    desks: Desks
    workload: Workload
    streams: Path
    seed: int
    cancelled: threading.Event = field(default_factory=threading.Event)
    _sessions: list[LoadSession] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pool: ThreadPoolExecutor | None = None
    _slots: list[Future[None]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def warm_up(self) -> None:
        """Nothing: what agents need was tried before the sweep began."""

    def begin(self, concurrency: int, seconds: float) -> None:
        """Start so many agents; none is given more than what is left of the level."""
        self.cancelled = threading.Event()
        self._sessions = []
        self._slots = []
        tasks = [each.identity.task for each in self.plan.trials]
        supply = TaskSupply(tasks, self.seed, str(concurrency))
        deadline = time.monotonic() + seconds
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="load")
        for slot in range(concurrency):
            self._slots.append(self._pool.submit(self._slot, slot, supply, deadline, self.cancelled))

    def asked(self) -> None:
        """Agents decide themselves what they ask for."""

    def end(self) -> tuple[LoadSession, ...]:
        """Cut off whoever is still at work; every session since :meth:`begin`, by its start.

        A fault of ours that ended a slot is raised here: the level had fewer agents than it says.
        """
        self.cancelled.set()
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
        for slot in self._slots:
            slot.result()
        return tuple(sorted(self._sessions, key=lambda each: (each.started_at, each.slot)))

    def _slot(self, slot: int, supply: TaskSupply, deadline: float, cancelled: threading.Event) -> None:
        while not cancelled.is_set():
            position = supply.take()
            try:
                session = self._session(slot, position, deadline, cancelled)
            finally:
                supply.give_back(position)
            with self._lock:
                self._sessions.append(session)
            # Without the lock: nobody else is to wait for it.
            if session.status == "error":
                cancelled.wait(PAUSE_SECONDS)

    def _session(self, slot: int, position: int, deadline: float, cancelled: threading.Event) -> LoadSession:
        """One agent at one task, in a scratch folder of its own that is gone afterwards."""
        started_at = datetime.now(UTC)
        task = self.plan.trials[position].identity.task
        passed: Pass | None = None
        error: str | None = None
        try:
            desk = self._desk(position, cancelled)
            try:
                passed = _work(desk, max(deadline - time.monotonic(), LEAST_SECONDS))
            finally:
                clear(desk.folder)
        except (HarnessmarkError, OSError) as failure:
            error = str(failure)
        ended_at = datetime.now(UTC)
        usage = None if passed is None else passed.done.invocation.usage
        if passed is not None and passed.done.outcome not in AT_WORK:
            error = f"{passed.done.outcome.value}: {passed.done.reason}"
        cut = cancelled.is_set() or time.monotonic() >= deadline
        return LoadSession(
            slot=slot,
            task=task,
            status="cutoff" if cut and error is not None else "ok" if error is None else "error",
            started_at=started_at,
            ended_at=ended_at,
            input_tokens=_input_tokens(usage),
            output_tokens=None if usage is None else usage.output_tokens,
            turns=None if passed is None else passed.done.invocation.turns,
            error=None if error is None or cut else " ".join(error.split())[:MAX_ERROR],
        )

    def _desk(self, position: int, cancelled: threading.Event) -> Desk:
        number = next(self._numbers)
        desk = self.desks.desk(position, cancelled)
        folder = self.desks.places.scratch(self.plan.plan_id, number)
        return replace(desk, position=number, folder=folder, streams=self.streams, replaced=None)


def _input_tokens(usage: Usage | None) -> int | None:
    """All that was sent to the model, what came from a cache included."""
    total = tokens_processed(usage)
    return (
        None if total is None or usage is None or usage.output_tokens is None else total - usage.output_tokens
    )


def _work(desk: Desk, seconds: float) -> Pass:
    """One invocation of the agent, for at most ``seconds``."""
    desk.folder.mkdir(parents=True)
    checkout = seal_task(desk.task, desk.folder, dataset_path=desk.dataset_path, cache=desk.repositories)
    limits = desk.settings.limits()
    own = limits.timeout_seconds
    timeout = seconds if own is None else min(own, seconds)
    limits = limits.model_copy(update={"timeout_seconds": timeout})
    return invoke(desk, checkout, InvocationKind.FIRST, 1, limits, first=False)
