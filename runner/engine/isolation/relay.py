"""Relay: one connection of an agent to a gateway, request by request, streamed in both directions."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import h11
import httpx

from runner.engine.isolation.admission import Admitted, admit
from runner.engine.isolation.credential import (
    Header,
    Veil,
    reason_without_key,
    with_real_key,
    without_key,
)
from runner.engine.isolation.traffic import Meter
from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint

CHUNK = 64 * 1024
MAX_HEAD_BYTES = 256 * 1024
LINGER_SECONDS = 30.0
MAX_BODY_BYTES = 64 * 1024 * 1024
MAX_EARLY_BYTES = 256 * 1024
"""Of further requests that are taken in while one is under way; the rest waits with whoever sends it."""
HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade host expect cookie accept-encoding".split()
)
DIVERTING = frozenset(
    b"forwarded x-forwarded-host x-forwarded-path x-forwarded-prefix x-forwarded-uri x-host x-http-method"
    b" x-http-method-override x-method-override x-original-url x-original-uri x-rewrite-url".split()
)
"""Some servers believe these more than the request itself: its method, its address, its host."""


class Gone(Exception):
    """The agent's end of the connection is closed."""


class TooLarge(Exception):
    """A request's body is above the limit."""


@dataclass(frozen=True)
class Route:
    """Where requests go and with which key."""

    endpoint: Endpoint
    dummy: str = field(repr=False)
    meter: Meter
    client: httpx.AsyncClient
    max_body_bytes: int = MAX_BODY_BYTES


@dataclass(frozen=True)
class _Onward:
    """A request as it goes to the endpoint."""

    method: str
    url: str
    headers: list[Header] = field(repr=False)
    for_an_answer: bool
    has_body: bool
    key: str = field(repr=False)
    """The real key it goes with, which no answer may show."""


