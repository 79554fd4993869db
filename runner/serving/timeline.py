"""Timeline: what samples of a server's metrics say about a window between two instants; pure numbers.

All instants are seconds since 1970. The edges of a window lie between scrapes, so a counter is taken to have
grown evenly between the two scrapes around an edge: the error of a rate is then below the growth of a single
interval, and falls with the length of the window.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]


class Combine(StrEnum):
    """How the values of several label sets become one."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"


@dataclass(frozen=True)
class Series:
    """The values of one label set, in the order of time; values that are no numbers are left out."""

    labels: Mapping[str, str]
    times: Numbers
    values: Numbers


@dataclass(frozen=True)
class Samples:
    """One metric: its series, and the times of every scrape that was answered, whether it had them or not."""

    scrape_times: Numbers
    series: tuple[Series, ...]


@dataclass(frozen=True)
class GaugeReading:
    """A gauge inside a window."""

    peak: float
    mean: float
    """Of the samples, each with the same weight."""
    time_weighted_mean: float
    """Integral over the window divided by its length, straight lines between samples."""
    samples: int


@dataclass(frozen=True)
class HistogramReading:
    """What a histogram counted inside a window."""

    count: float
    total: float
    """Sum of the observed values, in the histogram's unit."""
    buckets: tuple[tuple[float, float], ...]
    """Upper edge and how many observations were at most that large; the last edge is infinite."""

    @property
    def mean(self) -> float | None:
        """Sum over count; None where nothing was observed."""
        return self.total / self.count if self.count > 0 else None


def increase(samples: Samples, start: float, end: float) -> float | None:
    """How far a counter rose from ``start`` to ``end``, over all of its label sets.

    The sum of what each scrape has more than the one before. A value below the one before means that the
    server began anew, so all of it is growth. A label set that earlier scrapes did not have began at zero.
    None where no scrape at or before ``start``, or none at or after ``end``, has the metric.
    """
    if not samples.series or end < start:
        return None
    first = min((float(each.times[0]) for each in samples.series if each.times.size), default=math.inf)
    last = max((float(each.times[-1]) for each in samples.series if each.times.size), default=-math.inf)
    if first > start or last < end:
        return None
    return sum(_grown(each, samples.scrape_times, start, end) for each in samples.series if each.times.size)


def resets(samples: Samples, start: float, end: float) -> int:
    """How many times a counter began anew between two scrapes that both lie inside the window."""
    instants = {
        float(series.times[index])
        for series in samples.series
        for index in range(1, series.times.size)
        if series.values[index] < series.values[index - 1]
        and series.times[index - 1] >= start
        and series.times[index] <= end
    }
    return len(instants)


def gauge(samples: Samples, start: float, end: float, combine: Combine = Combine.SUM) -> GaugeReading | None:
    """Peak and means of a gauge from ``start`` to ``end``; None where no scrape inside has it."""
    times, values = combined(samples, combine)
    inside = (times >= start) & (times <= end)
    if not inside.any():
        return None
    within = values[inside]
    return GaugeReading(
        peak=float(within.max()),
        mean=float(within.mean()),
        time_weighted_mean=_over_time(times, values, start, end),
        samples=int(within.size),
    )


def combined(samples: Samples, combine: Combine = Combine.SUM) -> tuple[Numbers, Numbers]:
    """Times and values of a metric over its label sets, at each scrape that has it."""
    at: dict[float, list[float]] = defaultdict(list)
    for series in samples.series:
        for time, value in zip(series.times.tolist(), series.values.tolist(), strict=True):
            at[time].append(value)
    times = sorted(at)
    return np.array(times), np.array([_joined(at[time], combine) for time in times])


def histogram(
    buckets: Samples, counts: Samples, totals: Samples, start: float, end: float
) -> HistogramReading | None:
    """What a histogram counted from ``start`` to ``end``, over all of its label sets.

    None where count or sum are missing on either side.

    Args:
        buckets: samples of the family's ``_bucket``; their label ``le`` is the upper edge.
        counts: samples of its ``_count``.
        totals: samples of its ``_sum``.
    """
    count, total = increase(counts, start, end), increase(totals, start, end)
    if count is None or total is None:
        return None
    by_edge: dict[float, list[Series]] = defaultdict(list)
    for series in buckets.series:
        edge = edge_of(series.labels.get("le", ""))
        if edge is not None:
            by_edge[edge].append(series)
    grown = [
        (edge, increase(Samples(buckets.scrape_times, tuple(each)), start, end))
        for edge, each in sorted(by_edge.items())
    ]
    return HistogramReading(count, total, tuple((edge, value) for edge, value in grown if value is not None))


def edge_of(text: str) -> float | None:
    """The upper edge that a label ``le`` names; None where it is no number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def widest_gap(scrape_times: Numbers, start: float, end: float) -> float | None:
    """The longest time without an answered scrape that the window touches; None where an edge has no scrape
    beyond it."""
    before, after = scrape_times[scrape_times <= start], scrape_times[scrape_times >= end]
    if not before.size or not after.size:
        return None
    inside = scrape_times[(scrape_times > start) & (scrape_times < end)].tolist()
    times = [float(before[-1]), *inside, float(after[0])]
    return max((later - earlier for earlier, later in pairwise(times)), default=0.0)


def _joined(values: list[float], combine: Combine) -> float:
    if combine is Combine.MAX:
        return max(values)
    return sum(values) / (len(values) if combine is Combine.MEAN else 1)


def _grown(series: Series, scrape_times: Numbers, start: float, end: float) -> float:
    """Growth of one label set between two instants."""
    steps = np.diff(series.values)
    # A fall is a new beginning: what stands there now was counted since.
    steps = np.where(steps < 0, series.values[1:], steps)
    times, level = series.times, np.concatenate(([0.0], np.cumsum(steps)))
    earlier = scrape_times[scrape_times < times[0]]
    if earlier.size:
        times = np.concatenate((earlier[-1:], times))
        level = np.concatenate(([-float(series.values[0])], level))
    at_start, at_end = np.interp([start, end], times, level)
    return float(at_end - at_start)


def _over_time(times: Numbers, values: Numbers, start: float, end: float) -> float:
    """Mean of a line through the samples; beyond the first and the last it is level."""
    inner = times[(times > start) & (times < end)]
    at = np.concatenate(([start], inner, [end]))
    line = np.interp(at, times, values)
    return float(np.trapezoid(line, at) / (end - start)) if end > start else float(line[0])
