"""Distribution: one measured quantity, with what it rests on and what is missing from it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from runner.endpoint.statistics.intervals import adjusted_quantile, nearest_rank, quantile
from runner.endpoint.statistics.outcomes import ANSWERED, OURS
from runner.records.bench_figures import Distribution, Tally
from runner.records.bench_trial import BenchRequest

QUANTILES = (0.5, 0.9, 0.95, 0.99)
ADJUSTED = (0.5, 0.9, 0.95, 0.99)
CURVE_POINTS = 101
NOT_MEASURED = "not measured"
MEASURES = (
    "queue_ms",
    "slot_ms",
    "connect_ms",
    "tls_ms",
    "headers_ms",
    "first_byte_ms",
    "first_event_ms",
    "ttft_ms",
    "first_reasoning_ms",
    "first_visible_ms",
    "first_tool_ms",
    "ttfo_ms",
    "last_visible_ms",
    "latency_ms",
    "scheduled_latency_ms",
    "done_ms",
    "total_ms",
    "tpot_ms",
    "output_tps",
    "visible_tps",
    "e2e_tps",
    "prefill_tps",
    "tokens_per_chunk",
    "gap_p50_ms",
    "gap_p95_ms",
    "gap_max_ms",
    "burst_ratio",
)
"""Figures of a request that are summarised; those of ``BenchTiming``."""
WAITED_FOR = frozenset({"ttft_ms", "ttfo_ms", "latency_ms", "scheduled_latency_ms", "total_ms"})
"""Figures where a failure counts as an infinite wait in the error-adjusted percentiles."""


def distribution(
    values: Iterable[float | None],
    *,
    excluded: Mapping[str, int] | None = None,
    skipped: Mapping[str, int] | None = None,
    failed: int | None = None,
) -> Distribution:
    """The figures of a sample; values that are None or not finite are counted as not measured.

    Args:
        excluded: attempts that have no value, by reason.
        skipped: what was planned and never tried, by reason.
        failed: how many of the excluded took for ever, for adjusted percentiles; None: there are none.
    """
    given = list(values)
    ordered = sorted(value for value in given if value is not None and math.isfinite(value))
    left_out = Counter(excluded or {})
    left_out[NOT_MEASURED] += len(given) - len(ordered)
    tally = Tally(
        attempted=len(ordered) + left_out.total(),
        used=len(ordered),
        excluded={reason: count for reason, count in sorted(left_out.items()) if count},
        skipped=dict(sorted((skipped or {}).items())),
    )
    adjusted = (
        ()
        if failed is None or not len(ordered) + failed
        else tuple(adjusted_quantile(ordered, failed, q) for q in ADJUSTED)
    )
    if not ordered:
        return Distribution(tally=tally, adjusted=adjusted)
    mean = statistics.fmean(ordered)
    deviation = statistics.stdev(ordered) if len(ordered) > 1 else None
    median = statistics.median(ordered)
    return Distribution(
        tally=tally,
        mean=mean,
        minimum=ordered[0],
        maximum=ordered[-1],
        standard_deviation=deviation,
        median_deviation=statistics.median(abs(value - median) for value in ordered),
        variation=deviation / mean if deviation is not None and mean else None,
        quantiles=tuple(quantile(ordered, q) for q in QUANTILES),
        adjusted=adjusted,
        curve=curve(ordered),
    )


def curve(ordered: Sequence[float]) -> tuple[float, ...]:
    """The sorted sample, or its nearest ranks at 101 even shares where it is longer."""
    if len(ordered) <= CURVE_POINTS:
        return tuple(ordered)
    return tuple(nearest_rank(ordered, number / (CURVE_POINTS - 1)) for number in range(CURVE_POINTS))


def measure(
    requests: Sequence[BenchRequest], name: str, skipped: Mapping[str, int] | None = None
) -> Distribution:
    """One figure over all requests: of those that were answered; the others are excluded by their class.

    An answer that is wrong or cut by its limit counts: its time was measured all the same.
    """
    answered = [request for request in requests if request.outcome in ANSWERED]
    excluded = Counter(request.outcome for request in requests if request.outcome not in ANSWERED)
    failed = sum(count for outcome, count in excluded.items() if outcome not in OURS)
    return distribution(
        (getattr(request.timing, name) for request in answered),
        excluded=excluded,
        skipped=skipped,
        failed=failed if name in WAITED_FOR else None,
    )


def measures(
    requests: Sequence[BenchRequest], skipped: Mapping[str, int] | None = None
) -> dict[str, Distribution]:
    """All figures that at least one request has, by name; the times that matter stand always."""
    found = {name: measure(requests, name, skipped) for name in MEASURES}
    return {name: each for name, each in found.items() if each.tally.used or name in WAITED_FOR}
