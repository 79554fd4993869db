"""StreamResult: everything that was seen of one request, from its schedule to its last byte."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from pydantic import JsonValue

from runner.endpoint.request import Protocol, ToolCall
from runner.records.base import Count, Moment, Part


class Outcome(StrEnum):
    """The one class of a request. What was received before it is kept whatever the class."""

    OK = "ok"
    """The provider said that it finished, and how."""
    INCOMPLETE = "incomplete"
    """The answer ended without a finish reason: a cut stream that looks like a success."""
    LENGTH = "length"
    """The answer was cut by the limit of output tokens or of context."""
    REFUSED = "refused"
    """The provider's content filter, or the model's own refusal channel, ended it."""
    HTTP_ERROR = "http_error"
    """A status that is neither 2xx nor 429, redirects included; or no HTTP at all."""
    RATE_LIMITED = "rate_limited"
    """Status 429, or an error inside the stream that says the same."""
    CONNECT_ERROR = "connect_error"
    """Name, TCP or TLS failed before anything was sent: not a class of the model's."""
    TIMEOUT_CONNECT = "timeout_connect"
    """No connection within its deadline."""
    TIMEOUT_HEADERS = "timeout_headers"
    """No response head within its deadline."""
    TIMEOUT_STALL = "timeout_stall"
    """Nothing more arrived for longer than a pause may last."""
    TIMEOUT_TOTAL = "timeout_total"
    """The whole answer was not there within its deadline."""
    STREAM_ERROR = "stream_error"
    """The connection broke inside the response, a bound was passed, or the stream held an error event."""
    PARSE_ERROR = "parse_error"
    """Bytes arrived that are not what the protocol promises."""
    CANCELLED = "cancelled"
    """By us: no fault of the provider's. Its trial is not recorded, and is made again by resuming."""
    SKIPPED_BUDGET = "skipped_budget"
    """Never sent, because time or money ran out. The record of such a trial has no request and the reason."""
    HARNESS_ERROR = "harness_error"
    """By us: never sent, or not by the endpoint's fault (a dead local gateway, an open circuit)."""


ANSWERED = frozenset({Outcome.OK, Outcome.LENGTH, Outcome.REFUSED})
"""Classes of requests that the endpoint brought to an end of its own."""


class Phase(StrEnum):
    """Where a request failed.

    Scoring is no phase of it: a scorer that fails leaves the request as it was measured, and the trial gets
    the verdict ``error`` with the scorer's reason.
    """

    CONNECT = "connect"
    HEADERS = "headers"
    STREAM = "stream"
    PARSE = "parse"
    HARNESS = "harness"


class FragmentKind(StrEnum):
    """What a piece of an answer is part of."""

    REASONING = "reasoning"
    CONTENT = "content"
    TOOL = "tool"
    REFUSAL = "refusal"


class Fragment(NamedTuple):
    """One non-empty piece of an answer and when the network read that completed it came.

    ``tokens`` is the server's count of output tokens so far where each chunk tells it, else None.
    """

    at_ns: int
    kind: FragmentKind
    characters: int
    tokens: int | None = None


class Milestones(Part):
    """When what happened, in nanoseconds of ``time.perf_counter_ns``; None: it never did.

    On one machine all processes share this clock. ``started_at`` of the result is its wall-clock time.
    """

    scheduled: Count | None = None
    """When it was meant to be sent; where nothing was planned, when it was asked for."""
    released: Count | None = None
    """When a connection slot was free for it."""
    connect_begun: Count | None = None
    """A new connection is asked for."""
    connected: Count | None = None
    """TCP is open; None where an open connection was used again."""
    secured: Count | None = None
    """TLS is done; None on plain HTTP and where an open connection was used again."""
    sent: Count | None = None
    """Just before the request's head is handed to the system: where latencies begin."""
    written: Count | None = None
    """The system has taken the last byte of the request's body."""
    first_byte: Count | None = None
    """The read that brought the first byte of the response."""
    headers: Count | None = None
    """The read that completed the response's head."""
    first_event: Count | None = None
    """The first server-sent event with data, role and usage events included. Not a token."""
    first_any: Count | None = None
    """The first non-empty fragment of reasoning, content, refusal or tool call."""
    first_reasoning: Count | None = None
    """The first non-empty fragment of reasoning."""
    first_visible: Count | None = None
    """The first non-empty fragment of content: what a reader sees."""
    first_tool: Count | None = None
    """The first fragment of a tool call."""
    last_any: Count | None = None
    """The last non-empty fragment of any kind."""
    last_visible: Count | None = None
    """The last non-empty fragment of content."""
    done: Count | None = None
    """The protocol's end mark (``[DONE]``, ``message_stop``, ``response.completed``), else the body's end."""
    ended: Count | None = None
    """The last byte of the body, or the moment it failed or was given up."""


