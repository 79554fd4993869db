"""Endpoint words: what figures of endpoint benchmarks are called on pages, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from generators.pages import words
from generators.tables.dollars import Priced
from runner.records import CostBasis
from runner.records.bench_manifest import BenchTarget

Kind = Literal["ms", "speed", "share", "plain", "count", "seconds"]


@dataclass(frozen=True)
class Measure:
    """A figure of a request: its name in records, its name on pages, and how it is written."""

    name: str
    title: str
    kind: Kind = "ms"

    def text(self, value: float) -> str:
        """A value with its unit."""
        match self.kind:
            case "ms":
                return milliseconds(value)
            case "speed":
                return f"{value:,.1f} tok/s"
            case "share":
                return words.percent(value)
            case "plain":
                return f"{value:,.2f}"
            case "count":
                return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
            case "seconds":
                return words.duration(value)


MEASURES = (
    Measure("ttft_ms", "First token, any kind (TTFT)"),
    Measure("first_reasoning_ms", "First reasoning"),
    Measure("first_visible_ms", "First visible token"),
    Measure("first_tool_ms", "First tool call"),
    Measure("ttfo_ms", "First output, no reasoning"),
    Measure("tpot_ms", "Time per output token"),
    Measure("last_visible_ms", "Last visible token"),
    Measure("latency_ms", "Last token (latency)"),
    Measure("scheduled_latency_ms", "Last token from the planned send time"),
    Measure("done_ms", "End mark"),
    Measure("total_ms", "End of the connection's answer"),
    Measure("output_tps", "Output speed", "speed"),
    Measure("visible_tps", "Visible speed", "speed"),
    Measure("e2e_tps", "Output speed with the wait", "speed"),
    Measure("prefill_tps", "Input speed, upper bound by proxy", "speed"),
    Measure("gap_p50_ms", "Gap between chunks, median"),
    Measure("gap_p95_ms", "Gap between chunks, p95"),
    Measure("gap_max_ms", "Gap between chunks, longest"),
    Measure("tokens_per_chunk", "Tokens per chunk", "plain"),
    Measure("burst_ratio", "Share of chunks in the last tenth", "share"),
    Measure("queue_ms", "Wait in our own queue"),
    Measure("slot_ms", "Wait for a free slot"),
    Measure("connect_ms", "TCP connection"),
    Measure("tls_ms", "TLS"),
    Measure("headers_ms", "Response head"),
    Measure("first_byte_ms", "First byte"),
    Measure("first_event_ms", "First event, no token yet"),
)
COUNT = Measure("count", "Number", "count")
SECONDS = Measure("seconds", "Seconds", "seconds")
BY_NAME = {measure.name: measure for measure in MEASURES}
CLASSES = (
    ("succeeded", "Good end"),
    ("truncated", "Cut short"),
    ("incomplete", "No finish reason"),
    ("rate_limited", "Rate limited"),
    ("timed_out", "Timed out"),
    ("http_error", "HTTP error"),
    ("broken_stream", "Broken stream"),
    ("malformed", "Malformed"),
    ("refused", "Refused"),
    ("empty", "Empty answer"),
    ("buffered", "Buffered"),
    ("usage_missing", "No token counts"),
    ("not_streamed", "Not streamed"),
)
"""Rates of a target's reliability, by the names of their fields."""
COMPARED = {"score": "Score, share right", "cost_usd": "Dollars of a trial"}
ENDED = {"complete": "complete", "partial": "partial", "harness-fault": "ended by a fault of ours"}
UNSURE = "too few values"


def milliseconds(value: float) -> str:
    """A time in the unit that fits: ``0.42 ms``, ``212 ms``, ``3.41 s``."""
    size = abs(value)
    if size >= 10_000:
        return f"{value / 1000:,.1f} s"
    if size >= 1000:
        return f"{value / 1000:.2f} s"
    if size >= 100:
        return f"{value:.0f} ms"
    if size >= 1 or value == 0:
        return f"{value:.1f} ms"
    return f"{value:.2f} ms" if size >= 0.1 else f"{value:.2g} ms"


def outcome(name: str) -> str:
    """A class of requests, or a reason, in words."""
    return name.replace("_", " ").replace("-", " ")


def tally(counts: dict[str, int]) -> str:
    """Counts by reason, most first: ``rate limited × 8, http error × 2``."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return words.listing([f"{outcome(name)} × {count:,}" for name, count in ordered])


def rests_on(target: BenchTarget) -> str:
    """What the dollars of a target rest on, with the day of its prices."""
    day = target.price.priced_on
    return words.priced(Priced(CostBasis.PRICE_TABLE, day, day))
