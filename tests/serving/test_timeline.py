"""Windows over samples: growth with new beginnings, edges between scrapes, gauges, histograms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.serving.timeline import (
    Combine,
    Samples,
    Series,
    combined,
    edge_of,
    gauge,
    histogram,
    increase,
    resets,
    widest_gap,
)


def series(*points: tuple[float, float], **labels: str) -> Series:
    times, values = zip(*points, strict=True)
    return Series(labels, np.array(times, dtype=float), np.array(values, dtype=float))


def samples(*each: Series, times: list[float] | None = None) -> Samples:
    known = sorted({float(time) for one in each for time in one.times}) if times is None else times
    return Samples(np.array(known), each)


STEADY = series(*((float(second), 100.0 * second) for second in range(11)))


def test_a_window_between_scrapes_is_read_on_the_line_between_them() -> None:
    assert increase(samples(STEADY), 2.5, 7.25) == pytest.approx(475.0)
    assert increase(samples(STEADY), 0.0, 10.0) == pytest.approx(1000.0)
    assert increase(samples(STEADY), 3.0, 3.0) == 0.0


def test_a_new_beginning_of_the_server_is_growth_from_zero() -> None:
    reset = series((0, 1000), (1, 1100), (2, 50), (3, 150))
    assert increase(samples(reset), 0, 3) == pytest.approx(100 + 50 + 100)
    assert resets(samples(reset), 0, 3) == 1
    assert resets(samples(reset), 2, 3) == 0


def test_two_new_beginnings_are_both_counted() -> None:
    reset = series((0, 10), (1, 3), (2, 7), (3, 0), (4, 2))
    assert increase(samples(reset), 0, 4) == pytest.approx(3 + 4 + 0 + 2)
    assert resets(samples(reset), 0, 4) == 2


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 11), (11, 12), (-2, -1), (7, 6)])
def test_what_is_missing_on_one_side_of_the_window_makes_the_growth_unknown(start: float, end: float) -> None:
    assert increase(samples(STEADY), start, end) is None


def test_without_any_sample_the_growth_is_unknown_and_not_zero() -> None:
    assert increase(Samples(np.array([0.0, 1.0]), ()), 0, 1) is None


def test_label_sets_are_summed() -> None:
    other = series((0, 5), (10, 25), engine="1")
    assert increase(samples(STEADY, other), 0, 10) == pytest.approx(1020)


def test_a_label_set_that_appears_in_the_window_began_at_zero() -> None:
    late = series((6, 30), (10, 30), finished_reason="length")
    whole = samples(STEADY, late)
    assert increase(whole, 0, 10) == pytest.approx(1030)
    assert increase(whole, 0, 5) == pytest.approx(500)
    # Half of its growth is taken to lie before the middle between both scrapes.
    assert increase(whole, 0, 5.5) == pytest.approx(550 + 15)


def test_a_label_set_that_ends_in_the_window_counts_up_to_its_end() -> None:
    gone = series((0, 0), (4, 40), engine="1")
    assert increase(samples(STEADY, gone), 0, 10) == pytest.approx(1040)


@given(
    st.lists(st.floats(0, 1e6), min_size=2, max_size=30),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_growth_of_a_window_is_that_of_its_two_parts(
    values: list[float], one: float, two: float, three: float
) -> None:
    line = samples(series(*((float(index), value) for index, value in enumerate(values))))
    low, middle, high = sorted(share * (len(values) - 1) for share in (one, two, three))
    parts = increase(line, low, middle), increase(line, middle, high)
    whole = increase(line, low, high)
    assert whole is not None
    assert whole >= 0
    assert parts[0] is not None
    assert parts[1] is not None
    assert parts[0] + parts[1] == pytest.approx(whole, rel=1e-9, abs=1e-3)


@given(st.floats(50, 5000), st.floats(0.2, 2.0), st.floats(0, 0.4), st.randoms(use_true_random=False))
def test_a_steady_rate_is_found_within_two_percent_whatever_the_jitter_of_the_scrapes(
    rate: float, interval: float, jitter: float, random: object
) -> None:
    drawn = np.random.default_rng(random.randint(0, 2**32))  # type: ignore[attr-defined]
    times = np.arange(-2, 64) * interval + drawn.uniform(-jitter, jitter, 66) * interval
    # The server counts whole tokens.
    line = series(*((float(time), math.floor((time + 10) * rate)) for time in times))
    start, end = 1.3 * interval, 60.7 * interval
    found = increase(samples(line), start, end)
    assert found is not None
    assert found / (end - start) == pytest.approx(rate, rel=0.02)


def test_a_gauge_has_its_peak_its_mean_and_its_mean_over_time() -> None:
    found = gauge(samples(series((0, 0), (1, 10), (2, 10), (10, 0))), 0, 10)
    assert found is not None
    assert (found.peak, found.mean, found.samples) == (10, 5, 4)
    assert found.time_weighted_mean == pytest.approx((5 + 10 + 40) / 10)


def test_a_gauge_counts_only_scrapes_inside_and_reaches_its_edges_on_the_line() -> None:
    found = gauge(samples(series((0, 0), (4, 8), (8, 0))), 3, 5)
    assert found is not None
    assert (found.peak, found.samples) == (8, 1)
    assert found.time_weighted_mean == pytest.approx(7)
    assert gauge(samples(series((0, 0), (4, 8))), 1, 3) is None


def test_gauges_of_several_engines_are_joined_as_they_should_be() -> None:
    both = samples(series((0, 0.2), (1, 0.4), engine="0"), series((1, 0.8), engine="1"))
    assert combined(both)[1].tolist() == pytest.approx([0.2, 1.2])
    assert combined(both, Combine.MEAN)[1].tolist() == pytest.approx([0.2, 0.6])
    assert combined(both, Combine.MAX)[1].tolist() == pytest.approx([0.2, 0.8])


def test_a_histogram_has_count_sum_mean_and_growth_of_each_bucket() -> None:
    buckets = samples(
        series((0, 1), (1, 3), le="0.1"), series((0, 2), (1, 6), le="+Inf"), series((0, 0), (1, 9), le="junk")
    )
    found = histogram(buckets, samples(series((0, 2), (1, 6))), samples(series((0, 1), (1, 3))), 0, 1)
    assert found is not None
    assert (found.count, found.total, found.mean) == (4, 2, 0.5)
    assert found.buckets == ((0.1, 2.0), (math.inf, 4.0))


def test_a_histogram_without_observations_has_no_mean() -> None:
    flat = samples(series((0, 2), (1, 2)))
    found = histogram(Samples(np.array([0.0, 1.0]), ()), flat, flat, 0, 1)
    assert found is not None
    assert (found.count, found.mean, found.buckets) == (0, None, ())
    assert histogram(flat, flat, Samples(np.array([]), ()), 0, 1) is None


@pytest.mark.parametrize(
    ("text", "edge"), [("+Inf", math.inf), ("0.5", 0.5), ("", None), ("x", None), ("NaN", None)]
)
def test_the_edge_of_a_bucket_is_read_from_its_label(text: str, edge: float | None) -> None:
    assert edge_of(text) == edge


def test_the_widest_gap_reaches_over_the_edges_of_the_window() -> None:
    times = np.array([0.0, 1.0, 2.0, 7.0, 8.0])
    assert widest_gap(times, 3.0, 4.0) == 5.0
    assert widest_gap(times, 0.5, 1.5) == 1.0
    assert widest_gap(times, 7.5, 9.0) is None
    assert widest_gap(np.array([]), 0.0, 1.0) is None
