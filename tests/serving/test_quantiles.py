"""Quantiles lie within their bucket, and where a bucket has one bound only no value is made up."""

from __future__ import annotations

import math
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.replay.metric_families import FIRST_TOKEN_BOUNDS, REQUEST_BOUNDS
from runner.serving.quantiles import SHARES, bracket, latency_quantiles
from runner.serving.timeline import HistogramReading

observations = st.lists(st.floats(min_value=0, max_value=10_000), min_size=1, max_size=60)


def buckets(values: list[float], bounds: tuple[float, ...] = REQUEST_BOUNDS) -> list[tuple[float, float]]:
    """What a histogram with these bounds tells of the values."""
    edges = [*bounds, math.inf]
    return [(edge, float(sum(value <= edge for value in values))) for edge in edges]


def reading(values: list[float]) -> HistogramReading:
    """A whole histogram."""
    return HistogramReading(len(values), sum(values), tuple(buckets(values)))


@given(observations, st.sampled_from(sorted(SHARES.values())))
def test_the_true_quantile_lies_in_the_bucket_that_is_named(values: list[float], share: float) -> None:
    found = bracket(buckets(values), share)
    assert found is not None
    truth = sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]
    assert found.lower <= truth <= (math.inf if found.upper is None else found.upper)
    if found.estimate is not None:
        assert found.upper is not None
        assert found.lower <= found.estimate <= found.upper


@given(observations, st.sampled_from(sorted(SHARES.values())))
def test_only_inner_buckets_have_an_estimate(values: list[float], share: float) -> None:
    found = bracket(buckets(values), share)
    assert found is not None
    inner = found.lower > 0 and found.upper is not None
    assert (found.estimate is not None) is inner


@given(observations)
def test_quantiles_do_not_fall(values: list[float]) -> None:
    found = [bracket(buckets(values), share) for share in sorted(SHARES.values())]
    lowers = [each.lower for each in found if each is not None]
    estimates = [each.estimate for each in found if each is not None and each.estimate is not None]
    assert lowers == sorted(lowers)
    assert estimates == sorted(estimates)


@given(st.lists(st.floats(min_value=0.001, max_value=2000), min_size=300, max_size=300))
def test_an_estimate_is_at_most_a_bucket_away(values: list[float]) -> None:
    found = bracket(buckets(values, FIRST_TOKEN_BOUNDS), 0.5)
    assert found is not None
    if found.estimate is not None:
        truth = sorted(values)[149]
        assert bisect_left(FIRST_TOKEN_BOUNDS, found.estimate) == pytest.approx(
            bisect_left(FIRST_TOKEN_BOUNDS, truth), abs=1
        )


def test_evenly_spread_observations_give_the_value_itself() -> None:
    values = [1.0 + number / 1000 for number in range(1, 501)]
    found = bracket(buckets(values), 0.9)
    assert found is not None
    assert found.estimate == pytest.approx(1.45)


def test_a_queue_of_nobody_is_no_300_milliseconds() -> None:
    found = latency_quantiles(reading([0.0] * 20))
    assert found.estimate is None
    assert found.upper is not None
    assert found.lower is not None
    assert (found.lower.p50, found.upper.p50, found.upper.p99) == (0, 300, 300)


def test_beyond_the_last_bound_only_that_bound_is_known() -> None:
    found = latency_quantiles(reading([1.2] * 5 + [9000.0] * 5))
    assert found.lower is not None
    assert found.upper is not None
    assert found.estimate is not None
    assert (found.lower.p90, found.upper.p90, found.estimate.p90) == (7_680_000, None, None)
    assert (found.upper.p50, found.estimate.p50) == (1500, 1500)


@pytest.mark.parametrize(
    "empty", [None, HistogramReading(0, 0, ()), HistogramReading(0, 0, ((0.3, 0.0), (math.inf, 0.0)))]
)
def test_of_nothing_nothing_is_known(empty: HistogramReading | None) -> None:
    found = latency_quantiles(empty)
    assert (found.lower, found.upper, found.estimate) == (None, None, None)


def test_buckets_that_fall_a_little_through_interpolation_are_taken_as_level() -> None:
    found = bracket([(0.3, 4.0), (0.5, 3.9999999), (0.8, 8.0), (math.inf, 8.0)], 0.9)
    assert found is not None
    assert (found.lower, found.upper) == (0.5, 0.8)
