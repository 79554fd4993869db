"""Level: the figures of one concurrency level, from the scrapes between its own start and end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from runner.errors import EndpointError
from runner.records import DataWarning, Level, LoadSession, Spread
from runner.serving.asked import Asked
from runner.serving.quantiles import MILLISECONDS, LatencyQuantiles, latency_quantiles
from runner.serving.readings import Readings
from runner.serving.timeline import Combine, HistogramReading

PROMPT, OUTPUT = "vllm:prompt_tokens_total", "vllm:generation_tokens_total"
FINISHED, PREEMPTIONS = "vllm:request_success_total", "vllm:num_preemptions_total"
RUNNING, WAITING = "vllm:num_requests_running", "vllm:num_requests_waiting"
CACHE_USE = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
QUERIES = ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total")
HITS = ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total")
"""Newer name first, then the one that older servers have."""
LATENCIES: Mapping[str, tuple[str, ...]] = {
    "ttft": ("vllm:time_to_first_token_seconds",),
    "tpot": ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    "queue": ("vllm:request_queue_time_seconds",),
    "prefill": ("vllm:request_prefill_time_seconds",),
    "e2e": ("vllm:e2e_request_latency_seconds",),
}
WELL_ENDED = ("stop", "length", "repetition")
FEW_REQUESTS = 10
GAP_INTERVALS = 3.5
"""A time without a scrape that is longer than so many intervals is a gap."""
BACKLOG_FACTOR = 2.0
"""With one session nothing should be before it: its first token takes little more than its prefill."""


@dataclass(frozen=True)
class LevelWindow:
    """A level as it was run."""

    concurrency: int
    started_at: datetime
    ended_at: datetime
    interval_seconds: float
    """Of the scrapes."""
    sessions: tuple[LoadSession, ...] = ()
    from_idle: bool = False
    """Whether the server had nothing to do until the level began."""
    asked: Asked | None = None
    """What the load's requests wanted; None where it cannot know."""

    @property
    def seconds(self) -> float:
        """Length of the window."""
        return (self.ended_at - self.started_at).total_seconds()


class _Figures:
    """Questions to the readings about one window and one model.

    Rates divide by the level's own length; gauges are read at the scrapes within it.
    """

    def __init__(self, readings: Readings, model: str, window: LevelWindow) -> None:
        self._readings = readings
        self._inside = (window.started_at, window.ended_at)
        self._seconds = window.seconds
        self._labels = _labels(readings, model, window)
        self._known = readings.metrics()
        start = self._last_idle(window) if window.from_idle else window.started_at
        self._span = (start, window.ended_at)

    def _last_idle(self, window: LevelWindow) -> datetime:
        """The last scrape before the start where the server had nothing to do, else the start itself.

        What it counted until the first scrape within the level was then all of this level.
        """
        before: list[float] = []
        for name in (RUNNING, WAITING):
            samples = self._readings.samples(name, *self._inside)
            times = samples.scrape_times[samples.scrape_times <= window.started_at.timestamp()]
            if not times.size or not samples.series:
                return window.started_at
            busy = [each.values[each.times == times[-1]] for each in samples.series]
            if any(values.size != 1 or values[0] != 0 for values in busy):
                return window.started_at
            before.append(float(times[-1]))
        return datetime.fromtimestamp(min(before), UTC)

    def counted(self, *names: str, **labels: str) -> float | None:
        """How far a counter rose, under the first of its names that the server has."""
        name = next((each for each in names if each in self._known), names[0])
        return self._readings.counter(name, *self._span, {**self._labels, **labels})

    def rate(self, *names: str) -> float | None:
        """The same per second."""
        return None if (counted := self.counted(*names)) is None else round(counted / self._seconds, 4)

    def gauge(self, *names: str, peaks: bool = False) -> Spread | None:
        """Peak and mean of a gauge over all engines: added up, or with ``peaks`` the fullest and the mean."""
        name = next((each for each in names if each in self._known), names[0])
        ways = (Combine.MAX, Combine.MEAN) if peaks else (Combine.SUM, Combine.SUM)
        high, middle = (self._readings.gauge(name, *self._inside, self._labels, way) for way in ways)
        if high is None or middle is None:
            return None
        return Spread(peak=round(high.peak, 4), mean=round(middle.mean, 4))

    def histogram(self, names: Sequence[str]) -> HistogramReading | None:
        """What a histogram of seconds counted."""
        name = next((each for each in names if f"{each}_count" in self._known), names[0])
        return self._readings.histogram(name, *self._span, self._labels)

    def requests(self) -> tuple[int | None, int | None]:
        """Requests that ended well, and all others that ended."""
        every = self.counted(FINISHED)
        if every is None:
            return None, None
        well = sum(self.counted(FINISHED, finished_reason=reason) or 0.0 for reason in WELL_ENDED)
        return round(well), max(round(every - well), 0)


