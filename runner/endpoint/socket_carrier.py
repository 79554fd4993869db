"""SocketCarrier: requests over one connection of our own, for streams that are measured."""

from __future__ import annotations

import asyncio
import ssl
import time

import httpx

from runner.endpoint.address import EndpointAddress, serialise
from runner.endpoint.carrier import connect_failure, connect_timeout
from runner.endpoint.connection import Connection
from runner.endpoint.exchange import Bounds, Exchange
from runner.endpoint.tls import TlsChannel
from runner.endpoint.watch import Watch

KEEP_SECONDS = 4.0
"""An idle connection older than this is not used again: many servers close after 5 s, just as we send."""
NS = 1_000_000_000


class SocketCarrier:
    """Keeps one connection open between requests.

    Args:
        address: where to connect.
        context: TLS, shared between carriers; None for plain HTTP.
        bounds: how much of a response is taken in.
        keep_seconds: how long an idle connection is used again; 0: never.
    """

    def __init__(
        self,
        address: EndpointAddress,
        context: ssl.SSLContext | None,
        bounds: Bounds,
        keep_seconds: float = KEEP_SECONDS,
    ) -> None:
        self._host, self._port = address.host, address.port
        self._context = context
        self._bounds = bounds
        self._keep_ns = int(keep_seconds * NS)
        self._connection: Connection | None = None

    async def carry(self, exchange: Exchange, request: httpx.Request) -> None:
        """Send and take in; cancelled, it closes the connection."""
        payload = serialise(request)
        connection = self._kept() or await self._open(exchange)
        if connection is None:
            return
        self._connection = None
        finished = connection.begin(exchange, payload)
        watch = Watch(exchange, connection.give_up)
        try:
            await finished
        except asyncio.CancelledError:
            connection.abort()
            raise
        finally:
            watch.stop()
        if connection.usable and self._keep_ns:
            self._connection = connection
        else:
            connection.abort()

    async def close(self) -> None:
        """Close the connection that is kept."""
        if self._connection is not None:
            self._connection.abort()
            self._connection = None
            # The loop closes the socket in its next round.
            await asyncio.sleep(0)

    def _kept(self) -> Connection | None:
        connection, self._connection = self._connection, None
        if connection is None:
            return None
        idle = time.perf_counter_ns() - (connection.idle_since_ns or 0)
        if connection.usable and idle <= self._keep_ns:
            return connection
        connection.abort()
        return None

    async def _open(self, exchange: Exchange) -> Connection | None:
        """A new connection, or None with the reason in ``exchange``."""
        limits = exchange.request.deadlines
        allowed = min((each for each in (limits.connect, limits.total) if each is not None), default=None)
        exchange.stamps.connect_begun = time.perf_counter_ns()
        made: list[Connection] = []
        opened = False

        def factory() -> Connection:
            """A connection, noted where an attempt that fails can find it."""
            tls = None if self._context is None else TlsChannel(self._context, self._host)
            made.append(Connection(tls, self._bounds))
            return made[-1]

        try:
            async with asyncio.timeout(allowed):
                _, connection = await asyncio.get_running_loop().create_connection(
                    factory, self._host, self._port
                )
                await connection.opened
        except TimeoutError as error:
            if allowed is None:
                exchange.broken = connect_failure(error)
            else:
                exchange.broken = connect_timeout(allowed, total=allowed == limits.total)
        except (OSError, ValueError) as error:
            exchange.broken = connect_failure(error)
        else:
            opened = True
            return connection
        finally:
            if made:
                exchange.stamps.connected = made[-1].connected_ns
                exchange.stamps.secured = made[-1].secured_ns
            for each in [] if opened else made:
                each.opened.cancel()
                each.abort()
        exchange.stamps.ended = time.perf_counter_ns()
        return None
