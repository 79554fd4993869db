"""Connection: one HTTP/1.1 connection whose every network read is stamped before anything else is done."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from typing import cast

from runner.endpoint.exchange import Bounds, Broken, Exchange
from runner.endpoint.framing import FramingError, ResponseFramer
from runner.endpoint.result import Failure, Outcome, Phase
from runner.endpoint.tls import TlsChannel

BUFFER_BYTES = 64 * 1024


class Connection(asyncio.BufferedProtocol):
    """A protocol object of asyncio that carries one exchange at a time.

    A read costs one stamp, one copy and the framing; nothing is woken up before the response is complete.

    Args:
        tls: the channel to speak through; None for plain HTTP.
        bounds: how much of a response is taken in.
        clock: nanoseconds.
    """

    def __init__(
        self,
        tls: TlsChannel | None = None,
        bounds: Bounds = Bounds(),  # noqa: B008 - a frozen value
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = loop.create_future()
        """Resolves when requests can be sent; TLS failures come out of it."""
        self.connected_ns: int | None = None
        self.secured_ns: int | None = None
        self.idle_since_ns: int | None = None
        self._tls = tls
        self._bounds = bounds
        self._clock = clock
        self._buffer = bytearray(BUFFER_BYTES)
        self._view = memoryview(self._buffer)
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None
        self._framer = ResponseFramer()
        self._finished: asyncio.Future[None] | None = None
        self._body_bytes = 0
        self._used = False
        self._told_end = False

    @property
    def usable(self) -> bool:
        """Whether another request can be sent on it."""
        transport = self._transport
        return transport is not None and not transport.is_closing() and self._exchange is None

    def begin(self, exchange: Exchange, payload: bytes) -> asyncio.Future[None]:
        """Send ``payload``, the whole request; the future resolves when the exchange has ended."""
        if self._transport is None or self._exchange is not None:
            raise RuntimeError("a connection carries one exchange at a time")
        self._exchange, self._framer, self._body_bytes = exchange, ResponseFramer(), 0
        self._finished = asyncio.get_running_loop().create_future()
        exchange.reused, self._used = self._used, True
        exchange.bytes_sent = len(payload)
        sealed = payload if self._tls is None else self._tls.send(payload)
        exchange.stamps.sent = self._clock()
        self._transport.write(sealed)
        if not self._transport.get_write_buffer_size():
            exchange.stamps.written = self._clock()
        return self._finished

    def give_up(self, outcome: Outcome, code: str, message: str, phase: Phase) -> None:
        """End the exchange at hand as failed and close."""
        self._end(Broken(outcome, Failure(code=code, message=message, phase=phase)))

    def abort(self) -> None:
        """Close at once; no bytes are waited for."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """TCP is open."""
        self.connected_ns = self._clock()
        # Other event loops have transports that are no subclass of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)
        if self._tls is None:
            self._is_open()
        else:
            self._shake(self._tls)

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 - part of the seam
        """Where the next read goes."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """A read came."""
        stamp = self._clock()
        if self._tls is None:
            self._take(stamp, bytes(self._view[:nbytes]))
            return
        try:
            plain = self._tls.receive(self._view[:nbytes])
            self._flush_tls()
        except ssl.SSLError as error:
            self._tls_failed(error)
            return
        if self._tls.ready and self.secured_ns is None:
            self.secured_ns = stamp
            self._is_open()
        if plain:
            self._take(stamp, plain)
        if self._tls.ended:
            self.eof_received()
            self.abort()

    def eof_received(self) -> bool:
        """The server sends no more: a body without a told end is complete by that."""
        self._told_end = True
        if self._exchange is not None and self._framer.head is not None and self._framer.close():
            self._end(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed, by whomever."""
        if not self.opened.done():
            self.opened.set_exception(exc or ConnectionResetError("closed during the handshake"))
        if self._exchange is None:
            return
        phase = Phase.HEADERS if self._framer.head is None else Phase.STREAM
        code = "connection_closed" if exc is None else "connection_reset"
        text = str(exc) if exc is not None else "the server closed the connection inside the response"
        self.give_up(Outcome.STREAM_ERROR, code, text, phase)

    def pause_writing(self) -> None:
        """Some of the request is still in our buffer."""

    def resume_writing(self) -> None:
        """The system has taken all of the request."""
        if self._exchange is not None and self._exchange.stamps.written is None:
            self._exchange.stamps.written = self._clock()

    def _is_open(self) -> None:
        # Whoever waited may have given up.
        if not self.opened.done():
            self.opened.set_result(None)

    def _take(self, stamp: int, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            # Nobody asked: what comes now would be taken for the answer to the next request.
            self.abort()
            return
        exchange.reads += 1
        exchange.bytes_received += len(data)
        stamps = exchange.stamps
        if stamps.first_byte is None:
            stamps.first_byte = stamp
        stamps.ended = stamp
        framer = self._framer
        try:
            body = framer.feed(data)
        except FramingError as error:
            self._framing_failed(error)
            return
        if body:
            exchange.pieces.append(body)
            exchange.piece_stamps.append(stamp)
            self._body_bytes += len(body)
        if stamps.headers is None and framer.head is not None:
            stamps.headers, exchange.head = stamp, framer.head
        if framer.complete:
            self._end(None)
        elif self._body_bytes > self._bounds.body:
            text = f"more than {self._bounds.body} bytes"
            self.give_up(Outcome.STREAM_ERROR, "body_too_large", text, Phase.STREAM)

    def _framing_failed(self, error: FramingError) -> None:
        phase = Phase.HEADERS if self._framer.head is None else Phase.STREAM
        outcome = Outcome.HTTP_ERROR if self._framer.head is None else Outcome.STREAM_ERROR
        self.give_up(outcome, error.code, "the response is not HTTP/1.1 as it should be", phase)

    def _end(self, broken: Broken | None) -> None:
        exchange, finished = self._exchange, self._finished
        if exchange is None or finished is None:
            return
        self._exchange = self._finished = None
        exchange.broken, exchange.complete = broken, broken is None
        now = self._clock()
        exchange.stamps.ended = exchange.stamps.ended or now
        if broken is not None and broken.outcome is not Outcome.STREAM_ERROR:
            exchange.stamps.ended = now
        if broken is not None or not self._can_go_on():
            self.abort()
        self.idle_since_ns = now
        if not finished.done():
            finished.set_result(None)

    def _can_go_on(self) -> bool:
        """Whether nothing is left of this exchange that the next one could be taken for."""
        framer, transport = self._framer, self._transport
        unsent = transport is None or transport.get_write_buffer_size() > 0
        kept = framer.head is not None and framer.head.keeps_alive
        return kept and not (framer.surplus or unsent or self._told_end)

    def _shake(self, tls: TlsChannel) -> None:
        try:
            tls.handshake()
        except ssl.SSLError as error:
            self._tls_failed(error)
            return
        self._flush_tls()

    def _flush_tls(self) -> None:
        if self._tls is not None and self._transport is not None and (said := self._tls.pending()):
            self._transport.write(said)

    def _tls_failed(self, error: ssl.SSLError) -> None:
        self._flush_tls()
        if not self.opened.done():
            self.opened.set_exception(error)
        self.give_up(Outcome.STREAM_ERROR, "tls", str(error), Phase.STREAM)
        self.abort()
