"""Paired comparison: exact tests against enumeration, intervals against published formulas and scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from generators.statistics.paired import (
    Floats,
    _exact_share,
    _grid_share,
    adjusted_interval,
    mcnemar,
    paired_differences,
    paired_t,
    sign_flip,
)

WHOLE = st.lists(st.integers(-6, 6), min_size=1, max_size=9)
SCORES = st.lists(st.floats(-100, 100).map(lambda value: round(value, 2)), min_size=2, max_size=40)
OUTCOMES = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=60)


def array(values: list[float] | list[int]) -> Floats:
    """As the functions take them."""
    return np.array(values, dtype=np.float64)


def by_every_pattern(values: list[int]) -> float:
    """Sign-flip p by going through all patterns one by one."""
    observed = abs(sum(values))
    patterns = list(itertools.product((-1, 1), repeat=len(values)))
    hits = [
        abs(sum(s * abs(v) for s, v in zip(signs, values, strict=True))) >= observed for signs in patterns
    ]
    return sum(hits) / len(patterns)


@given(WHOLE)
def test_sign_flip_equals_every_pattern_counted(values: list[int]) -> None:
    found = sign_flip(array(values))
    assert found.method == "exact"
    assert found.p_value == pytest.approx(by_every_pattern(values))


@given(st.lists(st.integers(-9, 9), min_size=4, max_size=14))
@settings(max_examples=40)
def test_the_grid_agrees_with_the_exact_count(values: list[int]) -> None:
    sizes, observed = np.abs(np.array(values, dtype=np.int64)), abs(sum(values))
    assert _grid_share(sizes, observed) == pytest.approx(_exact_share(sizes, observed))


def test_the_grid_stays_close_where_sizes_have_to_be_rounded() -> None:
    differences = np.random.default_rng(4).normal(1.5, 6, 40).round(3)
    found, student = sign_flip(differences), paired_t(differences)
    assert found.method == "grid"
    assert student is not None
    assert found.p_value == pytest.approx(student.p_value, abs=0.01)


@pytest.mark.parametrize(("tasks", "least"), [(1, 1.0), (5, 0.0625), (6, 0.03125), (31, 2.0**-30)])
def test_the_smallest_p_is_two_to_the_one_minus_n(tasks: int, least: float) -> None:
    assert sign_flip(np.full(tasks, 3.0)).p_value == pytest.approx(least)


def test_an_even_split_has_a_p_of_one() -> None:
    assert sign_flip(array([1, -1])).p_value == 1.0
    assert sign_flip(array([2, -1, -1] * 12)).p_value == 1.0


def test_tasks_without_a_difference_say_nothing() -> None:
    assert sign_flip(array([3, 0, 0, 2, 0])).p_value == sign_flip(array([3, 2])).p_value
    assert sign_flip(np.zeros(7)).p_value == 1.0


@given(SCORES)
def test_turning_the_two_around_changes_no_p(values: list[float]) -> None:
    assert sign_flip(array(values)).p_value == sign_flip(-array(values)).p_value


@pytest.mark.parametrize(
    ("first_only", "second_only", "expected"),
    [(0, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (3, 3, 1.0), (1, 9, 0.021484375), (2, 10, 0.03857421875)],
)
def test_mcnemar_gives_the_known_values(first_only: int, second_only: int, expected: float) -> None:
    assert mcnemar(first_only, second_only) == pytest.approx(expected)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_two_sided_binomial_test(first_only: int, second_only: int) -> None:
    total = first_only + second_only
    expected = stats.binomtest(first_only, total, 0.5).pvalue if total else 1.0
    assert mcnemar(first_only, second_only) == pytest.approx(expected)
    assert mcnemar(first_only, second_only) == mcnemar(second_only, first_only)


@given(OUTCOMES)
@settings(max_examples=50)
def test_mcnemar_is_the_sign_flip_test_of_passes_and_failures(outcomes: list[float]) -> None:
    wins, losses = outcomes.count(1.0), outcomes.count(-1.0)
    assert mcnemar(wins, losses) == pytest.approx(sign_flip(array(outcomes)).p_value)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 2)


def test_the_adjusted_interval_is_the_published_formula_worked_out_by_hand() -> None:
    # b = 3, c = 1, n = 8: d = 2 / 10, variance (5 / 10 - 0.04) / 10.
    found = adjusted_interval(array([1, 1, 1, -1, 0, 0, 0, 0]))
    assert found is not None
    half = 1.959963984540054 * math.sqrt(0.046)
    assert found.estimate == pytest.approx(0.25)
    assert found.lower == pytest.approx(0.2 - half)
    assert found.upper == pytest.approx(0.2 + half)


@given(OUTCOMES, st.sampled_from([1.0, 100.0]))
def test_the_adjusted_interval_always_has_width_and_holds_the_mean(
    outcomes: list[float], scale: float
) -> None:
    found = adjusted_interval(scale * array(outcomes), scale=scale)
    assert found is not None
    assert found.lower is not None
    assert found.upper is not None
    assert -scale <= found.lower <= found.estimate <= found.upper <= scale
    assert found.upper - found.lower > 0
    turned = adjusted_interval(-scale * array(outcomes), scale=scale)
    assert turned is not None
    assert turned.lower == pytest.approx(-found.upper)
    assert turned.upper == pytest.approx(-found.lower)


def test_a_share_beyond_its_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="between -1 and 1"):
        adjusted_interval(array([1.5]))


@given(SCORES)
def test_the_paired_t_is_that_of_scipy(values: list[float]) -> None:
    differences = array(values)
    found = paired_t(differences)
    assert found is not None
    if found.p_value is None:
        assert np.ptp(differences) == pytest.approx(0, abs=1e-9)
        return
    expected = stats.ttest_1samp(differences, 0.0)
    interval = expected.confidence_interval(0.95)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.interval.lower == pytest.approx(interval.low)
    assert found.interval.upper == pytest.approx(interval.high)


@pytest.mark.parametrize("values", [[4.0], [2.0, 2.0, 2.0], [0.0, 0.0]])
def test_values_that_are_alike_carry_no_t_interval(values: list[float]) -> None:
    found = paired_t(array(values))
    assert found is not None
    assert (found.interval.estimate, found.interval.lower, found.p_value) == (values[0], None, None)


def test_no_task_gives_no_interval() -> None:
    empty = np.zeros(0)
    assert paired_t(empty) is None
    assert adjusted_interval(empty) is None
    assert sign_flip(empty).p_value == 1.0


def test_only_tasks_known_for_both_are_compared() -> None:
    found = paired_differences([1.0, math.nan, 5.0, 7.0], [2.0, 3.0, math.nan, 4.0])
    assert found.tolist() == [-1.0, 3.0]


@pytest.mark.parametrize(
    ("first", "second", "complaint"),
    [([1.0], [1.0, 2.0], "same tasks"), ([math.inf], [1.0], "finite"), ([1.0], [-math.inf], "finite")],
)
def test_what_cannot_be_paired_is_refused(first: list[float], second: list[float], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        paired_differences(first, second)
