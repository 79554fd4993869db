"""Load: many streams at once against one endpoint, each asking in turn, read when all are over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol as Interface

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
    """What is to be asked: sessions side by side, each with a connection of its own.

    ``read_at_once``: each answer is read as soon as it is over, while others are in flight, as a benchmark
    does; else all are read when none is any more.
    """

    address: EndpointAddress
    sessions: tuple[Session, ...]
    transport: Transport = "asyncio"
    read_at_once: bool = False


@dataclass(frozen=True)
class Played:
    """What came of a batch."""

    results: tuple[StreamResult, ...]
    cpu_seconds: float
    """Of the processes that asked, while they asked; reading the answers afterwards is not in it."""
    largest_lag_ms: float | None
    workers: int = 1


class Client(Interface):
    """Who can ask: in this process, or in one of its own."""

    async def __call__(self, request: AskRequest) -> StreamResult:
        """The answer, understood."""
        ...

    async def exchange(self, request: AskRequest) -> Exchange:
        """The answer, not yet understood."""
        ...


@dataclass
class Taken:
    """What was read at once, and what is still to be read."""

    read: list[StreamResult] = field(default_factory=list)
    unread: list[Exchange] = field(default_factory=list)

    def results(self) -> tuple[StreamResult, ...]:
        """Everything, read."""
        return (*self.read, *(read(exchange) for exchange in self.unread))


async def play(batch: Batch) -> Played:
    """Ask everything in ``batch`` in this process."""
    with without_collection():
        begun_cpu = time.process_time()
        async with StreamClient(
            batch.address, slots=max(1, len(batch.sessions)), transport=batch.transport
        ) as client:
            begun_ns = time.perf_counter_ns()
            taken = await play_with(batch, (client,))
            lag = client.lag.largest_ms_since(begun_ns)
        spent = time.process_time() - begun_cpu
    return Played(taken.results(), spent, lag)


async def play_with(batch: Batch, clients: Sequence[Client]) -> Taken:
    """Ask everything in ``batch``, its sessions dealt out to the clients like cards."""
    taken = Taken()
    # Whoever starts late keeps the distances between streams: a burst would be another load.
    late = max(0, time.perf_counter_ns() - min((each.begin_ns for each in batch.sessions), default=0))
    async with asyncio.TaskGroup() as group:
        for number, session in enumerate(batch.sessions):
            client = clients[number % len(clients)]
            group.create_task(_ask_in_turn(client, session, session.begin_ns + late, taken, batch))
    return taken


async def _ask_in_turn(client: Client, session: Session, begin_ns: int, taken: Taken, batch: Batch) -> None:
    wait = (begin_ns - time.perf_counter_ns()) / NS
    if wait > 0:
        await asyncio.sleep(wait)
    for request in session.requests:
        if batch.read_at_once:
            taken.read.append(await client(request))
        else:
            taken.unread.append(await client.exchange(request))
