"""Intervals against scipy, against known sizes, and against the truth of many samples."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import binomtest as reference

from runner.endpoint.statistics.intervals import (
    adjusted_quantile,
    bounding_ranks,
    nearest_rank,
    quantile,
    rate,
    wilson,
)


@given(st.integers(1, 400), st.data())
def test_wilson_is_that_of_scipy(of: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, of))
    expected = reference(count, of).proportion_ci(method="wilson")
    found = wilson(count, of)
    assert found is not None
    assert found == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_rate_of_nothing_is_not_known() -> None:
    assert wilson(0, 0) is None
    assert rate(0, 0).rate is None


@pytest.mark.parametrize(("q", "least"), [(0.95, 72), (0.99, 368)])
def test_the_upper_bound_of_a_high_percentile_takes_so_many_values(q: float, least: int) -> None:
    assert bounding_ranks(least - 1, q)[1] is None
    assert bounding_ranks(least, q)[1] == least
    sample = [float(each) for each in range(1, least + 1)]
    few, enough = quantile(sample[:-1], q), quantile(sample, q)
    assert (few.value, few.high) == (None, None)
    assert enough.low is not None
    assert enough.value is not None
    assert enough.low <= enough.value <= (enough.high or 0.0)


@given(st.integers(1, 300), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_ranks_leave_at_most_two_and_a_half_percent_on_each_side(n: int, q: float) -> None:
    low, high = bounding_ranks(n, q)
    if low is not None:
        assert binom.cdf(low - 1, n, q) <= 0.025 + 1e-9
        assert low == n or binom.cdf(low, n, q) > 0.025 - 1e-9
    if high is not None:
        assert binom.cdf(high - 1, n, q) >= 0.975 - 1e-9
        assert high == 1 or binom.cdf(high - 2, n, q) < 0.975 + 1e-9


def test_the_interval_of_the_median_covers_it_in_about_95_of_100_samples() -> None:
    drawn = random.Random(1)
    covered = 0
    for _ in range(400):
        figure = quantile(sorted(drawn.expovariate(1.0) for _ in range(40)), 0.5)
        assert figure.low is not None
        assert figure.high is not None
        covered += figure.low <= math.log(2) <= figure.high
    assert 370 <= covered <= 400


def test_a_high_percentile_of_a_small_sample_is_not_shown() -> None:
    sample = [float(each) for each in range(1, 21)]
    assert quantile(sample, 0.99).value is None
    assert quantile(sample, 0.95).value is None
    assert quantile(sample, 0.9).value == 18.0
    assert quantile(sample, 0.5).low is not None


def test_nothing_has_no_percentile() -> None:
    figure = quantile([], 0.5)
    assert (figure.value, figure.low, figure.high) == (None, None, None)


@pytest.mark.parametrize(("q", "value"), [(0.5, 3.0), (0.2, 1.0), (0.21, 2.0), (1.0, 5.0), (0.0, 1.0)])
def test_nearest_rank_is_a_value_of_the_sample(q: float, value: float) -> None:
    assert nearest_rank([1.0, 2.0, 3.0, 4.0, 5.0], q) == value


def test_rounding_does_not_move_a_rank() -> None:
    assert nearest_rank([float(each) for each in range(1, 101)], 0.55) == 55.0


def test_failures_are_infinite_waits() -> None:
    sample = [1.0, 2.0, 3.0, 4.0]
    assert adjusted_quantile(sample, 0, 0.9).value == 4.0
    assert adjusted_quantile(sample, 6, 0.9).infinite
    assert adjusted_quantile(sample, 4, 0.5).value == 4.0
    assert adjusted_quantile([], 0, 0.5).value is None


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.integers(0, 60))
def test_failures_never_make_a_percentile_smaller(values: list[float], failed: int) -> None:
    ordered = sorted(values)
    for q in (0.5, 0.9, 0.99):
        found = adjusted_quantile(ordered, failed, q)
        assert found.infinite or (found.value or 0.0) >= nearest_rank(ordered, q)
