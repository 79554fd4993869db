"""Outcome: what a finished sweep says, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from runner.costs import DEFAULT_COMMITMENT, InstancePrices, blended_rate
from runner.costs.levels import total_rate
from runner.records import Level, Quantiles, ThroughputRecord

HEADER = (
    "sessions",
    "prompt tok/s",
    "output tok/s",
    "TTFT mean",
    "TTFT p90",
    "TPOT",
    "queue",
    "waiting",
    "KV",
)
BETWEEN = "  "


def outcome_lines(record: ThroughputRecord, prices: InstancePrices) -> Iterator[str]:
    """Every level, what they come to, and what is to be said of them. Milliseconds."""
    rows = [HEADER, *map(_cells, record.levels)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield BETWEEN.join(text.rjust(width) for text, width in zip(row, widths, strict=True))
    found = record.findings
    by_number = {level.concurrency: level for level in record.levels}
    if found is None:
        return
    if found.cheapest is not None:
        yield f"cheapest: {found.cheapest} sessions{_dollars(by_number[found.cheapest], record, prices)}"
    if found.fastest is not None:
        rate = by_number[found.fastest].output_tokens_per_second
        yield f"fastest: {found.fastest} sessions, {rate:,.1f} output tokens per second"
    limits = [
        f"TTFT p90 {found.ttft_p90_limit_ms:g} ms" if found.ttft_p90_limit_ms is not None else "",
        f"TPOT mean {found.tpot_mean_limit_ms:g} ms" if found.tpot_mean_limit_ms is not None else "",
    ]
    if any(limits):
        within = "no level" if found.within_limit is None else f"{found.within_limit} sessions"
        yield f"cheapest within {' and '.join(filter(None, limits))}: {within}"
    if found.saturated_from is not None:
        yield f"saturated from {found.saturated_from} sessions: {found.saturation}"
    for warning in record.warnings:
        yield f"{warning.code}: {warning.text}"


def _cells(level: Level) -> tuple[str, ...]:
    waiting, cache = level.requests_waiting, level.kv_cache_usage
    return (
        str(level.concurrency),
        _number(level.prompt_tokens_per_second),
        _number(level.output_tokens_per_second),
        _number(level.ttft_ms_mean),
        quantile_text(level.ttft_ms_estimate, level.ttft_ms_lower, level.ttft_ms_upper, "p90"),
        _number(level.tpot_ms_mean),
        _number(level.queue_ms_mean),
        _number(None if waiting is None else waiting.mean),
        "unknown" if cache is None or cache.peak is None else f"{cache.peak:.0%}",
    )


def quantile_text(
    estimate: Quantiles | None, lower: Quantiles | None, upper: Quantiles | None, name: str
) -> str:
    """A quantile as it is known: a value, or a bound, or unknown."""
    values = [None if each is None else getattr(each, name) for each in (estimate, upper, lower)]
    for mark, value in zip(("", "<= ", "> "), values, strict=True):
        if value is not None:
            return f"{mark}{value:,.0f}"
    return "unknown"


def _dollars(level: Level, record: ThroughputRecord, prices: InstancePrices) -> str:
    machine = record.deployment
    hourly, share = prices.hourly(machine.instance_type, DEFAULT_COMMITMENT), machine.instance_share
    prompt, output = level.prompt_tokens_per_second, level.output_tokens_per_second
    if total_rate(level) is None or prompt is None or output is None:
        return ""
    if hourly is None:
        reason = prices.missing_reason(machine.instance_type, DEFAULT_COMMITMENT)
        return f", its price per token is unknown: {reason}"
    if share is None:
        return (
            f", its price per token is unknown: what share of the {machine.instance_type} is in use was not "
            "told (--tensor-parallel-size, or --instance-share)"
        )
    rate = blended_rate(hourly * share, prompt, output) * 1e6
    return f", {rate:.4f} USD per million tokens of any kind ({hourly * share:g} USD an hour)"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.1f}"
