"""Panels: the tiles and panels of a telemetry page as plain values, from an open archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from generators.telemetry.bins import Bins, Numbers, Points
from generators.telemetry.reading import Archive, ScrapeFacts, SessionFacts

HOLE_OF_INTERVALS = 5.0
"""So many intervals without an answered scrape are a hole in every line."""
MILLI = 1000.0
KV_NAMES = ("kv_cache_usage_perc", "gpu_cache_usage_perc")
GAP_NAMES = ("inter_token_latency_seconds", "time_per_output_token_seconds")
PER_TOKEN_NAMES = ("request_time_per_output_token_seconds", *GAP_NAMES)
LATENCIES = (
    ("Time to first token", ("time_to_first_token_seconds",)),
    ("Between two tokens", GAP_NAMES),
    ("Waiting in the queue", ("request_queue_time_seconds",)),
    ("Whole request", ("e2e_request_latency_seconds",)),
)


@dataclass(frozen=True)
class Tile:
    """One figure; ``value`` is None where the server does not tell it."""

    title: str
    value: float | None
    unit: str = ""
    digits: int = 0
    note: str = ""


@dataclass(frozen=True)
class Line:
    """One line of a panel."""

    name: str
    points: Points


@dataclass(frozen=True)
class Panel:
    """Lines over time on a scale of their own."""

    title: str
    unit: str
    lines: tuple[Line, ...]
    digits: int = 1
    ceiling: float | None = None


@dataclass(frozen=True)
class Bar:
    """One kind of end of requests, and how many."""

    name: str
    count: float


@dataclass(frozen=True)
class Telemetry:
    """Everything that a page shows."""

    models: tuple[str, ...]
    sessions: tuple[SessionFacts, ...]
    scrapes: ScrapeFacts
    begun: float
    """Seconds since 1970 of the first answered scrape; 0 where there is none."""
    span: float
    middles: tuple[float, ...]
    tiles: tuple[Tile, ...]
    throughput: tuple[Panel, ...]
    scheduler: tuple[Panel, ...]
    latency: tuple[Panel, ...]
    ends: tuple[Bar, ...]
    traffic: Literal["some", "none"]


def read_telemetry(archive: Archive) -> Telemetry:
    """Tiles and panels of ``archive``.

    A rate is growth over the time between scrapes; a latency is the growth of a histogram's sum over that of
    its count, in each span of time. Throughput tiles are the whole growth over the whole time.
    """
    sessions = archive.sessions()
    longest = max((each.interval_seconds for each in sessions), default=1.0) * HOLE_OF_INTERVALS
    bins = Bins(archive.times, longest)
    prompt, generation = archive.growth("prompt_tokens_total"), archive.growth("generation_tokens_total")
    running = archive.level("num_requests_running", "sum")
    waiting = archive.level("num_requests_waiting", "sum")
    cache = next((found for name in KV_NAMES if (found := archive.level(name, "avg")) is not None), None)
    total = _total(prompt, generation)
    return Telemetry(
        models=archive.models(),
        sessions=sessions,
        scrapes=archive.scrapes(),
        begun=float(archive.times[0]) if archive.times.size else 0.0,
        span=bins.span,
        middles=bins.middles,
        tiles=_tiles(archive, bins.span, (prompt, generation, running, cache)),
        throughput=(
            Panel("Prompt tokens", "tokens/s", (Line("prompt", bins.rates(prompt)),)),
            Panel("Generated tokens", "tokens/s", (Line("generated", bins.rates(generation)),)),
        ),
        scheduler=(
            Panel(
                "Requests in the scheduler",
                "requests",
                (Line("running", bins.means(running)), Line("waiting", bins.means(waiting))),
            ),
            Panel("Key-value cache in use", "%", (Line("in use", bins.means(cache, 100.0)),), ceiling=100.0),
        ),
        latency=tuple(
            Panel(title, "ms", (Line("mean", bins.ratios(*_histogram(archive, names), MILLI)),))
            for title, names in LATENCIES
        ),
        ends=tuple(
            Bar(name, count)
            for name, count in sorted(
                archive.growth_by("request_success_total", "finished_reason").items(),
                key=lambda each: (-each[1], each[0]),
            )
        ),
        traffic="some" if total else "none",
    )


def _tiles(
    archive: Archive,
    span: float,
    columns: tuple[Numbers | None, Numbers | None, Numbers | None, Numbers | None],
) -> tuple[Tile, ...]:
    prompt, generation, running, cache = columns
    prompts, generated = _sum(prompt), _sum(generation)
    tokens = _total(prompt, generation)
    hits, queries = (
        _sum(archive.growth("prefix_cache_hits_total")),
        _sum(archive.growth("prefix_cache_queries_total")),
    )
    finished = _sum(archive.growth("request_success_total"))
    return (
        Tile("Duration", span or None, "s"),
        Tile(
            "Tokens",
            None if tokens is None else tokens / 1e6,
            "million",
            3,
            f"{_parts(prompts)} prompt, {_parts(generated)} generated",
        ),
        Tile("Prompt throughput", _over(prompts, span), "tokens/s", 1),
        Tile("Generation throughput", _over(generated, span), "tokens/s", 1),
        Tile("Completed requests", finished),
        Tile("Mean time to first token", _mean(archive, ("time_to_first_token_seconds",)), "ms", 1),
        Tile("Mean time per output token", _mean(archive, PER_TOKEN_NAMES), "ms", 2),
        Tile("Mean whole request", _mean(archive, ("e2e_request_latency_seconds",), 1.0), "s", 2),
        Tile("Peak concurrency", _peak(running), "requests"),
        Tile("Prefix-cache hits", _over(hits, queries, 100.0), "%", 1, "of tokens looked up"),
        Tile("Peak key-value cache", _peak(cache, 100.0), "%", 1),
    )


def _histogram(archive: Archive, names: tuple[str, ...]) -> tuple[Numbers | None, Numbers | None]:
    """Growth of sum and count of the first family that is there."""
    for name in names:
        count = archive.growth(f"{name}_count")
        if count is not None:
            return archive.growth(f"{name}_sum"), count
    return None, None


def _mean(archive: Archive, names: tuple[str, ...], factor: float = MILLI) -> float | None:
    total, count = _histogram(archive, names)
    return _over(_sum(total), _sum(count), factor)


def _sum(column: Numbers | None) -> float | None:
    return None if column is None or not np.isfinite(column).any() else float(np.nansum(column))


def _total(prompt: Numbers | None, generation: Numbers | None) -> float | None:
    parts = _sum(prompt), _sum(generation)
    return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]


def _peak(column: Numbers | None, factor: float = 1.0) -> float | None:
    return None if column is None or not np.isfinite(column).any() else float(np.nanmax(column)) * factor


def _over(above: float | None, below: float | None, factor: float = 1.0) -> float | None:
    return above / below * factor if above is not None and below else None


def _parts(value: float | None) -> str:
    return "unknown" if value is None else f"{value / 1e6:,.3f}"
