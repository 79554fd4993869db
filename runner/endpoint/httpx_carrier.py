"""HttpxCarrier: requests over httpx, for proxies and HTTP/2, with the delays that its layers add."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from importlib.util import find_spec
from typing import cast

import httpx

from runner.endpoint.carrier import connect_failure, connect_timeout
from runner.endpoint.exchange import Bounds, Broken, Exchange
from runner.endpoint.framing import Head
from runner.endpoint.result import Failure, Outcome, Phase
from runner.endpoint.watch import next_deadline

_STAMPS = {
    "connect_tcp.started": "connect_begun",
    "connect_tcp.complete": "connected",
    "start_tls.complete": "secured",
    "send_request_headers.started": "sent",
    "send_request_body.complete": "written",
}


class HttpxCarrier:
    """One httpx client with one connection. Proxies of the environment are honoured here, and only here.

    Args:
        context: TLS, shared between carriers, as making one takes longer than many a request.
        bounds: how much of a response is taken in.
        keep_alive: whether the connection is used again.
    """

    def __init__(self, context: ssl.SSLContext, bounds: Bounds, *, keep_alive: bool = True) -> None:
        self._bounds = bounds
        self._client = httpx.AsyncClient(
            verify=context,
            http2=find_spec("h2") is not None,
            follow_redirects=False,
            timeout=None,  # noqa: S113 - the deadlines are kept here, by phase
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=int(keep_alive)),
        )

    async def carry(self, exchange: Exchange, request: httpx.Request) -> None:
        """Send and take in; cancelled, it closes the response."""
        exchange.transport = "httpx"
        limits = exchange.request.deadlines
        exchange.reused = True
        request.extensions = {"timeout": {"connect": limits.connect}, "trace": _tracer(exchange)}
        exchange.stamps.sent = time.perf_counter_ns()
        exchange.bytes_sent = len(request.content)
        try:
            async with asyncio.timeout(None) as scope:
                _keep_deadline(exchange, scope)
                response = await self._client.send(request, stream=True)
                try:
                    await self._take(exchange, response, scope)
                finally:
                    await response.aclose()
        except TimeoutError:
            _timed_out(exchange)
        except httpx.ConnectTimeout:
            exchange.broken = connect_timeout(limits.connect, total=False)
        except (httpx.ConnectError, httpx.ProxyError) as error:
            exchange.broken = connect_failure(_deepest(error))
        except httpx.HTTPError as error:
            phase = Phase.HEADERS if exchange.head is None else Phase.STREAM
            failure = Failure(code="connection_broken", message=str(error)[:500], phase=phase)
            exchange.broken = Broken(Outcome.STREAM_ERROR, failure)
        exchange.stamps.ended = exchange.stamps.ended or time.perf_counter_ns()

    async def close(self) -> None:
        """Close the client."""
        await self._client.aclose()

    async def _take(self, exchange: Exchange, response: httpx.Response, scope: asyncio.Timeout) -> None:
        stamps = exchange.stamps
        stamps.headers = stamps.first_byte = stamps.ended = time.perf_counter_ns()
        headers: dict[str, str] = {}
        for name, value in response.headers.multi_items():
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        exchange.head = Head(response.status_code, headers, response.http_version.rpartition("/")[2])
        _keep_deadline(exchange, scope)
        # Closed here and now: left to the collector, its connection would stay for a while.
        raw = cast(AsyncGenerator[bytes, None], response.aiter_raw())
        async with aclosing(raw) as pieces:
            async for piece in pieces:
                stamps.ended = time.perf_counter_ns()
                exchange.pieces.append(piece)
                exchange.piece_stamps.append(stamps.ended)
                exchange.reads += 1
                exchange.bytes_received += len(piece)
                if exchange.bytes_received > self._bounds.body:
                    text = f"more than {self._bounds.body} bytes"
                    failure = Failure(code="body_too_large", message=text, phase=Phase.STREAM)
                    exchange.broken = Broken(Outcome.STREAM_ERROR, failure)
                    return
                _keep_deadline(exchange, scope)
        stamps.ended = time.perf_counter_ns()
        exchange.complete = True


def _deepest(error: BaseException) -> Exception:
    """The failure of the system that the layers above it have wrapped."""
    found: Exception = OSError(str(error))
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            found = cause
        cause = cause.__cause__ or cause.__context__
    return found


def _keep_deadline(exchange: Exchange, scope: asyncio.Timeout) -> None:
    due = next_deadline(exchange)
    if due is not None:
        wait = (due[0] - time.perf_counter_ns()) / 1_000_000_000
        scope.reschedule(asyncio.get_running_loop().time() + wait)


def _timed_out(exchange: Exchange) -> None:
    due = next_deadline(exchange)
    outcome, seconds = (Outcome.TIMEOUT_TOTAL, 0.0) if due is None else due[1:]
    phase = Phase.HEADERS if exchange.head is None else Phase.STREAM
    failure = Failure(code=str(outcome), message=f"nothing for {seconds:g} s", phase=phase)
    exchange.broken = Broken(outcome, failure)
    exchange.stamps.ended = time.perf_counter_ns()


def _tracer(exchange: Exchange) -> Callable[[str, object], Awaitable[None]]:
    async def trace(event: str, _info: object) -> None:
        """Stamp the moment of one step of the exchange."""
        field = _STAMPS.get(event.partition(".")[2])
        if field is not None:
            setattr(exchange.stamps, field, time.perf_counter_ns())
        if field == "connect_begun":
            exchange.reused = False

    return trace
