"""Intervals agree with published examples, keep their word in simulation, claim nothing from nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.intervals import mean_interval, share_interval

SCORES = st.lists(st.floats(0, 100), max_size=40)


def test_the_t_interval_of_three_numbers() -> None:
    found = mean_interval([1.0, 2.0, 3.0])
    assert found is not None
    assert found.lower is not None
    assert (found.estimate, found.count) == (2.0, 3)
    # t(0.975, 2) = 4.3027, sd = 1, n = 3
    assert found.lower == pytest.approx(2 - 4.302652729911275 / 3**0.5)


def test_wilsons_interval_of_one_in_ten() -> None:
    found = share_interval(1, 10)
    assert found is not None
    assert found.lower == pytest.approx(0.01787621, abs=1e-7)
    assert found.upper == pytest.approx(0.40415003, abs=1e-7)


def test_wilsons_interval_of_no_success_is_not_empty() -> None:
    found = share_interval(0, 5)
    assert found is not None
    assert found.lower == 0.0
    assert found.upper == pytest.approx(0.43448, abs=1e-4)


def test_nothing_has_no_interval_and_one_value_no_ends() -> None:
    assert mean_interval([]) is None
    assert share_interval(0, 0) is None
    single = mean_interval([50.0])
    assert single is not None
    assert (single.estimate, single.lower, single.upper) == (50.0, None, None)


def test_values_that_are_all_alike_claim_no_certainty() -> None:
    found = mean_interval([70.0] * 5)
    assert found is not None
    assert (found.lower, found.upper) == (None, None)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        mean_interval([1.0, bad])


@pytest.mark.parametrize(("successes", "count"), [(3, 2), (-1, 2)])
def test_impossible_counts_are_refused(successes: int, count: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        share_interval(successes, count)


@given(SCORES)
def test_the_mean_lies_in_its_interval(values: list[float]) -> None:
    found = mean_interval(values)
    if found is not None and found.lower is not None and found.upper is not None:
        assert found.lower <= found.estimate <= found.upper


@given(st.integers(0, 50), st.integers(0, 50))
def test_a_share_and_its_interval_lie_between_0_and_1(successes: int, more: int) -> None:
    found = share_interval(successes, successes + more)
    if found is not None and found.lower is not None and found.upper is not None:
        assert 0 <= found.lower <= found.estimate <= found.upper <= 1


def test_the_t_interval_covers_the_mean_as_often_as_it_says() -> None:
    generator = np.random.default_rng(11)
    draws = generator.normal(60, 15, size=(2000, 8))
    held = 0
    for draw in draws:
        found = mean_interval(list(draw))
        assert found is not None
        assert found.lower is not None
        assert found.upper is not None
        held += found.lower <= 60 <= found.upper
    assert held / len(draws) >= 0.93


@pytest.mark.parametrize(("share", "count"), [(0.5, 5), (0.2, 21), (0.9, 50)])
def test_wilsons_interval_covers_the_share_as_often_as_it_says(share: float, count: int) -> None:
    generator = np.random.default_rng(7)
    held = 0
    for successes in generator.binomial(count, share, size=2000):
        found = share_interval(int(successes), count)
        assert found is not None
        assert found.lower is not None
        assert found.upper is not None
        held += found.lower <= share <= found.upper
    assert held / 2000 >= 0.92