class ReportedUsage(Part):
    """Token counts as the endpoint told them, under common names; None: it did not tell."""

    prompt_tokens: Count | None = None
    """Every token of the prompt, cached ones included."""
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    completion_tokens: Count | None = None
    """As told: with or without reasoning, see ``reasoning_is_extra``."""
    reasoning_tokens: Count | None = None
    total_tokens: Count | None = None
    reasoning_is_extra: bool | None = None
    """Whether reasoning is counted beside completion rather than inside; None: nothing to decide it by."""
    cost_usd: float | None = None
    """What the gateway says it cost, where it does."""
    raw: Mapping[str, JsonValue] = {}

    @property
    def output_tokens(self) -> int | None:
        """All output tokens, reasoning included: ``completion``, plus ``reasoning`` where that is extra."""
        if self.completion_tokens is None:
            return None
        return self.completion_tokens + ((self.reasoning_tokens or 0) if self.reasoning_is_extra else 0)

    @property
    def visible_tokens(self) -> int | None:
        """Output tokens that are no reasoning; all of them where no reasoning is told."""
        if self.output_tokens is None:
            return None
        return max(0, self.output_tokens - (self.reasoning_tokens or 0))

    @property
    def uncached_prompt_tokens(self) -> int | None:
        """Prompt tokens that were not read from a cache; None where the cached part is not told."""
        if self.prompt_tokens is None or self.cached_tokens is None:
            return None
        return max(0, self.prompt_tokens - self.cached_tokens)


class Failure(Part):
    """Why a request has no proper end: a stable code, the words of whoever said so, and the phase."""

    code: str
    message: str = ""
    phase: Phase


class StreamResult(Part):
    """One measured request. Timing, class and what was said are separate: none erases another."""

    protocol: Protocol
    started_at: Moment
    outcome: Outcome
    failure: Failure | None = None
    milestones: Milestones = Milestones()
    connection_reused: bool | None = None
    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    """In the protocol's own word."""
    ended_cleanly: bool = False
    """Whether the protocol's end mark arrived and the body ended as HTTP says."""
    streamed: bool | None = None
    """False: one JSON body came instead of events; None: nothing came."""
    usage: ReportedUsage | None = None
    fragments: tuple[Fragment, ...] = ()
    carried: tuple[JsonValue, ...] = ()
    """Reasoning blocks or items that this protocol wants back with the next turn."""
    model_reported: str | None = None
    http_status: Count | None = None
    headers: Mapping[str, str] = {}
    """Those of the response that are of interest, names in lower case."""
    request_id: str | None = None
    retry_after_seconds: float | None = None
    paced_ms: float = 0.0
    """How long it was held back, outside of every measured time, because the server had asked for a pause."""
    bytes_sent: Count = 0
    bytes_received: Count = 0
    """Of the connection, heads and framing included, before TLS."""
    body_bytes: Count = 0
    reads: Count = 0
    """Network reads that the response came in."""
    events: Count = 0
    transport: str = "asyncio"
    loop_lag_ms: float | None = None
    """The longest time by which this client's own event loop was late during the request."""

    @property
    def answered(self) -> bool:
        """Whether the endpoint ended it of its own: ok, length or refused."""
        return self.outcome in ANSWERED

    @property
    def truncated(self) -> bool:
        """Whether the answer was cut: by a limit, or without a word."""
        return self.outcome in {Outcome.LENGTH, Outcome.INCOMPLETE}

    @property
    def empty(self) -> bool:
        """Whether it was answered with nothing at all: no text, no reasoning, no refusal, no call."""
        return self.answered and not self.fragments and not self.tool_calls

    @property
    def buffered(self) -> bool | None:
        """Whether the answer arrived in a lump; None where it is too short to tell (see ``timing``)."""
        from runner.endpoint.timing import buffered

        return buffered(self)
