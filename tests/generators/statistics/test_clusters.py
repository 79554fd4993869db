"""Clustered standard errors, and what is said where there is one cluster only."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from generators.statistics.clusters import clustered_mean

VALUES = st.lists(st.floats(-50, 50).map(lambda value: round(value, 3)), min_size=2, max_size=20)


def test_one_repository_has_no_error_and_is_named() -> None:
    found = clustered_mean([60.0, 70.0, 80.0], ["app", "app", "app"])
    assert found is not None
    assert (found.interval.estimate, found.interval.lower, found.standard_error) == (70.0, None, None)
    assert found.note == "all 3 tasks are of one repository: how far another would differ is unknown"


@given(VALUES)
def test_every_task_its_own_cluster_is_the_usual_standard_error(values: list[float]) -> None:
    found = clustered_mean(values, [str(place) for place in range(len(values))])
    assert found is not None
    usual = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    if found.standard_error is None:
        assert usual == pytest.approx(0.0, abs=1e-9)
        return
    assert found.standard_error == pytest.approx(usual)
    assert found.design_effect == pytest.approx(1.0)
    assert found.p_value == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue)


def test_the_error_is_the_published_formula_worked_out_by_hand() -> None:
    # Mean 5; residuals -3, -1 in one cluster and 1, 3 in the other: sums -4 and 4, C = 2.
    found = clustered_mean([2.0, 4.0, 6.0, 8.0], ["a", "a", "b", "b"])
    assert found is not None
    assert found.standard_error == pytest.approx(math.sqrt(2 * 32) / 4)
    assert found.interval.upper == pytest.approx(5 + float(stats.t.ppf(0.975, 1)) * 2)
    assert found.design_effect is not None
    assert found.design_effect > 1


@given(VALUES)
def test_pairs_of_twins_double_the_variance(values: list[float]) -> None:
    single = clustered_mean(values, [str(place) for place in range(len(values))])
    twins = clustered_mean(values * 2, [str(place) for place in range(len(values))] * 2)
    assert single is not None
    assert twins is not None
    if single.standard_error is not None:
        assert twins.standard_error == pytest.approx(single.standard_error)


def test_clusters_without_a_spread_say_so() -> None:
    found = clustered_mean([1.0, 3.0, 1.0, 3.0], ["a", "a", "b", "b"])
    assert found is not None
    assert found.standard_error is None
    assert "no spread between the 2 clusters" in found.note


def test_nothing_has_no_mean_and_a_value_needs_its_cluster() -> None:
    assert clustered_mean([], []) is None
    with pytest.raises(ValueError, match="its cluster"):
        clustered_mean([1.0], [])
    with pytest.raises(ValueError, match="finite"):
        clustered_mean([math.nan], ["a"])
