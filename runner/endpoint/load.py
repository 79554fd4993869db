"""Load: many streams at once against one endpoint, each asking in turn, read when all are over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from runner.endpoint.address import EndpointAddress
from runner.endpoint.client import StreamClient, Transport
from runner.endpoint.exchange import Exchange
from runner.endpoint.garbage import without_collection
from runner.endpoint.reading import read
from runner.endpoint.request import AskRequest
from runner.endpoint.result import StreamResult

NS = 1_000_000_000


@dataclass(frozen=True)
class Session:
    """One stream: its requests in turn, the first not before ``begin_ns`` (``time.perf_counter_ns``).

    Where a process is late for its first stream, all its streams begin later by as much. Times that must be
    kept are those of the requests (``scheduled_ns``).
    """

    requests: tuple[AskRequest, ...]
    begin_ns: int = 0


@dataclass(frozen=True)
class Batch:
    """What one process is to ask: sessions side by side, each with a connection of its own."""

    address: EndpointAddress
    sessions: tuple[Session, ...]
    transport: Transport = "asyncio"

    def split(self, parts: int) -> list[Batch]:
        """The sessions dealt out like cards to at most ``parts`` batches, none of them empty."""
        dealt = [self.sessions[number::parts] for number in range(parts)]
        return [replace(self, sessions=sessions) for sessions in dealt if sessions]


@dataclass(frozen=True)
class Played:
    """What came of a batch."""

    results: tuple[StreamResult, ...]
    cpu_seconds: float
    """Of the processes that asked, while they asked; reading the answers is not in it."""
    largest_lag_ms: float | None
    workers: int = 1


@dataclass
class _Taken:
    exchanges: list[Exchange] = field(default_factory=list)
    lag_ms: float | None = None


async def play(batch: Batch) -> Played:
    """Ask everything in ``batch`` in this process; answers are read when no stream is open any more."""
    taken = _Taken()
    with without_collection():
        begun_cpu = time.process_time()
        async with StreamClient(
            batch.address, slots=max(1, len(batch.sessions)), transport=batch.transport
        ) as client:
            begun_ns = time.perf_counter_ns()
            # Whoever starts late keeps the distances between streams: a burst would be another load.
            late = max(0, begun_ns - min((each.begin_ns for each in batch.sessions), default=0))
            async with asyncio.TaskGroup() as group:
                for session in batch.sessions:
                    group.create_task(_ask_in_turn(client, session, session.begin_ns + late, taken))
            taken.lag_ms = client.lag.largest_ms_since(begun_ns)
        spent = time.process_time() - begun_cpu
    return Played(tuple(read(exchange) for exchange in taken.exchanges), spent, taken.lag_ms)


def merged(parts: Sequence[Played]) -> Played:
    """Several processes' work as one."""
    lags = [part.largest_lag_ms for part in parts if part.largest_lag_ms is not None]
    return Played(
        results=tuple(result for part in parts for result in part.results),
        cpu_seconds=sum(part.cpu_seconds for part in parts),
        largest_lag_ms=max(lags, default=None),
        workers=len(parts),
    )


async def _ask_in_turn(client: StreamClient, session: Session, begin_ns: int, taken: _Taken) -> None:
    wait = (begin_ns - time.perf_counter_ns()) / NS
    if wait > 0:
        await asyncio.sleep(wait)
    for request in session.requests:
        taken.exchanges.append(await client.exchange(request))
