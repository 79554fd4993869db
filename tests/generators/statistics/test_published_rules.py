"""Tie rule, tallies, bounds and paired means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.bounds import mean_bounds
from generators.statistics.paired import paired_mean
from generators.statistics.published_rules import Side, tally, tie_rule

PUBLISHED = """
haiku 41.08 47.12; opus-4-8 69.24 60.68; opus-5 70.76 75.72; sonnet-5 68.04 66.52; deepseek 53.72 54.44;
devstral 49.52 47.64; glm-5.2 65.6 70.76; kimi-k2.7 55.44 60.68; minimax-m2.5 48.36 45.08;
nemotron 53.68 55.2; qwen3-coder-480b 46.32 43.96; qwen3.6-35b 48.16 52.3
"""
SCORE = st.floats(0, 100)


def published() -> dict[str, Side]:
    """Sides of the published twelve models, claude-code first and pi second."""
    rows = [entry.split() for entry in PUBLISHED.split(";")]
    return {name: tie_rule(float(one), float(two), higher_is_better=True) for name, one, two in rows}


def test_the_published_twelve_models_give_five_six_and_one_tie() -> None:
    counts = tally(list(published().values()))
    assert (counts.first, counts.second, counts.ties, counts.total) == (5, 6, 1, 12)


def test_the_one_tie_is_deepseek_and_sonnet_is_just_outside() -> None:
    assert published()["deepseek"] is Side.TIE
    assert published()["sonnet-5"] is Side.FIRST


def test_lower_is_better_for_cost() -> None:
    assert tie_rule(1.0, 2.0, higher_is_better=False) is Side.FIRST
    assert tie_rule(1.0, 2.0, higher_is_better=True) is Side.SECOND


def test_two_per_cent_of_the_larger_is_no_tie_any_more() -> None:
    assert tie_rule(100.0, 98.0, higher_is_better=True) is Side.FIRST
    assert tie_rule(100.0, 98.01, higher_is_better=True) is Side.TIE


def test_two_zeros_are_a_tie() -> None:
    assert tie_rule(0.0, 0.0, higher_is_better=True) is Side.TIE


@given(SCORE, SCORE)
def test_swapping_the_two_swaps_the_side(first: float, second: float) -> None:
    other = {Side.FIRST: Side.SECOND, Side.SECOND: Side.FIRST, Side.TIE: Side.TIE}
    swapped = tie_rule(second, first, higher_is_better=True)
    assert tie_rule(first, second, higher_is_better=True) is other[swapped]


@given(st.lists(SCORE, max_size=8), st.integers(0, 5))
def test_bounds_hold_whatever_the_open_trials_turn_out_to_be(known: list[float], missing: int) -> None:
    bounds = mean_bounds(known, missing, lowest=0.0, highest=100.0)
    if not known and not missing:
        assert bounds is None
        return
    assert bounds is not None
    for filling in (0.0, 37.5, 100.0):
        mean = (sum(known) + filling * missing) / (len(known) + missing)
        assert bounds.lower - 1e-9 <= mean <= bounds.upper + 1e-9


def test_nothing_open_leaves_nothing_between_the_bounds() -> None:
    bounds = mean_bounds([60.0, 80.0], 0, lowest=0.0, highest=100.0)
    assert bounds is not None
    assert bounds.lower == bounds.upper == 70.0


def test_a_pair_is_compared_on_common_tasks_only() -> None:
    paired = paired_mean({"a": 10.0, "b": 20.0, "c": 90.0}, {"a": 12.0, "b": 24.0, "d": 1.0})
    assert paired is not None
    assert (paired.first, paired.second, paired.difference, paired.tasks) == (15.0, 18.0, -3.0, 2)


def test_without_a_common_task_there_is_no_pair() -> None:
    assert paired_mean({"a": 1.0}, {"b": 1.0}) is None


@given(st.dictionaries(st.sampled_from("abcde"), SCORE, min_size=1))
def test_a_series_does_not_differ_from_itself(series: dict[str, float]) -> None:
    paired = paired_mean(series, series)
    assert paired is not None
    assert paired.difference == pytest.approx(0.0)
    assert paired.tasks == len(series)
