"""ThroughputRecord: a sweep over concurrency on one self-hosted deployment."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from runner.records.base import Count, Dollars, Part, Record, Slug, schema_field
from runner.records.trial import Source
from runner.records.warning import DataWarning

Rate = Field(default=None, ge=0)


class Spread(Part):
    """Peak and mean of a sampled gauge."""

    peak: float | None = None
    mean: float | None = None


class Quantiles(Part):
    """Histogram bucket bounds that hold the quantile, in milliseconds: upper bounds, not values."""

    p50: float | None = None
    p90: float | None = None
    p99: float | None = None


class Level(Part):
    """One concurrency level of a sweep. Rates are per second, times in milliseconds."""

    concurrency: int = Field(ge=1)
    window_seconds: float | None = Rate
    output_tokens_per_second: float | None = Rate
    prompt_tokens_per_second: float | None = Rate
    requests_per_second: float | None = Rate
    kv_cache_usage: Spread | None = None
    requests_running: Spread | None = None
    requests_waiting: Spread | None = None
    ttft_ms_mean: float | None = Rate
    ttft_ms_upper: Quantiles | None = None
    tpot_ms_mean: float | None = Rate
    tpot_ms_upper: Quantiles | None = None
    queue_ms_mean: float | None = Rate
    queue_ms_upper: Quantiles | None = None
    prefill_ms_mean: float | None = Rate
    e2e_ms_mean: float | None = Rate
    successful_requests: Count | None = None
    failed_requests: Count | None = None
    preemptions: Count | None = None


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


class ThroughputRecord(Record):
    """A sweep. Dollars are derived at build time from raw rates, never stored here as truth."""

    KIND: ClassVar[str] = "throughput"
    VERSION: ClassVar[int] = 1

    kind: Literal["throughput"] = "throughput"
    schema_version: int = schema_field(1)
    sweep_id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=120)
    deployment: Deployment
    sweep_date: str | None = None
    hourly_usd_in_source: Dollars | None = Field(
        default=None, description="rate the source used, for the whole or the shared instance; kept, not used"
    )
    levels: tuple[Level, ...]
    warnings: tuple[DataWarning, ...] = ()
    source: Source | None = None
