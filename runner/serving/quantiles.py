"""Quantiles: what a histogram of a window says about p50, p90 and p99, and how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from runner.records import Quantiles
from runner.serving.timeline import HistogramReading

SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
MILLISECONDS = 1000.0


@dataclass(frozen=True)
class Bracket:
    """A quantile as a histogram knows it, in the histogram's unit."""

    lower: float
    upper: float | None
    """None: in the last bucket, which never ends."""
    estimate: float | None
    """None in the first bucket and in the last, which have one bound only."""


@dataclass(frozen=True)
class LatencyQuantiles:
    """The quantiles of one latency in milliseconds, in the three ways a record keeps them."""

    lower: Quantiles | None = None
    upper: Quantiles | None = None
    estimate: Quantiles | None = None


def bracket(buckets: Sequence[tuple[float, float]], share: float) -> Bracket | None:
    """The bucket that holds a quantile, and the place within it on a straight line between its bounds.

    ``estimate = lower + (upper - lower) x (share x all - below) / inside``, where ``below`` observations lie
    in earlier buckets and ``inside`` in this one. The first bucket begins at zero by definition only: with
    all observations in it, half of its width would be a made-up figure. Source: as Prometheus interpolates.

    Args:
        buckets: upper edge and number of observations at most that large, in order; the last edge is
            infinite.
        share: 0.9 for the p90.

    Returns:
        None where nothing was observed.
    """
    rising: list[tuple[float, float]] = []
    most = 0.0
    for edge, count in buckets:
        most = max(most, count)
        rising.append((edge, most))
    if most <= 0:
        return None
    rank, lower, below = share * most, 0.0, 0.0
    for number, (edge, count) in enumerate(rising):
        if count >= rank and count > below:
            if math.isinf(edge):
                return Bracket(lower, None, None)
            within = (rank - below) / (count - below)
            return Bracket(lower, edge, lower + (edge - lower) * within if number else None)
        lower, below = edge, count
    return None


def latency_quantiles(reading: HistogramReading | None) -> LatencyQuantiles:
    """All quantiles of a histogram of seconds; empty where nothing was observed."""
    found = {name: bracket(reading.buckets, share) for name, share in SHARES.items()} if reading else {}
    known = {name: each for name, each in found.items() if each is not None}
    if not known:
        return LatencyQuantiles()
    return LatencyQuantiles(
        lower=Quantiles(**{name: _ms(each.lower) for name, each in known.items()}),
        upper=_some({name: _ms(each.upper) for name, each in known.items()}),
        estimate=_some({name: _ms(each.estimate) for name, each in known.items()}),
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * MILLISECONDS, 3)


def _some(values: dict[str, float | None]) -> Quantiles | None:
    return Quantiles(**values) if any(value is not None for value in values.values()) else None
