"""Reading: an exchange understood, after it is over: its events, its class and its figures."""

from __future__ import annotations

import asyncio
import json
import math
import zlib
from collections.abc import Iterator

from runner.endpoint.exchange import Bounds, Exchange
from runner.endpoint.protocols import chat
from runner.endpoint.protocols.assembly import Assembly, MalformedEvent, clean, clean_all, error_in
from runner.endpoint.protocols.registry import DIALECTS, Dialect
from runner.endpoint.result import Failure, Fragment, FragmentKind, Milestones, Outcome, Phase, StreamResult
from runner.endpoint.retry_after import retry_after_seconds
from runner.endpoint.sse import EventParser, ServerSentEvent

EVENTS_AT_ONCE = 16
ERROR_BODY_BYTES = 64 * 1024
REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "x-generation-id")
KEPT_HEADERS = frozenset(
    {"content-type", "content-encoding", "retry-after", "server", "via", "date", "location"}
)
KEPT_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-", "openai-", "x-envoy-", "x-litellm-", "cf-")
RATE_CODES = frozenset({"429", "rate_limit_exceeded", "rate_limit_error", "too_many_requests"})
_WINDOW = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class Reader:
    """Reads one exchange in steps, so that other streams are not kept waiting.

    Args:
        exchange: one that is over.
        bounds: how long an event and how large a decompressed body may be.
    """

    def __init__(self, exchange: Exchange, bounds: Bounds = Bounds()) -> None:  # noqa: B008 - frozen
        self._exchange = exchange
        self._bounds = bounds
        self._dialect: Dialect = DIALECTS[exchange.request.protocol]
        self._into = Assembly()
        self._failure: tuple[Outcome, Failure] | None = None
        self._first_event: int | None = None
        self._events = 0
        self._streamed: bool | None = None

    def steps(self) -> Iterator[None]:
        """Do all the work; pauses after every few events."""
        head = self._exchange.head
        if head is None:
            return
        try:
            pieces = self._decoded()
        except (zlib.error, ValueError) as error:
            self._malformed("content_encoding", str(error))
            return
        if not 200 <= head.status < 300:
            self._refusal_of_http(head.status, b"".join(piece for piece, _ in pieces)[:ERROR_BODY_BYTES])
            return
        start = b"".join(piece for piece, _ in pieces[:8]).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if start in {b"{", b"["}:
            self._streamed = False
            self._whole(pieces)
        elif start:
            self._streamed = True
            yield from self._stream(pieces)

    def result(self) -> StreamResult:
        """What the exchange was."""
        exchange, into = self._exchange, self._into
        head = exchange.head
        outcome, failure = self._class()
        headers = {} if head is None else head.headers
        marked = into.done_ns is not None or self._streamed is False
        return StreamResult(
            protocol=exchange.request.protocol,
            started_at=exchange.started_at,
            outcome=outcome,
            failure=failure,
            milestones=self._milestones(),
            connection_reused=exchange.reused,
            text=clean("".join(into.text)),
            reasoning=clean("".join(into.reasoning)),
            refusal=clean("".join(into.refusal)),
            tool_calls=tuple(call.whole() for call in into.calls.values()),
            finish_reason=clean(into.finish_reason) if into.finish_reason else None,
            ended_cleanly=marked and exchange.complete and failure is None,
            streamed=self._streamed,
            usage=into.usage,
            fragments=tuple(into.fragments),
            carried=tuple(clean_all(each) for each in self._dialect.carried(into)),
            model_reported=clean(into.model[:200]) if into.model else None,
            http_status=None if head is None else head.status,
            headers={name: value[:300] for name, value in headers.items() if _kept(name)},
            request_id=next((headers[name][:200] for name in REQUEST_IDS if name in headers), None),
            retry_after_seconds=retry_after_seconds(headers, exchange.started_at),
            paced_ms=exchange.paced_ns / 1e6,
            bytes_sent=exchange.bytes_sent,
            bytes_received=exchange.bytes_received,
            body_bytes=sum(map(len, exchange.pieces)),
            reads=exchange.reads,
            events=self._events,
            transport=exchange.transport,
            loop_lag_ms=exchange.loop_lag_ms,
        )

    def _decoded(self) -> list[tuple[bytes, int]]:
        """Pieces of the body with their stamps, unpacked where the server packed what nobody asked it to."""
        exchange = self._exchange
        stamped = list(zip(exchange.pieces, exchange.piece_stamps, strict=True))
        encoding = exchange.head.headers.get("content-encoding", "") if exchange.head else ""
        encoding = encoding.strip().lower()
        if encoding in {"", "identity"}:
            return stamped
        if encoding not in _WINDOW:
            raise ValueError(f"cannot unpack {encoding[:40]!r}")
        unpack, left, unpacked = zlib.decompressobj(_WINDOW[encoding]), self._bounds.body, []
        for piece, stamp in stamped:
            plain = unpack.decompress(piece, left)
            left -= len(plain)
            if unpack.unconsumed_tail or left <= 0:
                raise ValueError(f"more than {self._bounds.body} bytes when unpacked")
            unpacked.append((plain, stamp))
        return unpacked

    def _stream(self, pieces: list[tuple[bytes, int]]) -> Iterator[None]:
        parser = EventParser(self._bounds.event)
        last = 0
        for piece, stamp in pieces:
            last = stamp
            for event in parser.feed(piece):
                self._take(event, stamp)
                if self._events % EVENTS_AT_ONCE == 0:
                    yield
        for event in parser.close():
            self._take(event, last)
        if parser.failed:
            self._malformed("event_too_large", f"an event of more than {self._bounds.event} bytes")

    def _take(self, event: ServerSentEvent, stamp: int) -> None:
        data = event.data.strip()
        if not data:
            return
        if data == chat.END_MARK:
            # Proxies put it behind streams of every protocol; it ends those without an end of their own.
            if self._dialect.end_mark == data:
                self._into.done_ns = self._into.done_ns or stamp
            return
        try:
            found = _json(data.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            # Half an event at the end of a body is a cut, which has its own classes.
            if event.whole:
                code = "invalid_utf8" if isinstance(error, UnicodeDecodeError) else "invalid_stream_json"
                self._events += 1
                self._first_event = self._first_event or stamp
                self._malformed(code, data[:500].decode("utf-8", "replace"))
            return
        self._events += 1
        self._first_event = self._first_event or stamp
        self._understand(found, stamp, event.name)

    def _whole(self, pieces: list[tuple[bytes, int]]) -> None:
        """One JSON body, streamed or not: it can be understood when its last byte is there."""
        data, stamp = b"".join(piece for piece, _ in pieces), pieces[-1][1]
        try:
            found = _json(data.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            if self._exchange.complete:
                self._malformed("invalid_json", data[:500].decode("utf-8", "replace"))
            return
        self._understand(found, stamp, b"")

    def _understand(self, found: object, stamp: int, name: bytes) -> None:
        try:
            self._dialect.read(self._into, found, stamp, name)
        except MalformedEvent as error:
            self._malformed(error.code, str(error))
        if self._into.error is not None and self._failure is None:
            code, message = self._into.error
            outcome = Outcome.RATE_LIMITED if code in RATE_CODES else Outcome.STREAM_ERROR
            self._failure = (outcome, Failure(code=code, message=message, phase=Phase.STREAM))

    def _refusal_of_http(self, status: int, body: bytes) -> None:
        text = " ".join(body.decode("utf-8", "replace").split())
        code = f"http_{status}"
        try:
            told, message = error_in(json.loads(text), code)
        except (ValueError, RecursionError):
            told, message = code, text[:500]
        outcome = Outcome.RATE_LIMITED if status == 429 else Outcome.HTTP_ERROR
        said = f"{told}: {message}" if told != code else message
        self._failure = (outcome, Failure(code=code, message=said[:600], phase=Phase.HEADERS))

    def _malformed(self, code: str, message: str) -> None:
        if self._failure is None:
            failure = Failure(code=code, message=message[:500], phase=Phase.PARSE)
            self._failure = (Outcome.PARSE_ERROR, failure)

    def _class(self) -> tuple[Outcome, Failure | None]:
        """The one class, by what came first.

        What the stream itself said wrong comes before how the connection ended; an end mark before a
        connection that broke or fell silent after it.
        """
        broken, into = self._exchange.broken, self._into
        if self._failure is not None:
            return self._failure
        if broken is not None and (into.done_ns is None or broken.outcome is Outcome.CANCELLED):
            return broken.outcome, broken.failure
        if into.finish_reason is None:
            message = "the answer ended without a finish reason"
            return Outcome.INCOMPLETE, Failure(code="no_finish", message=message, phase=Phase.STREAM)
        outcome = self._dialect.finishes.get(into.finish_reason, Outcome.OK)
        if outcome is Outcome.STREAM_ERROR:
            return outcome, Failure(code="finish_error", message="", phase=Phase.STREAM)
        if outcome is Outcome.OK and into.refusal and not into.text and not into.calls:
            return Outcome.REFUSED, None
        return outcome, None

    def _milestones(self) -> Milestones:
        stamps, fragments = self._exchange.stamps, self._into.fragments
        visible = _times(fragments, FragmentKind.CONTENT)
        ended = stamps.ended if self._exchange.complete and self._streamed is not None else None
        return Milestones(
            scheduled=stamps.scheduled,
            released=stamps.released,
            connect_begun=stamps.connect_begun,
            connected=stamps.connected,
            secured=stamps.secured,
            sent=stamps.sent,
            written=stamps.written,
            first_byte=stamps.first_byte,
            headers=stamps.headers,
            first_event=self._first_event,
            first_any=fragments[0].at_ns if fragments else None,
            first_reasoning=next(iter(_times(fragments, FragmentKind.REASONING)), None),
            first_visible=visible[0] if visible else None,
            first_tool=next(iter(_times(fragments, FragmentKind.TOOL)), None),
            last_any=fragments[-1].at_ns if fragments else None,
            last_visible=visible[-1] if visible else None,
            done=self._into.done_ns or ended,
            ended=stamps.ended,
        )


def read(exchange: Exchange, bounds: Bounds = Bounds()) -> StreamResult:  # noqa: B008 - a frozen value
    """``exchange`` understood at once: for exchanges that are read after all are over."""
    reader = Reader(exchange, bounds)
    for _ in reader.steps():
        continue
    return reader.result()


async def read_between(exchange: Exchange, bounds: Bounds = Bounds()) -> StreamResult:  # noqa: B008
    """``exchange`` understood in small steps, between which other streams get their reads stamped."""
    reader = Reader(exchange, bounds)
    for _ in reader.steps():
        await asyncio.sleep(0)
    return reader.result()


def _times(fragments: list[Fragment], kind: FragmentKind) -> list[int]:
    return [fragment.at_ns for fragment in fragments if fragment.kind is kind]


def _kept(name: str) -> bool:
    return name in KEPT_HEADERS or name in REQUEST_IDS or name.startswith(KEPT_PREFIXES)


def _json(text: str) -> object:
    return json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is beyond all numbers")
    return number
