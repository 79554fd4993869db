"""StreamClient: asks one endpoint, a fixed number of requests at a time, and measures each."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal

import httpx

from runner.endpoint.address import EndpointAddress, build
from runner.endpoint.ask import CutInFlight
from runner.endpoint.breaker import CircuitBreaker
from runner.endpoint.carrier import Carrier
from runner.endpoint.exchange import Bounds, Broken, Exchange
from runner.endpoint.httpx_carrier import HttpxCarrier
from runner.endpoint.lag import LagMonitor
from runner.endpoint.reading import read_between
from runner.endpoint.request import AskRequest
from runner.endpoint.result import Failure, Outcome, Phase, StreamResult
from runner.endpoint.retry_after import retry_after_seconds
from runner.endpoint.socket_carrier import KEEP_SECONDS, SocketCarrier

Transport = Literal["asyncio", "httpx"]
PACE_SECONDS = 60.0
RETRY_STATUSES = frozenset({429, 503, 529})
NS = 1_000_000_000


class StreamClient:
    """An ``Ask`` for one endpoint, and a context manager: connections live while it is open.

    Args:
        address: where the model answers.
        slots: how many requests may be in flight; each has a connection of its own, kept open.
        transport: ``asyncio`` (ours) or ``httpx``, which knows proxies of the environment and HTTP/2 where
            that is installed, and adds a bias that calibration shows.
        bounds: how much of a response is taken in.
        breaker: where given, nothing is sent any more once it is open.
        pace_seconds: the longest ``Retry-After`` that is kept to before the next request is released; 0
            keeps to none. The wait is never inside a measured time.
        keep_alive: whether a slot's connection is used again; without it every request opens one.
    """

    def __init__(
        self,
        address: EndpointAddress,
        *,
        slots: int = 1,
        transport: Transport = "asyncio",
        bounds: Bounds = Bounds(),  # noqa: B008 - a frozen value
        breaker: CircuitBreaker | None = None,
        pace_seconds: float = PACE_SECONDS,
        keep_alive: bool = True,
    ) -> None:
        self._address = address
        self._bounds = bounds
        self._breaker = breaker
        self._pace_seconds = pace_seconds
        self._not_before_ns = 0
        self._lag = LagMonitor()
        self._slots: asyncio.LifoQueue[Carrier] = asyncio.LifoQueue()
        self._carriers = _carriers(address, slots, transport, bounds, keep_alive=keep_alive)
        for carrier in self._carriers:
            self._slots.put_nowait(carrier)

    async def __aenter__(self) -> StreamClient:
        self._lag.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lag.stop()
        for carrier in self._carriers:
            await carrier.close()

    @property
    def lag(self) -> LagMonitor:
        """How late the client's own loop is."""
        return self._lag

    async def __call__(self, request: AskRequest) -> StreamResult:
        """The answer, timed and understood. Reading it is done in small steps, outside all stamps."""
        exchange = await self._exchange(request)
        try:
            result = await read_between(exchange, self._bounds)
        except asyncio.CancelledError:
            raise CutInFlight from None
        if self._breaker is not None:
            self._breaker.observe(result.outcome, result.http_status)
        return result

    async def exchange(self, request: AskRequest) -> Exchange:
        """The answer, timed and not yet understood: for loads whose exchanges are read when all are over.

        Raises:
            ConfigurationError: the request cannot be sent as it is.
        """
        exchange = await self._exchange(request)
        if self._breaker is not None:
            self._breaker.observe(_coarse(exchange))
        return exchange

    async def _exchange(self, request: AskRequest) -> Exchange:
        asked = time.perf_counter_ns()
        built = build(self._address, request)
        exchange = Exchange(request, datetime.now(UTC))
        exchange.stamps.scheduled = request.scheduled_ns or asked
        await self._wait(request, exchange)
        carrier = await self._slots.get()
        try:
            if self._breaker is not None and self._breaker.reason is not None:
                exchange.broken = circuit_open(self._breaker.reason)
                return exchange
            exchange.stamps.released = begun = time.perf_counter_ns()
            exchange.started_at = datetime.now(UTC)
            await carrier.carry(exchange, built)
        except asyncio.CancelledError:
            if exchange.stamps.sent is None:
                raise
            raise CutInFlight from None
        finally:
            self._slots.put_nowait(carrier)
        exchange.loop_lag_ms = self._lag.largest_ms_since(begun)
        self._heed(exchange)
        return exchange

    async def _wait(self, request: AskRequest, exchange: Exchange) -> None:
        """Until the time it is scheduled for, and until the server wants to be asked again."""
        due, now = request.scheduled_ns or 0, time.perf_counter_ns()
        until = max(due, self._not_before_ns)
        wait = (until - now) / NS
        if wait > 0:
            exchange.paced_ns = max(0, until - max(due, now))
            await asyncio.sleep(wait)
            if request.scheduled_ns is None:
                exchange.stamps.scheduled = time.perf_counter_ns()

    def _heed(self, exchange: Exchange) -> None:
        """Keep to what the server asks of the requests after this one."""
        head = exchange.head
        if head is not None and head.status in RETRY_STATUSES:
            asked = retry_after_seconds(head.headers, exchange.started_at)
            wait = min(asked or 0.0, self._pace_seconds)
            self._not_before_ns = max(self._not_before_ns, time.perf_counter_ns() + int(wait * NS))


def circuit_open(reason: str) -> Broken:
    """What becomes of a request that is not sent because a circuit is open."""
    failure = Failure(code="circuit_open", message=reason, phase=Phase.HARNESS)
    return Broken(Outcome.HARNESS_ERROR, failure)


def _carriers(
    address: EndpointAddress, slots: int, transport: Transport, bounds: Bounds, *, keep_alive: bool
) -> list[Carrier]:
    context = address.tls()
    if transport == "httpx":
        # Towards a proxy there may be TLS where there is none behind it.
        known = context or httpx.create_ssl_context(trust_env=False)
        return [HttpxCarrier(known, bounds, keep_alive=keep_alive) for _ in range(slots)]
    keep = KEEP_SECONDS if keep_alive else 0.0
    return [SocketCarrier(address, context, bounds, keep) for _ in range(slots)]


def _coarse(exchange: Exchange) -> Outcome:
    """The class as far as it shows before the answer is read."""
    if exchange.broken is not None:
        return exchange.broken.outcome
    status = 0 if exchange.head is None else exchange.head.status
    if 200 <= status < 300:
        return Outcome.OK
    return Outcome.RATE_LIMITED if status == 429 else Outcome.HTTP_ERROR
