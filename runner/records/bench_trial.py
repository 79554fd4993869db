"""BenchTrial: one trial of an endpoint benchmark with every request it took; one line of ``trials.jsonl``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue

from runner.records.base import Count, Moment, Part, Record, Seconds, schema_field
from runner.records.bench_manifest import Key, Ms, RunId

Word = Annotated[str, Field(max_length=80)]
Fragments = Annotated[
    tuple[tuple[float, Literal["r", "c", "t", "f"], int, int | None], ...],
    Field(
        description="one entry per piece: ms after sending; r reasoning, c content, t tool call, f refusal; "
        "characters; the server's own count of output tokens so far where it tells one",
        strict=False,
    ),
]


class BenchFailure(Part):
    """Why a request has no proper end."""

    code: str
    message: str = ""
    phase: Word


class BenchUsage(Part):
    """Token counts as the endpoint told them; null: it did not."""

    prompt_tokens: Count | None = None
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    output_tokens: Count | None = Field(default=None, description="reasoning included")
    reasoning_tokens: Count | None = None
    reasoning_is_extra: bool | None = None


class BenchTiming(Part):
    """Figures of one request in milliseconds after sending, or as their names say; null: not measured."""

    queue_ms: Ms | None = Field(default=None, description="from the planned send time to sending")
    slot_ms: Ms | None = Field(
        default=None, description="the part of it until a slot was free; the rest is connecting"
    )
    connect_ms: Ms | None = None
    tls_ms: Ms | None = None
    headers_ms: Ms | None = None
    first_byte_ms: Ms | None = None
    first_event_ms: Ms | None = None
    ttft_ms: Ms | None = Field(default=None, description="first token of any kind")
    first_reasoning_ms: Ms | None = None
    first_visible_ms: Ms | None = None
    first_tool_ms: Ms | None = None
    ttfo_ms: Ms | None = Field(default=None, description="first output that is no reasoning")
    last_visible_ms: Ms | None = None
    latency_ms: Ms | None = Field(default=None, description="last token of any kind")
    scheduled_latency_ms: Ms | None = Field(default=None, description="the same from the planned send time")
    done_ms: Ms | None = None
    total_ms: Ms | None = None
    tpot_ms: Ms | None = None
    output_tps: float | None = None
    visible_tps: float | None = None
    e2e_tps: float | None = None
    prefill_tps: float | None = None
    tokens_per_chunk: float | None = None
    gap_count: Count = 0
    gap_p50_ms: Ms | None = None
    gap_p95_ms: Ms | None = None
    gap_max_ms: Ms | None = None
    burst_ratio: float | None = None
    buffered: bool | None = None


class BenchRequest(Part):
    """One measured request. Class, timing and what was said stand apart: none erases another."""

    outcome: Word
    failure: BenchFailure | None = None
    started_at: Moment
    offset_ms: Ms | None = Field(
        default=None, description="when it was sent, from the beginning of its trial, or of its load stage"
    )
    http_status: Count | None = None
    finish_reason: str | None = None
    ended_cleanly: bool = False
    streamed: bool | None = None
    connection_reused: bool | None = None
    model_reported: str | None = None
    request_id: str | None = None
    retry_after_seconds: float | None = None
    paced_ms: Ms = Field(
        default=0.0, description="held back before sending, as the server had asked for; in no other time"
    )
    timing: BenchTiming = BenchTiming()
    usage: BenchUsage | None = None
    cost_usd: float | None = Field(default=None, ge=0)
    cost_missing: str | None = None
    cost_reported_usd: float | None = None
    bytes_sent: Count = 0
    bytes_received: Count = 0
    reads: Count = 0
    events: Count = 0
    transport: str = "asyncio"
    loop_lag_ms: Ms | None = None
    fragments: Fragments = ()
    fragment_count: Count = 0
    tool_call_count: Count = 0
    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: tuple[Mapping[str, JsonValue], ...] = ()


class BenchScore(Part):
    """What became of the answer. ``value`` is 0 to 1, null where nothing could be scored."""

    verdict: Word
    value: float | None
    reason: str = ""
    answer: str | None = Field(default=None, description="what was compared; taken out with the responses")
    answer_mark: str | None = Field(
        default=None, description="in place of an answer that is not kept: same answers, same mark"
    )
    expected: str | None = None
    confidence: float | None = None
    metrics: Mapping[str, float] = {}


class BenchToolCall(Part):
    """One tool call of an agent."""

    turn: Count
    name: str
    arguments: str = ""
    ok: bool
    no_progress: bool
    seconds: Seconds
    detail: str = ""


class BenchAgent(Part):
    """What an agent did on a coding task."""

    stop_reason: Word
    turns: Count
    tool_calls: Count
    invalid_calls: Count
    no_progress_calls: Count
    test_runs: Count
    self_verified: bool
    wall_seconds: Seconds
    tool_seconds: Seconds
    prompt_tokens: Count | None = None
    output_tokens: Count | None = None
    limits_not_kept: tuple[str, ...] = ()
    calls: tuple[BenchToolCall, ...] = ()


class LoadPlace(Part):
    """Where in a load stage a request belongs; times in milliseconds from the stage's beginning."""

    stage: Key
    level: float
    number: Count
    sitting: Count = Field(default=1, description="a stage that was interrupted goes on in the next one")
    scheduled_ms: Ms | None = Field(default=None, description="planned send time; open loops only")
    lateness_ms: Ms | None = Field(default=None, description="how much later it was sent")
    warm_up: bool = False
    worker: Count | None = Field(
        default=None, description="which of the processes that shared the stage asked; null: the run's own"
    )
    workers: Count = Field(default=1, description="processes that shared the stage")


class BenchTrial(Record):
    """One trial: planned, and done or skipped with its reason."""

    KIND: ClassVar[str] = "bench-trial"
    VERSION: ClassVar[int] = 1

    kind: Literal["bench-trial"] = "bench-trial"
    schema_version: int = schema_field(1)
    run_id: RunId
    key: Key
    target: str
    case: str
    case_kind: Literal["quality", "performance", "agentic"]
    slot: str
    run: Count
    repeat: Count = 1
    warm_up: bool = False
    seed: Count
    started_at: Moment
    finished_at: Moment
    skipped: str | None = Field(
        default=None, description="why it has no result: nothing was asked, or it was cut; null: it has one"
    )
    outcome: Word | None = Field(default=None, description="class of the last request; null: skipped")
    score: BenchScore
    requests: tuple[BenchRequest, ...] = ()
    agent: BenchAgent | None = None
    load: LoadPlace | None = None
    adjustments: tuple[str, ...] = ()
    cost_usd: float | None = Field(default=None, ge=0, description="all requests; null with any part unknown")
    responses_kept: bool = True
    cut_requests: Count = Field(
        default=0,
        description="requests of it that were given up in flight, in this sitting or in earlier ones: they "
        "may be billed, so money counts them at an unknown cost; no other figure counts them",
    )

    @property
    def seconds(self) -> float:
        """From its beginning to its end by the wall clock; 0 where that was set back meanwhile."""
        return max((self.finished_at - self.started_at).total_seconds(), 0.0)

    def to_line(self) -> bytes:
        """The record as one line of JSON with its end."""
        return self.model_dump_json().encode() + b"\n"
