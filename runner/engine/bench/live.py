"""Live: what a planned run needs while it runs: endpoints with keys, the log, the user's will to stop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from runner.endpoint.address import EndpointAddress
from runner.endpoint.breaker import CircuitBreaker
from runner.endpoint.recording import Keeping
from runner.endpoint.request import Deadlines
from runner.endpoint.suites.asking import Manner
from runner.endpoint.suites.case import Case
from runner.endpoint.suites.coding.candidate import Workbench
from runner.endpoint.target import Target
from runner.engine.bench.flight import Flight
from runner.engine.bench.ledger import Spending
from runner.engine.stop import Stop
from runner.errors import HarnessmarkError
from runner.records.bench_manifest import BenchManifest, BenchPrice
from runner.records.bench_trial import BenchTrial
from runner.store.bench_run import TrialLog

Progress = Callable[[BenchTrial], None]


@dataclass(frozen=True)
class LiveTarget:
    """A target that can be asked."""

    target: Target
    address: EndpointAddress
    price: BenchPrice
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)

    @property
    def name(self) -> str:
        """Its id."""
        return self.target.identifier


@dataclass(frozen=True)
class Means:
    """All of that."""

    manifest: BenchManifest
    targets: Mapping[str, LiveTarget]
    cases: Mapping[str, Case]
    keeping: Keeping
    workbench: Workbench
    stop: Stop
    spending: Spending
    writer: Writer
    flight: Flight
    progress: Progress
    note: Callable[[str], None]

    def manner(self) -> Manner:
        """How all cases are asked."""
        return manner_of(self.manifest)


def manner_of(manifest: BenchManifest) -> Manner:
    """How all cases of a run are asked."""
    settings, limits = manifest.settings, manifest.settings.deadlines
    return Manner(
        salt=settings.salt,
        base_seed=settings.seed,
        deadlines=Deadlines(
            connect=limits.connect, headers=limits.headers, stall=limits.stall, total=limits.total
        ),
        effort=settings.effort,
        max_output_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        allow_cache=settings.allow_cache,
        allow_fallback=settings.allow_fallback,
        shared_prefix=settings.shared_prefix,
    )


class Writer:
    """Puts trials on the disk from a thread of its own, so that no stream waits for it.

    Args:
        cut: requests that earlier sittings left in flight, given up or killed, by the trials' keys. The line
            of a trial that is made again stands in place of one that told of them, and goes on telling it.
    """

    def __init__(self, log: TrialLog, cut: Mapping[str, int] | None = None) -> None:
        self._log, self._cut = log, cut or {}
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="trials")
        self._begun: set[asyncio.Future[HarnessmarkError | None]] = set()
        self._numbers = count()
        self._waiting: deque[tuple[int, BenchTrial]] = deque()
        self._faults: dict[int, HarnessmarkError | None] = {}
        """Of what is on the disk, or was refused, and is not asked for yet."""

    async def write(self, trial: BenchTrial) -> None:
        """Return when ``trial`` is on the disk.

        Raises:
            StoreError: it could not be written.
        """
        await self._over(self._put(trial))

    def begin(self, trial: BenchTrial) -> None:
        """Begin to write ``trial``; :meth:`flush` waits for it."""
        self._put(trial)

    async def flush(self) -> None:
        """Wait for everything that was begun.

        Raises:
            StoreError: something could not be written.
        """
        while self._begun:
            await self._over(next(iter(self._begun)))

    def _put(self, trial: BenchTrial) -> asyncio.Future[HarnessmarkError | None]:
        before = self._cut.get(trial.key, 0)
        told = trial.model_copy(update={"cut_requests": trial.cut_requests + before}) if before else trial
        self._waiting.append((number := next(self._numbers), told))
        future = asyncio.get_running_loop().run_in_executor(self._pool, self._append, number)
        self._begun.add(future)
        return future

    def _append(self, number: int) -> HarnessmarkError | None:
        """A fault is returned: of several on a full disk only the first is waited for, and is to be told.

        Whatever waits by now is written at once and flushed together: a flush may take longer than an answer,
        and a kill loses what waits behind it.
        """
        if number not in self._faults:
            taken = [self._waiting.popleft() for _ in range(len(self._waiting))]
            found = {each: _fault_of(partial(self._log.write, trial)) for each, trial in taken}
            unsynced = _fault_of(self._log.sync)
            self._faults |= {each: fault or unsynced for each, fault in found.items()}
        return self._faults.pop(number)

    async def _over(self, future: asyncio.Future[HarnessmarkError | None]) -> None:
        """Wait for one. Who gives up waiting does not take back what waits for the disk: it was paid for."""
        try:
            fault = await asyncio.shield(future)
        finally:
            if future.done():
                self._begun.discard(future)
        if fault is not None:
            raise fault

    def close(self) -> None:
        """Wait for the thread, then let go of the file; a second time does nothing."""
        self._pool.shutdown(wait=True)
        self._log.close()


def _fault_of(writes: Callable[[], None]) -> HarnessmarkError | None:
    try:
        writes()
    except HarnessmarkError as error:
        return error
    return None
