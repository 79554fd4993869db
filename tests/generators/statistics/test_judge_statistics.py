"""Figures of the judge card agree with published examples and with slow definitions of themselves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.agreement import limits_of_agreement, rank_correlation, weighted_kappa
from generators.statistics.discrimination import area_under_curve, calibration
from generators.statistics.reliability import repeatability

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
"""Six targets, four ratings each, table 2 of Shrout and Fleiss (1979); they give ICC(1,1) = .17."""
CRITERION = st.integers(0, 25)
PAIRS = st.lists(st.tuples(CRITERION, CRITERION), min_size=1, max_size=30)


def test_the_published_intraclass_correlation_is_found() -> None:
    found = repeatability(SHROUT_FLEISS)
    assert found is not None
    assert found.icc is not None
    assert found.icc.estimate == pytest.approx(0.17, abs=0.005)
    assert found.icc.lower == pytest.approx(-0.13, abs=0.01)
    assert found.icc.upper == pytest.approx(0.72, abs=0.01)
    assert found.within_sd == pytest.approx(6.26**0.5, abs=0.01)
    assert (found.trials, found.judgements) == (6, 24)


def test_groups_of_one_say_nothing_about_repeatability() -> None:
    assert repeatability([]) is None
    assert repeatability([[80.0], [70.0]]) is None
    found = repeatability([[80.0, 84.0], [70.0]])
    assert found is not None
    assert (found.trials, found.judgements, found.icc) == (1, 2, None)
    assert found.within_sd == pytest.approx(8**0.5)


def test_a_judge_that_always_says_the_same_has_no_correlation_and_one_that_repeats_itself_has_1() -> None:
    constant = repeatability([[50, 50], [50, 50]])
    assert constant is not None
    assert (constant.within_sd, constant.icc) == (0.0, None)
    exact = repeatability([[50, 50], [70, 70], [10, 10]])
    assert exact is not None
    assert exact.icc is not None
    assert (exact.icc.estimate, exact.icc.lower) == (1.0, None)


def test_the_interval_of_the_correlation_covers_it_also_with_groups_of_unequal_size() -> None:
    generator = np.random.default_rng(3)
    truth, held, rounds = 0.6, 0, 400
    for _ in range(rounds):
        means = generator.normal(0, truth**0.5, size=20)
        groups = [
            list(mean + generator.normal(0, (1 - truth) ** 0.5, size=2 + n % 2))
            for n, mean in enumerate(means)
        ]
        found = repeatability(groups)
        assert found is not None
        assert found.icc is not None
        assert found.icc.lower is not None
        assert found.icc.upper is not None
        held += found.icc.lower <= truth <= found.icc.upper
    assert held / rounds >= 0.93


def test_limits_of_agreement_of_five_pairs() -> None:
    found = limits_of_agreement([10, 20, 30, 40, 50], [12, 18, 33, 41, 47])
    assert found is not None
    differences = np.array([-2, 2, -3, -1, 3], float)
    assert found.bias.estimate == pytest.approx(-0.2)
    assert found.upper - found.lower == pytest.approx(2 * 1.959964 * differences.std(ddof=1), rel=1e-5)
    assert limits_of_agreement([1.0], [2.0]) is None
    with pytest.raises(ValueError, match="shorter"):
        limits_of_agreement([1.0, 2.0], [2.0])


def slow_kappa(first: list[int], second: list[int]) -> float | None:
    """Quadratic weighted kappa by its definition over the table of all pairs of categories."""
    count, top = len(first), 26
    observed, expected = 0.0, 0.0
    for i, j in product(range(top), range(top)):
        weight = (i - j) ** 2
        observed += weight * sum((a, b) == (i, j) for a, b in zip(first, second, strict=True)) / count
        expected += weight * first.count(i) * second.count(j) / count**2
    return None if expected == 0 else 1 - observed / expected


@given(PAIRS)
def test_kappa_is_what_its_definition_says(pairs: list[tuple[int, int]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found, slow = weighted_kappa(first, second), slow_kappa(first, second)
    assert (found is None) is (slow is None)
    if found is not None and slow is not None:
        assert found == pytest.approx(slow, abs=1e-9)
        assert found <= 1
        assert weighted_kappa(second, first) == pytest.approx(found)


def test_full_agreement_is_1_and_chance_is_0() -> None:
    assert weighted_kappa([1, 5, 9], [1, 5, 9]) == 1.0
    generator = np.random.default_rng(5)
    first, second = generator.integers(0, 26, 20_000), generator.integers(0, 26, 20_000)
    assert weighted_kappa(first.tolist(), second.tolist()) == pytest.approx(0, abs=0.03)
    assert weighted_kappa([], []) is None
    with pytest.raises(ValueError, match="same things"):
        weighted_kappa([1], [])


def slow_area(passed: list[float], failed: list[float]) -> float:
    wins = sum(1.0 if good > bad else 0.5 if good == bad else 0.0 for good in passed for bad in failed)
    return wins / (len(passed) * len(failed))


@given(st.lists(CRITERION, min_size=1, max_size=15), st.lists(CRITERION, min_size=1, max_size=15))
def test_the_area_is_the_share_of_pairs_in_the_right_order(passed: list[int], failed: list[int]) -> None:
    found = area_under_curve(passed, failed)
    assert found is not None
    assert found.estimate == pytest.approx(slow_area([*map(float, passed)], [*map(float, failed)]))
    if found.lower is not None and found.upper is not None:
        assert 0 <= found.lower <= found.estimate <= found.upper <= 1


def test_without_both_kinds_of_trials_there_is_no_area() -> None:
    assert area_under_curve([], [1.0]) is None
    assert area_under_curve([1.0], []) is None
    perfect = area_under_curve([90, 95], [10, 20])
    assert perfect is not None
    assert (perfect.estimate, perfect.lower) == (1.0, None)


def test_the_interval_of_the_area_covers_it() -> None:
    generator = np.random.default_rng(9)
    held, rounds = 0, 600
    for _ in range(rounds):
        # Normal scores one standard deviation apart: the true area is Phi(1 / sqrt 2) = 0.7602.
        found = area_under_curve(list(generator.normal(1, 1, 30)), list(generator.normal(0, 1, 20)))
        assert found is not None
        if found.lower is None or found.upper is None:
            continue
        held += found.lower <= 0.76025 <= found.upper
    assert held / rounds >= 0.93


def test_calibration_puts_each_trial_into_one_range() -> None:
    found = calibration([0, 19.9, 20, 85, 100], [False, True, True, True, True])
    assert [(each.lowest, each.passed.count) for each in found] == [(0, 2), (20, 1), (80, 2)]
    assert found[0].passed.estimate == 0.5
    assert found[-1].mean_score == 92.5
    with pytest.raises(ValueError, match="outside"):
        calibration([101.0], [True])
    assert calibration([], []) == []


def test_rank_correlation_needs_variation_and_says_its_interval_from_ten_pairs_on() -> None:
    assert rank_correlation([1, 2], [1, 2]) is None
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None
    few = rank_correlation([1, 2, 3, 4], [1, 2, 4, 3])
    assert few is not None
    assert few.estimate == pytest.approx(0.8)
    assert few.lower is None
    many = rank_correlation(list(range(12)), [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10])
    assert many is not None
    assert many.lower is not None
    assert many.upper is not None
    assert many.lower < many.estimate < many.upper
    with pytest.raises(ValueError, match="pairs"):
        rank_correlation([1.0], [])
