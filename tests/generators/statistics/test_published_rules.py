"""The published rules on the published figures, bounds, and paired means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.bounds import Bounds, difference_bounds, mean_bounds
from generators.statistics.paired import paired_mean
from generators.statistics.published_rules import (
    Contender,
    DecidedBy,
    Side,
    TierMean,
    best_harness,
    cheapest_clearing,
    eta_squared,
    price_of_a_point,
    tally,
    tie_rule,
    tier_means,
)

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


CHOICES = {
    "opus-4-8": ((69.24, 9.90), (60.68, 4.60), "pi", DecidedBy.COST_PER_POINT),
    "sonnet-5": ((68.04, 24.64), (66.52, 3.81), "pi", DecidedBy.COST_PER_POINT),
    "haiku-4-5": ((41.08, 0.80), (47.12, 0.64), "pi", DecidedBy.DOMINATES),
}
TIERS = ("trivial", "low", "medium", "high")
MODELS = {
    "haiku": ((54.80, 65.36, 56.53, 52.48), (0.33, 0.49, 0.63, 0.68)),
    "sonnet": ((73.64, 76.52, 73.57, 66.20), (0.72, 1.18, 2.09, 5.32)),
    "opus": ((79.04, 79.92, 77.93, 73.52), (2.88, 4.11, 5.11, 11.34)),
}


def in_tier(tier: str) -> dict[str, tuple[float, float]]:
    """(cost, score) of each model in a tier."""
    place = TIERS.index(tier)
    return {name: (costs[place], scores[place]) for name, (scores, costs) in MODELS.items()}


@pytest.mark.parametrize("model", CHOICES)
def test_the_published_best_harnesses_come_out(model: str) -> None:
    (score, cost), (other_score, other_cost), winner, decided = CHOICES[model]
    found = best_harness([Contender("claude-code", cost, score), Contender("pi", other_cost, other_score)])
    assert found is not None
    assert (found.winner, found.decided_by, found.runners_up) == (winner, decided, ("claude-code",))


def test_costs_per_point_are_those_published() -> None:
    assert Contender("claude-code", 9.90, 69.24).cost_per_point == pytest.approx(0.1430, abs=5e-5)
    assert Contender("pi", 3.81, 66.52).cost_per_point == pytest.approx(0.0573, abs=5e-5)


def test_a_lone_harness_wins_by_being_the_only_one_and_none_wins_nothing() -> None:
    found = best_harness([Contender("pi", 1.0, 0.0)])
    assert found is not None
    assert (found.winner, found.decided_by) == ("pi", DecidedBy.ONLY_ONE)
    assert best_harness([]) is None


def test_what_dominates_wins_although_another_has_the_lower_cost_per_point() -> None:
    found = best_harness([Contender("a", 1.0, 50.0), Contender("b", 1.0, 60.0), Contender("c", 2.0, 60.0)])
    assert found is not None
    assert (found.winner, found.decided_by) == ("b", DecidedBy.DOMINATES)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=5))
def test_the_winner_is_never_dominated(points: list[tuple[int, int]]) -> None:
    contenders = [Contender(str(place), cost, score) for place, (cost, score) in enumerate(points)]
    found = best_harness(contenders)
    assert found is not None
    winner = contenders[int(found.winner)]
    assert not any(each.dominates(winner) for each in contenders)
    assert sorted([found.winner, *found.runners_up]) == sorted(each.name for each in contenders)


def test_the_published_cheapest_models_clearing_70_come_out() -> None:
    found = [cheapest_clearing(in_tier(tier), 70.0) for tier in TIERS]
    assert found == ["sonnet", "sonnet", "sonnet", "opus"]
    assert cheapest_clearing(in_tier("high"), 90.0) is None


@pytest.mark.parametrize(
    ("cheaper", "dearer", "expected"),
    [("haiku", "sonnet", [0.021, 0.062, 0.086, 0.338]), ("sonnet", "opus", [0.400, 0.862, 0.693, 0.822])],
)
def test_the_published_prices_of_a_point_come_out(cheaper: str, dearer: str, expected: list[float]) -> None:
    found = [price_of_a_point(in_tier(tier)[cheaper], in_tier(tier)[dearer]) for tier in TIERS]
    assert found == pytest.approx(expected, abs=6e-4)


def test_a_dearer_cell_that_scores_no_higher_has_no_price_of_a_point() -> None:
    assert price_of_a_point((1.0, 50.0), (2.0, 50.0)) is None


def test_tier_means_tell_how_many_tasks_they_rest_on() -> None:
    tiers = {"a": "trivial", "b": "trivial", "c": "high", "d": "low"}
    found = tier_means({"a": 10.0, "b": 30.0, "c": 5.0}, tiers)
    assert found == {"trivial": TierMean(20.0, 2, 2), "high": TierMean(5.0, 1, 1)}
    assert tier_means({"a": 10.0}, tiers) == {"trivial": TierMean(10.0, 1, 2)}


def test_the_share_of_variance_is_one_for_groups_without_spread_and_none_for_nothing() -> None:
    assert eta_squared({"a": [1.0, 1.0], "b": [5.0, 5.0]}) == pytest.approx(1.0)
    assert eta_squared({"a": [1.0, 3.0], "b": [1.0, 3.0]}) == pytest.approx(0.0)
    assert eta_squared({"a": [1.0, 3.0], "b": [4.0, 6.0]}) == pytest.approx(9 / 13)
    assert eta_squared({"a": [1.0, 2.0], "b": []}) is None
    assert eta_squared({"a": [2.0], "b": [2.0]}) is None


@given(st.dictionaries(st.sampled_from("abc"), st.lists(SCORE, max_size=5)))
def test_a_share_of_variance_is_a_share(groups: dict[str, list[float]]) -> None:
    found = eta_squared(groups)
    assert found is None or -1e-9 <= found <= 1 + 1e-9


def test_bounds_of_a_difference_take_each_at_its_worst() -> None:
    one, two = Bounds(50.0, 70.0, 1), Bounds(40.0, 45.0, 2)
    assert difference_bounds(one, two) == Bounds(5.0, 30.0, 3)
    assert difference_bounds(one, None) is None
