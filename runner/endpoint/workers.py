"""Workers: processes that share the streams of a load, above the level where one shows a bias."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from types import TracebackType

from runner.endpoint.ask import CutInFlight
from runner.endpoint.breaker import CircuitBreaker
from runner.endpoint.client import circuit_open
from runner.endpoint.exchange import Bounds, Exchange
from runner.endpoint.load import Batch, Played, play, play_with
from runner.endpoint.loops import LoopName, run
from runner.endpoint.reading import read_between
from runner.endpoint.request import AskRequest
from runner.endpoint.result import StreamResult
from runner.endpoint.worker_words import (
    Asked,
    Came,
    End,
    Ended,
    GivenUp,
    Opening,
    Ready,
    Shut,
    Word,
    framed,
    heard,
)
from runner.errors import EndpointError

START_SECONDS = 60.0
END_SECONDS = 5.0
OWN_FAULT = 4
"""Exit code of what no endpoint did."""
BOUNDS = Bounds()


class SharedCircuit:
    """What opens when the requests of all workers together fail too often."""

    def __init__(self, breaker: CircuitBreaker | None) -> None:
        self._breaker = breaker
        self.workers: list[Worker] = []

    @property
    def reason(self) -> str | None:
        """Why it is open; None while it is closed."""
        return None if self._breaker is None else self._breaker.reason

    def observe(self, result: StreamResult) -> None:
        """Take one result into account; where it opens the circuit, every worker is told."""
        if self._breaker is None or self.reason:
            return
        self._breaker.observe(result.outcome, result.http_status)
        reason = self.reason
        if reason is not None:
            for worker in self.workers:
                worker.shut(reason)


class Worker:
    """An ``Ask`` that a process of its own carries out; what came is read here, where nobody is timed.

    A context manager. The process is deaf to Ctrl-C, which is for the run, and ends when this one does.

    Args:
        shared: the circuit of all workers that share the load; it is kept in this process.
    """

    def __init__(self, opening: Opening, shared: SharedCircuit | None = None) -> None:
        self._opening = opening
        self._shared = shared or SharedCircuit(None)
        self._shared.workers.append(self)
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Exchange]] = {}
        self._ready: asyncio.Future[None] | None = None
        self._asked = 0
        self._is_gone = False
        self.ended: Ended | None = None
        """What it took; known when the context was left in order."""

    async def __aenter__(self) -> Worker:
        self._ready = asyncio.get_running_loop().create_future()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "runner.endpoint.worker_process",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._listening = asyncio.create_task(self._listen(self._process))
        has_begun = False
        try:
            self._say(self._opening)
            async with asyncio.timeout(START_SECONDS):
                await self._ready
            has_begun = True
        except TimeoutError:
            raise EndpointError("a process that is to share the load did not start") from None
        finally:
            if not has_begun:
                await self._close()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._say(End())
        await self._close(in_order=kind is None)

    async def __call__(self, request: AskRequest) -> StreamResult:
        """The answer, timed and understood."""
        exchange = await self.exchange(request)
        try:
            result = await read_between(exchange, BOUNDS)
        except asyncio.CancelledError:
            raise CutInFlight from None
        self._shared.observe(result)
        return result

    async def exchange(self, request: AskRequest) -> Exchange:
        """The answer, timed and not yet understood.

        Raises:
            ConfigurationError: the request cannot be sent as it is.
            EndpointError: the process died; what the others measure would be a different load.
        """
        reason = self._shared.reason
        if reason is not None:
            return Exchange(request, datetime.now(UTC), broken=circuit_open(reason))
        self._asked += 1
        number = self._asked
        future: asyncio.Future[Exchange] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            if self._is_gone:
                raise self._gone()
            self._say(Asked(number, request))
            exchange = await future
        except asyncio.CancelledError:
            self._say(GivenUp(number))
            if time.perf_counter_ns() < (request.scheduled_ns or 0):
                raise
            # The process sent it as soon as it was due.
            raise CutInFlight from None
        finally:
            self._waiting.pop(number, None)
        exchange.request = request
        return exchange

    def shut(self, reason: str) -> None:
        """Send nothing more of what waits in the process for its turn."""
        self._say(Shut(reason))

    def _say(self, word: Word) -> None:
        stdin = None if self._process is None else self._process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.write(framed(word))

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            return
        try:
            while (word := await heard(process.stdout)) is not None:
                if isinstance(word, Ready) and self._ready is not None and not self._ready.done():
                    self._ready.set_result(None)
                elif isinstance(word, Ended):
                    self.ended = word
                elif isinstance(word, Came):
                    self._take(word)
        finally:
            # Whatever ended it, nobody may wait for what will not come any more.
            self._lose()

    def _lose(self) -> None:
        self._is_gone = True
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(self._gone())
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(self._gone())

    def _take(self, came: Came) -> None:
        future = self._waiting.get(came.number)
        if future is None or future.done():
            return
        if came.exchange is not None:
            future.set_result(came.exchange)
        else:
            future.set_exception(came.fault or self._gone())

    @staticmethod
    def _gone() -> EndpointError:
        error = EndpointError(
            "a process that asks for its share of the load died", remedy="go on with invoke bench --resume"
        )
        error.exit_code = OWN_FAULT
        return error

    async def _close(self, *, in_order: bool = False) -> None:
        process, listening = self._process, self._listening
        if process is None or listening is None:
            return
        if process.stdin is not None and not in_order:
            process.stdin.close()
        try:
            async with asyncio.timeout(END_SECONDS):
                await process.wait()
                await listening
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            listening.cancel()
        if process.stdin is not None:
            process.stdin.close()


class Workers:
    """Several workers with equal shares of the slots; a context manager."""

    def __init__(self, opening: Opening, count: int, breaker: CircuitBreaker | None = None) -> None:
        shared = SharedCircuit(breaker)
        self.each = tuple(Worker(opening, shared) for _ in range(count))
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> tuple[Worker, ...]:
        has_begun = False
        try:
            async with asyncio.TaskGroup() as group:
                for worker in self.each:
                    group.create_task(self._stack.enter_async_context(worker))
            has_begun = True
        except BaseExceptionGroup as group_of:
            raise group_of.exceptions[0] from None
        finally:
            if not has_begun:
                # Also where the run is given up meanwhile: those that began before are ended.
                await self._stack.aclose()
        return self.each

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, value, trace)


def play_in_workers(batch: Batch, workers: int, loop: LoopName = "asyncio") -> Played:
    """Ask everything in ``batch``, with its sessions dealt out to ``workers`` processes.

    The key goes to them through a pipe, never through arguments or files. Send times planned ahead and the
    stamps that come back are on the clock that all processes of a machine share.

    Raises:
        EndpointError: a worker died, and what the others measured would be a different load; or one did not
            say at its end what it took, and the sum over the others would be too small.
    """
    count = min(workers, len(batch.sessions))
    return run(play(batch) if count <= 1 else _played(batch, count, loop), loop)


async def _played(batch: Batch, count: int, loop: LoopName) -> Played:
    opening = Opening(batch.address, -(-len(batch.sessions) // count), batch.transport, loop)
    workers = Workers(opening, count)
    async with workers as asks:
        taken = await play_with(batch, asks)
    ended = [worker.ended for worker in workers.each if worker.ended is not None]
    if len(ended) < count:
        raise EndpointError("a process that shared the load did not say what it took")
    lags = [each.largest_lag_ms for each in ended if each.largest_lag_ms is not None]
    return Played(
        results=taken.results(),
        cpu_seconds=sum(each.cpu_seconds for each in ended),
        largest_lag_ms=max(lags, default=None),
        workers=count,
    )
