"""ThroughputRecord: a sweep over concurrency on one self-hosted deployment."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from runner.records.base import Count, Dollars, Moment, Part, Record, Seconds, Sha256, Slug, schema_field
from runner.records.trial import Source
from runner.records.warning import DataWarning

Rate = Field(default=None, ge=0)
LoadKind = Literal["agent-sessions", "synthetic-sessions", "equal-requests"]
SessionStatus = Literal["ok", "cutoff", "error"]


class Spread(Part):
    """Peak and mean of a sampled gauge."""

    peak: float | None = None
    mean: float | None = None


class Quantiles(Part):
    """Three quantiles of a latency, in milliseconds, as one way to know them tells: see the field's name.

    ``_upper`` and ``_lower`` are the bounds of the histogram bucket that holds the quantile, ``_estimate`` a
    value between both. There is no estimate in the first bucket, which begins nowhere, and none in the last,
    which never ends; there is no upper bound in the last.
    """

    p50: float | None = None
    p90: float | None = None
    p99: float | None = None


class LoadSession(Part):
    """One session of the load: an agent at a task, or a talk of made-up turns."""

    slot: int = Field(ge=0)
    task: str = Field(max_length=200, description="id of a task, or number of a made-up talk")
    status: SessionStatus = Field(description="cutoff: the level ended before the session did")
    started_at: Moment
    ended_at: Moment
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    turns: Count | None = None
    error: str | None = Field(default=None, max_length=300)


class Level(Part):
    """One concurrency level of a sweep. Rates are per second, times in milliseconds.

    Everything is about the time from ``started_at`` to ``ended_at``; older and imported sweeps do not know
    these, and may have averaged over more.
    """

    concurrency: int = Field(ge=1)
    started_at: Moment | None = None
    ended_at: Moment | None = None
    window_seconds: float | None = Rate
    output_tokens_per_second: float | None = Rate
    prompt_tokens_per_second: float | None = Rate
    requests_per_second: float | None = Rate
    kv_cache_usage: Spread | None = None
    requests_running: Spread | None = None
    requests_waiting: Spread | None = None
    prefix_cache_hit_rate: float | None = Field(default=None, ge=0, le=1)
    ttft_ms_mean: float | None = Rate
    ttft_ms_upper: Quantiles | None = None
    ttft_ms_lower: Quantiles | None = None
    ttft_ms_estimate: Quantiles | None = None
    tpot_ms_mean: float | None = Rate
    tpot_ms_upper: Quantiles | None = None
    tpot_ms_lower: Quantiles | None = None
    tpot_ms_estimate: Quantiles | None = None
    queue_ms_mean: float | None = Rate
    queue_ms_upper: Quantiles | None = None
    queue_ms_lower: Quantiles | None = None
    queue_ms_estimate: Quantiles | None = None
    prefill_ms_mean: float | None = Rate
    prefill_ms_upper: Quantiles | None = None
    prefill_ms_lower: Quantiles | None = None
    prefill_ms_estimate: Quantiles | None = None
    e2e_ms_mean: float | None = Rate
    e2e_ms_upper: Quantiles | None = None
    e2e_ms_lower: Quantiles | None = None
    e2e_ms_estimate: Quantiles | None = None
    successful_requests: Count | None = None
    failed_requests: Count | None = None
    preemptions: Count | None = None
    sessions: tuple[LoadSession, ...] = ()
    warnings: tuple[DataWarning, ...] = ()


class SessionShape(Part):
    """What made-up sessions look like: each turn repeats all before it and adds to it, as an agent's does."""

    shared_tokens: Count = Field(description="of the first prompt, alike in all sessions: tools and the like")
    first_tokens: Count = Field(description="of the first prompt, different in each session")
    added_tokens: Count = Field(description="on average with each further turn, beside the answer before it")
    output_tokens: int = Field(ge=1, description="on average in each answer")
    turns: int = Field(ge=1, description="on average in each session")
    think_seconds: Seconds = Field(default=0.0, description="between an answer and the next turn")


class Workload(Part):
    """What the server was kept busy with."""

    kind: LoadKind
    description: str = Field(max_length=1000)
    seed: int | None = Field(default=None, ge=0, description="draws the order of tasks, or the sessions")
    harness: str | None = None
    harness_version: str | None = None
    skill: str | None = None
    dataset: str | None = None
    dataset_digest: Sha256 | None = None
    tasks: int | None = Field(default=None, ge=1, description="different tasks that sessions were given")
    session_timeout_seconds: float | None = Field(default=None, gt=0)
    shape: SessionShape | None = None


class Deployment(Part):
    """A serving configuration: what hardware-derived rates are keyed by."""

    name: Slug
    model: str
    instance_type: str
    instance_share: float | None = Field(
        default=None, gt=0, le=1, description="share of the instance in use; null when it cannot be told"
    )
    tensor_parallel_size: int | None = Field(default=None, ge=1)
    precision: str | None = None
    context_window: int | None = Field(default=None, ge=1)


class SweepFindings(Part):
    """Which levels stand out. All are concurrencies; null where no level can be named."""

    cheapest: int | None = Field(
        default=None, description="most tokens of all kinds a second: fewest dollars"
    )
    fastest: int | None = Field(default=None, description="most output tokens per second")
    ttft_p90_limit_ms: float | None = Field(default=None, gt=0)
    tpot_mean_limit_ms: float | None = Field(default=None, gt=0)
    within_limit: int | None = Field(default=None, description="cheapest of those that keep both limits")
    saturated_from: int | None = Field(default=None, description="from here on more sessions only wait")
    saturation: str | None = Field(default=None, max_length=500, description="how that is seen")


class ThroughputRecord(Record):
    """A sweep. Dollars are derived at build time from raw rates, never stored here as truth."""

    KIND: ClassVar[str] = "throughput"
    VERSION: ClassVar[int] = 2

    kind: Literal["throughput"] = "throughput"
    schema_version: int = schema_field(2)
    sweep_id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=120)
    deployment: Deployment
    sweep_date: str | None = None
    demonstration: bool = Field(default=False, description="the built-in model server stood in for a model")
    harnessmark_version: str | None = None
    workload: Workload | None = None
    scrape_interval_seconds: float | None = Field(default=None, gt=0)
    collector_sha256: Sha256 | None = Field(
        default=None, description="archive of the scrapes that all figures were computed from"
    )
    hourly_usd_in_source: Dollars | None = Field(
        default=None, description="rate the source used, for the whole or the shared instance; kept, not used"
    )
    levels: tuple[Level, ...]
    findings: SweepFindings | None = None
    warnings: tuple[DataWarning, ...] = ()
    source: Source | None = None
