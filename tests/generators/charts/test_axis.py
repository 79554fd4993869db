"""Axes: ranges, ticks and the way back from a place to a value."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.charts.axis import cost_scale, linear_axis, log_axis

positive = st.lists(st.floats(1e-4, 1e4), min_size=1, max_size=30)
scores = st.lists(st.floats(0, 100), min_size=1, max_size=30)


def test_costs_are_logarithmic_when_they_span_more_than_a_factor_of_ten() -> None:
    assert cost_scale([1.0, 10.0]) == "linear"
    assert cost_scale([1.0, 10.1]) == "log"
    assert cost_scale([0.0, 100.0]) == "linear"


def test_log_ticks_are_round_amounts() -> None:
    assert log_axis([0.16, 13.3]).ticks == (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
    assert log_axis([0.001, 1000.0]).ticks == (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def test_linear_ticks_are_round_and_cover_the_data() -> None:
    axis = linear_axis([47.1, 75.7], floor=0, ceiling=100)
    assert axis.ticks == (50.0, 60.0, 70.0)
    assert axis.low < 47.1 < 75.7 < axis.high


def test_scores_at_the_ends_stay_visible_without_an_axis_far_beyond_them() -> None:
    axis = linear_axis([0.0, 100.0], floor=0, ceiling=100)
    assert -3 < axis.low < 0
    assert 100 < axis.high < 103
    assert axis.ticks[0] == 0
    assert axis.ticks[-1] == 100


def test_one_value_gets_a_range_around_it() -> None:
    axis = linear_axis([60.0], least_span=10)
    assert axis.at(60.0) == pytest.approx(0.5)
    assert axis.high - axis.low >= 10
    one = log_axis([2.0])
    assert one.low < 2.0 < one.high
    assert one.ticks


@given(scores)
def test_every_score_lies_inside_its_axis_and_is_found_again(values: list[float]) -> None:
    axis = linear_axis(values, floor=0, ceiling=100, least_span=10)
    assert 1 <= len(axis.ticks) <= 12
    for value in values:
        assert 0 < axis.at(value) < 1
        assert axis.value_at(axis.at(value)) == pytest.approx(value, abs=1e-9)


@given(positive)
def test_every_cost_lies_inside_its_log_axis_and_is_found_again(values: list[float]) -> None:
    axis = log_axis(values)
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
    for value in values:
        assert 0 < axis.at(value) < 1
        assert axis.value_at(axis.at(value)) == pytest.approx(value)


def test_plotly_gets_exponents_on_a_log_axis() -> None:
    low, high = log_axis([1.0, 100.0]).plotly_range()
    assert low == pytest.approx(-0.18)
    assert high == pytest.approx(2.18)
    assert math.isclose(linear_axis([0, 1]).plotly_range()[1], 1.09)