def level_of(readings: Readings, model: str, window: LevelWindow) -> Level:
    """The figures of a level and what is to be said about them.

    Rates divide by the level's own length and all means are over it: neither the time before its start nor
    the idle time after its end is in them.

    Args:
        readings: scrapes from before the start until after the end.
        model: as on the wire; where the server labels its samples in another way they are taken together.
        window: the level as it was run.

    Raises:
        EndpointError: the scrapes do not reach from start to end.
    """
    gap = readings.widest_gap(window.started_at, window.ended_at)
    if gap is None:
        raise EndpointError(
            f"the server's metrics were not read from the start to the end of level {window.concurrency}",
            remedy="see that the metrics page can be reached, then resume the sweep",
        )
    figures = _Figures(readings, model, window)
    latencies = {name: figures.histogram(families) for name, families in LATENCIES.items()}
    queries, hits = figures.counted(*QUERIES), figures.counted(*HITS)
    well, badly = figures.requests()
    preempted = figures.counted(PREEMPTIONS)
    level = Level(
        concurrency=window.concurrency,
        started_at=window.started_at,
        ended_at=window.ended_at,
        window_seconds=round(window.seconds, 3),
        output_tokens_per_second=figures.rate(OUTPUT),
        prompt_tokens_per_second=figures.rate(PROMPT),
        requests_per_second=figures.rate(FINISHED),
        kv_cache_usage=figures.gauge(*CACHE_USE, peaks=True),
        requests_running=figures.gauge(RUNNING),
        requests_waiting=figures.gauge(WAITING),
        prefix_cache_hit_rate=round(min(hits / queries, 1.0), 4) if queries and hits is not None else None,
        **_latency_fields(latencies),
        successful_requests=well,
        failed_requests=badly,
        preemptions=None if preempted is None else round(preempted),
        sessions=window.sessions,
    )
    resets = readings.resets(PROMPT, window.started_at, window.ended_at)
    return level.model_copy(update={"warnings": tuple(_warnings(level, window, gap, resets))})


def _labels(readings: Readings, model: str, window: LevelWindow) -> Mapping[str, str]:
    wanted = {"model_name": model}
    found = readings.samples(RUNNING, window.started_at, window.ended_at, wanted).series
    return wanted if found else {}


def _latency_fields(latencies: Mapping[str, HistogramReading | None]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, reading in latencies.items():
        quantiles: LatencyQuantiles = latency_quantiles(reading)
        mean = None if reading is None or reading.mean is None else round(reading.mean * MILLISECONDS, 4)
        fields |= {
            f"{name}_ms_mean": mean,
            f"{name}_ms_lower": quantiles.lower,
            f"{name}_ms_upper": quantiles.upper,
            f"{name}_ms_estimate": quantiles.estimate,
        }
    return fields


def _warnings(level: Level, window: LevelWindow, gap: float, resets: int) -> Iterator[DataWarning]:
    yield from _observation_warnings(level, window, gap, resets)
    ttft, prefill, queue = level.ttft_ms_mean, level.prefill_ms_mean, level.queue_ms_mean
    if (
        level.concurrency == 1
        and ttft is not None
        and prefill is not None
        and ttft > prefill * BACKLOG_FACTOR
    ):
        yield DataWarning(
            code="backlog-in-level",
            text=f"One session: the first token took {ttft:.0f} ms on average, the prefill {prefill:.0f} ms.",
        )
    if queue is not None and prefill is not None and queue > prefill:
        yield DataWarning(
            code="queue-above-prefill",
            text=f"Level {level.concurrency}: requests waited {queue:.0f} ms on average, "
            f"their prefill took {prefill:.0f} ms.",
        )
    failed = [each for each in level.sessions if each.status == "error"]
    if failed:
        yield DataWarning(
            code="load-sessions-failed",
            text=f"Level {level.concurrency}: {len(failed)} of {len(level.sessions)} sessions, first: "
            f"{failed[0].error or 'no reason given'}"[:1000],
        )
    yield from _shape_warnings(level, window)
    tasks = {each.task for each in level.sessions}
    if len(tasks) < len(level.sessions):
        yield DataWarning(
            code="tasks-repeated",
            text=f"Level {level.concurrency}: {len(level.sessions)} sessions at {len(tasks)} tasks.",
        )


def _shape_warnings(level: Level, window: LevelWindow) -> Iterator[DataWarning]:
    if window.asked is None or level.successful_requests is None:
        return
    counted = [
        None if rate is None else rate * window.seconds
        for rate in (level.prompt_tokens_per_second, level.output_tokens_per_second)
    ]
    ended = level.successful_requests + (level.failed_requests or 0)
    departures = [*window.asked.departures(counted[0], counted[1], ended, level.concurrency)]
    if departures:
        yield DataWarning(
            code="load-not-as-asked", text=f"Level {level.concurrency}: {'; '.join(departures)}."
        )


def _observation_warnings(
    level: Level, window: LevelWindow, gap: float, resets: int
) -> Iterator[DataWarning]:
    if gap > window.interval_seconds * GAP_INTERVALS:
        yield DataWarning(
            code="scrapes-missing",
            text=f"Level {level.concurrency}: up to {gap:.1f} s without an answer from the metrics page.",
        )
    if resets:
        yield DataWarning(code="counter-reset", text=f"Level {level.concurrency}: {resets} times.")
    figures = {
        "prompt throughput": level.prompt_tokens_per_second,
        "output throughput": level.output_tokens_per_second,
        "time to first token": level.ttft_ms_mean,
        "waiting requests": level.requests_waiting,
        "queue time": level.queue_ms_mean,
    }
    missing = [name for name, value in figures.items() if value is None]
    if missing:
        yield DataWarning(code="metrics-missing", text=f"Level {level.concurrency}: {', '.join(missing)}.")
    if level.successful_requests is not None and level.successful_requests < FEW_REQUESTS:
        yield DataWarning(
            code="few-requests",
            text=f"Level {level.concurrency}: {level.successful_requests} requests ended well.",
        )
