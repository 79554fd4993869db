"""The source's throughput file, validated strictly, in its two shapes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner.importers.published.document import Name, SourceBlock, Word
from runner.records import Quantiles, Spread
from runner.records.base import Count, Dollars, Part, Slug

SCHEMA = "published-throughput/1"

Rate = Field(ge=0)
OptionalRate = Field(default=None, ge=0)


class SweepLevel(Part):
    """One concurrency level of a sweep with agent sessions as load. Its dollars are read, never used."""

    concurrency: int = Field(ge=1)
    session_name: Name
    output_tokens_per_second: float = Rate
    prompt_tokens_per_second: float = Rate
    window_seconds: float = Rate
    kv_cache_usage: Spread
    requests_running: Spread
    requests_waiting: Spread
    ttft_ms_mean: float = Rate
    ttft_ms_pctl: Quantiles | None = None
    tpot_ms_mean: float = Rate
    tpot_ms_pctl: Quantiles | None = None
    queue_ms_mean: float | None = OptionalRate
    queue_ms_pctl: Quantiles | None = None
    prefill_ms_mean: float | None = OptionalRate
    blended_cost_per_token_usd: Dollars
    split_input_weight: float
    split_cost_per_input_token_usd: Dollars
    split_cost_per_output_token_usd: Dollars
    blended_cost_per_1m_tokens_usd: Dollars
    split_cost_per_1m_output_tokens_usd: Dollars
    split_cost_per_1m_input_tokens_usd: Dollars
    task_cost_blended_usd: Dollars | None
    task_cost_split_usd: Dollars | None


class Repriced(Part):
    """A later change of rate that rescaled figures which had been rounded before."""

    from_dollars_per_hour: Dollars
    to_dollars_per_hour: Dollars
    factor: float


class SweepDocument(Part):
    """A sweep as the throughput harness summed it up."""

    schema_name: Literal["published-throughput/1"] = Field(alias="schema")
    deployment: Slug
    source: SourceBlock
    model: Name
    instance_type: Word
    dollars_per_hour: Dollars
    tensor_parallel_size: int | None = Field(default=None, ge=1)
    precision: Word | None = None
    task_input_tokens: Count | None
    task_output_tokens: Count | None
    task_input_output_ratio: float | None
    split_input_weight: float
    peak_output_tokens_per_second: float
    peak_at_concurrency: int
    min_blended_cost_per_1m_tokens_usd: Dollars
    min_task_cost_blended_usd: Dollars | None
    min_task_cost_split_usd: Dollars | None
    levels: tuple[SweepLevel, ...] = Field(min_length=1)
    repriced: Repriced | None = Field(default=None, alias="_repriced")


class RequestLevel(Part):
    """One concurrency level of the older shape: equal requests, no prompt throughput."""

    run_name: Name
    concurrency: int = Field(ge=1)
    requests_per_s: float = Rate
    output_tokens_per_s: float = Rate
    tpot_ms_mean: float = Rate
    ttft_ms_mean: float = Rate
    e2e_ms_mean: float = Rate
    preemptions: Count
    successful_requests: Count
    failed_requests: Count


class RequestSweepDocument(Part):
    """A sweep of the older shape."""

    schema_name: Literal["published-throughput/1"] = Field(alias="schema")
    deployment: Slug
    source: SourceBlock
    model: Name
    model_hf: Name
    instance_type: Word
    tensor_parallel_size: int = Field(ge=1)
    max_model_len: int = Field(ge=1)
    gpu_memory_utilization: float = Field(gt=0, le=1)
    precision: Word
    sweep_date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    levels: tuple[RequestLevel, ...] = Field(min_length=1)


def sweep_disagreements(sweep: SweepDocument | RequestSweepDocument) -> list[str]:
    """Every figure of ``sweep`` that its own levels contradict, one line each with its key."""
    seen = [level.concurrency for level in sweep.levels]
    faults = [
        f"levels.{number}.concurrency: {value} stands in the file twice"
        for number, value in enumerate(seen)
        if value in seen[:number]
    ]
    if isinstance(sweep, SweepDocument):
        peak = max(sweep.levels, key=lambda level: level.output_tokens_per_second)
        if peak.output_tokens_per_second != sweep.peak_output_tokens_per_second:
            faults.append(
                f"peak_output_tokens_per_second: {sweep.peak_output_tokens_per_second}, "
                f"but the levels give {peak.output_tokens_per_second}"
            )
        if peak.concurrency != sweep.peak_at_concurrency:
            faults.append(
                f"peak_at_concurrency: {sweep.peak_at_concurrency}, but the levels give {peak.concurrency}"
            )
    return faults
