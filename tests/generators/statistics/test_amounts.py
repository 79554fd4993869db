"""Long-tailed amounts: intervals of the mean and the median, and concentration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from generators.statistics.amounts import SEED, bootstrap_t, concentration, median_interval

AMOUNTS = st.lists(st.floats(0.01, 1e4), min_size=1, max_size=40)


def test_a_long_upper_tail_lengthens_the_upper_side() -> None:
    found = bootstrap_t([1.0, 1.1, 0.9, 1.2, 1.0, 0.8, 9.0, 1.1, 1.3, 0.7])
    assert found is not None
    interval = found.interval
    assert interval.lower is not None
    assert interval.upper is not None
    assert interval.upper - interval.estimate > 2 * (interval.estimate - interval.lower)


def test_one_seed_gives_one_interval_and_is_told() -> None:
    values = list(np.random.default_rng(0).lognormal(0, 1, 21))
    first, again, other = bootstrap_t(values), bootstrap_t(values), bootstrap_t(values, seed=1)
    assert first == again
    assert first is not None
    assert other is not None
    assert (first.seed, other.seed) == (SEED, 1)
    assert first.interval.upper == pytest.approx(other.interval.upper, rel=0.2)


@given(AMOUNTS, st.sampled_from([0.5, 4.0]))
@settings(max_examples=25, deadline=None)
def test_another_currency_scales_the_interval(values: list[float], factor: float) -> None:
    one, two = bootstrap_t(values), bootstrap_t([factor * value for value in values])
    assert one is not None
    assert two is not None
    assert two.interval.estimate == pytest.approx(factor * one.interval.estimate)
    if one.interval.lower is not None and one.interval.upper is not None:
        assert two.interval.lower == pytest.approx(factor * one.interval.lower, rel=1e-6, abs=1e-9)
        assert two.interval.upper == pytest.approx(factor * one.interval.upper, rel=1e-6)
        assert 0 <= one.interval.lower <= one.interval.estimate <= one.interval.upper


def test_differences_may_be_negative() -> None:
    found = bootstrap_t([-3.0, -1.0, -2.5, 0.5, -4.0, -1.5])
    assert found is not None
    assert found.interval.lower is not None
    assert found.interval.lower < -2


@pytest.mark.parametrize("values", [[3.4, 2.0, 3.1, 0.1, 73.0], [0.2, 0.1, 0.3, 0.2, 4.0, 0.1]])
def test_an_interval_of_differences_is_the_same_whichever_of_two_comes_first(values: list[float]) -> None:
    one, two = bootstrap_t(values, signed=True), bootstrap_t([-value for value in values], signed=True)
    amount = bootstrap_t(values)
    assert one is not None
    assert two is not None
    assert amount is not None
    assert one.interval.lower is not None
    assert one.interval.upper is not None
    assert (two.interval.lower, two.interval.upper) == pytest.approx(
        (-one.interval.upper, -one.interval.lower)
    )
    assert one.interval.lower < 0 == amount.interval.lower


@pytest.mark.parametrize("values", [[5.0], [1.0, 2.0, 3.0, 4.0], [2.0] * 9])
def test_too_few_or_equal_values_have_a_mean_without_ends(values: list[float]) -> None:
    found = bootstrap_t(values)
    assert found is not None
    assert (found.interval.lower, found.interval.upper) == (None, None)
    assert found.interval.estimate == pytest.approx(sum(values) / len(values))


@pytest.mark.parametrize(("count", "rank"), [(6, 1), (10, 2), (21, 6), (50, 18)])
def test_the_median_interval_has_the_tabled_ranks(count: int, rank: int) -> None:
    found = median_interval(list(range(1, count + 1)))
    assert found is not None
    assert (found.lower, found.upper) == (rank, count + 1 - rank)
    assert 1 - 2 * stats.binom.cdf(rank - 1, count, 0.5) >= 0.95
    assert 1 - 2 * stats.binom.cdf(rank, count, 0.5) < 0.95


def test_five_values_cannot_enclose_a_median() -> None:
    found = median_interval([5.0, 1.0, 3.0, 2.0, 4.0])
    assert found is not None
    assert (found.estimate, found.lower) == (3.0, None)


@given(AMOUNTS)
def test_the_dearest_tenth_is_at_least_a_tenth(values: list[float]) -> None:
    share = concentration(values)
    assert share is not None
    assert 0.1 - 1e-9 <= share <= 1.0


def test_equal_amounts_are_not_concentrated_and_one_bill_is() -> None:
    assert concentration([2.0] * 7) == pytest.approx(0.1)
    assert concentration([0.0] * 9 + [5.0]) == 1.0
    # A tenth of 25 values is two and a half of them.
    assert concentration([10.0, 6.0, 4.0] + [1.0] * 22) == pytest.approx(18 / 42)


def test_nothing_spent_has_no_concentration() -> None:
    assert concentration([]) is None
    assert concentration([0.0, 0.0]) is None


def test_without_values_there_is_nothing_to_say() -> None:
    assert bootstrap_t([]) is None
    assert median_interval([]) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_value_that_is_no_number_is_refused(bad: float) -> None:
    for function in (bootstrap_t, median_interval, concentration):
        with pytest.raises(ValueError, match="finite"):
            function([1.0, bad])
    with pytest.raises(ValueError, match="negative"):
        concentration([1.0, -2.0])