class Relay:
    """Serves one connection until it ends.

    Nothing is repeated and no answer is made up for the endpoint: where it fails, the agent's connection is
    cut at the same place.
    """

    def __init__(self, route: Route, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._route = route
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._body_ended = asyncio.Event()

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way: none has arrived whole since the last answer."""
        return self._http.our_state is h11.IDLE

    async def serve(self) -> None:
        """Answer requests until the agent leaves, breaks the protocol, or an answer is cut."""
        try:
            while await self._one_request():
                self._http.start_next_cycle()
                self._body_ended.clear()
        except h11.RemoteProtocolError as error:
            await self._complain(error.error_status_hint or 400, "not a request that HTTP/1.1 knows")
        except (Gone, h11.LocalProtocolError, ConnectionError):
            return

    async def _one_request(self) -> bool:
        """Serve one request; whether another can follow on this connection."""
        event = await self._next_event()
        if not isinstance(event, h11.Request):
            return False
        try:
            onward = self._decide(event, await self._key())
        except ConfigurationError:
            self._route.meter.failure("NoValidKey")
            await self._complain(503, "the credentials of this run have run out")
            return False
        if isinstance(onward, int):
            self._route.meter.refusal()
            reason = (
                "the key is not the one given out" if onward == 401 else "this gateway leads nowhere else"
            )
            await self._complain(onward, reason)
            return False
        try:
            await self._until_gone(self._exchange(onward))
        except TooLarge:
            self._route.meter.refusal()
            await self._complain(413, f"a request may have {self._route.max_body_bytes} bytes")
            return False
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    async def _key(self) -> str:
        """The real key for this request; one that must be made anew may need the network."""
        endpoint = self._route.endpoint
        if endpoint.renewed_key is None:
            return endpoint.api_key
        return await asyncio.to_thread(endpoint.key_now)

    def _decide(self, request: h11.Request, key: str) -> _Onward | int:
        """The request as it goes on with ``key``, or the status that refuses it."""
        route = self._route
        method, target = request.method.decode("ascii"), request.target.decode("latin-1")
        admitted: Admitted | None = admit(route.endpoint, method, target)
        if admitted is None:
            return 403
        left_out = HOP_BY_HOP | DIVERTING
        plain = [(name, value) for name, value in request.headers if name.lower() not in left_out]
        swapped = with_real_key(plain, admitted.query, dummy=route.dummy, real=key)
        if swapped is None:
            return 401
        headers, query = swapped
        parts = urlsplit(route.endpoint.base_url)
        host = parts.netloc.rpartition("@")[2]
        return _Onward(
            method,
            f"{parts.scheme}://{parts.netloc}{admitted.path}" + (f"?{query}" if query else ""),
            # A compressed answer could hide the key from the veil.
            [(b"host", host.encode()), *headers, (b"accept-encoding", b"identity")],
            admitted.for_an_answer,
            _has_body(request),
            key,
        )

    async def _exchange(self, onward: _Onward) -> None:
        """Send one request on and its answer back, as both arrive."""
        meter = self._route.meter
        content = self._body() if onward.has_body else None
        if content is None:
            await self._no_body()
        request = httpx.Request(onward.method, onward.url, headers=onward.headers, content=content)
        meter.request(for_an_answer=onward.for_an_answer)
        try:
            response = await self._route.client.send(request, stream=True)
            try:
                meter.status(response.status_code)
                await self._pass_back(response, onward.key)
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            meter.failure(type(error).__name__)
            raise Gone from None

    async def _pass_back(self, response: httpx.Response, key: str) -> None:
        veil = Veil(key)
        headers = [each for each in response.headers.raw if each[0].lower() not in HOP_BY_HOP]
        await self._send(
            h11.Response(
                status_code=response.status_code,
                headers=without_key(headers, key),
                reason=reason_without_key(response.reason_phrase.encode("latin-1", "replace"), key),
            )
        )
        async for chunk in response.aiter_raw():
            self._route.meter.down(len(chunk))
            if shown := veil.through(chunk):
                await self._send(h11.Data(data=shown))
        if rest := veil.rest():
            await self._send(h11.Data(data=rest))
        await self._send(h11.EndOfMessage())

    async def _body(self) -> AsyncIterator[bytes]:
        """The request's body as it arrives."""
        size = 0
        if self._http.they_are_waiting_for_100_continue:
            await self._send(h11.InformationalResponse(status_code=100, headers=[]))
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Data):
                size += len(event.data)
                if size > self._route.max_body_bytes:
                    raise TooLarge
                self._route.meter.up(len(event.data))
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                self._body_ended.set()
                return
            else:
                raise Gone

    async def _no_body(self) -> None:
        if not isinstance(await self._next_event(), h11.EndOfMessage):
            raise Gone
        self._body_ended.set()

    async def _until_gone(self, exchange: Coroutine[None, None, None]) -> None:
        """Run ``exchange``; give it up as soon as the agent has left, so that nobody pays for the rest."""
        working = asyncio.create_task(exchange)
        watching = asyncio.create_task(self._departure())
        try:
            await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise Gone
            await working
        finally:
            for task in (working, watching):
                task.cancel()
            await asyncio.gather(working, watching, return_exceptions=True)

    async def _departure(self) -> None:
        """Return when the agent closes its end while it should be waiting for an answer."""
        await self._body_ended.wait()
        early = 0
        while data := await self._reader.read(CHUNK):
            # The next request, sent early: it waits its turn.
            self._http.receive_data(data)
            early += len(data)
            if early >= MAX_EARLY_BYTES:
                await asyncio.Event().wait()

    async def _next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            self._http.receive_data(await self._reader.read(CHUNK))

    async def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self._writer.write(data)
            await self._writer.drain()

    async def _complain(self, status: int, reason: str) -> None:
        """A refusal of the gateway's own, in the shape that every client of a model understands."""
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        body = json.dumps({"error": {"type": "harnessmark_gateway", "message": reason}}).encode()
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        with contextlib.suppress(ConnectionError, TimeoutError, h11.LocalProtocolError):
            await self._send(h11.Response(status_code=status, headers=headers))
            await self._send(h11.Data(data=body))
            await self._send(h11.EndOfMessage())
            await asyncio.wait_for(self._hear_out(), LINGER_SECONDS)

    async def _hear_out(self) -> None:
        """Closing with unread bytes would reset the connection and take the refusal away again."""
        if self._writer.can_write_eof():
            self._writer.write_eof()
        while await self._reader.read(CHUNK):
            continue


def _has_body(request: h11.Request) -> bool:
    return any(name.lower() in {b"transfer-encoding", b"content-length"} for name, _ in request.headers)
