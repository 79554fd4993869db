"""The interval of a mean from its summary is the one of its values."""

from __future__ import annotations

import statistics

import pytest

from generators.statistics.intervals import mean_interval
from generators.statistics.summarised import summarised_interval


def test_summary_and_values_give_one_interval() -> None:
    values = [3.0, 4.5, 9.0, 2.0, 7.25]
    whole = mean_interval(values)
    found = summarised_interval(5, statistics.fmean(values), statistics.stdev(values))
    assert whole is not None
    assert found == pytest.approx((whole.lower, whole.upper))


@pytest.mark.parametrize(("count", "deviation"), [(0, None), (1, None), (3, 0.0)])
def test_too_few_values_or_all_alike_have_no_interval(count: int, deviation: float | None) -> None:
    assert summarised_interval(count, 5.0, deviation) is None
