"""Laws of frontiers and comparisons: what no input may bend, beside the cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.statistics.bounds import mean_bounds
from generators.statistics.frontier import SEED, Floats, frontier_membership, pareto_frontier
from generators.statistics.paired import paired_mean
from generators.statistics.published_rules import Side, tally, tie_rule

MONEY = st.integers(1, 40).map(lambda cents: cents / 4)
POINTS = st.lists(st.tuples(MONEY, st.integers(0, 100).map(float)), min_size=1, max_size=9)
SERIES = st.dictionaries(st.sampled_from("abcdef"), st.floats(-1e6, 1e6), max_size=6)


def on_frontier(points: list[tuple[float, float]]) -> set[int]:
    """Indices on the frontier."""
    return set(pareto_frontier([cost for cost, _ in points], [score for _, score in points]))


@st.composite
def boards(draw: st.DrawFn, most: int = 4) -> tuple[Floats, Floats]:
    """Costs and scores of a few points on a few tasks, some unknown."""
    points, tasks = draw(st.integers(1, most)), draw(st.integers(1, 4))
    cell = st.one_of(st.just(math.nan), st.integers(0, 20).map(float))
    rows = st.lists(st.lists(cell, min_size=tasks, max_size=tasks), min_size=points, max_size=points)
    return np.array(draw(rows)), np.array(draw(rows))


@given(POINTS)
def test_the_cheapest_of_the_best_and_the_best_of_the_cheapest_are_on_it(
    points: list[tuple[float, float]],
) -> None:
    found = on_frontier(points)
    best = max(range(len(points)), key=lambda index: (points[index][1], -points[index][0]))
    cheapest = min(range(len(points)), key=lambda index: (points[index][0], -points[index][1]))
    assert {best, cheapest} <= found


@given(POINTS, st.floats(0.5, 10), st.floats(-50, 50))
def test_prices_in_another_unit_and_a_shifted_score_change_no_frontier(
    points: list[tuple[float, float]], factor: float, shift: float
) -> None:
    exact = 2.0 ** round(math.log2(factor))
    moved = [(cost * exact, score + round(shift)) for cost, score in points]
    assert on_frontier(points) == on_frontier(moved)


@given(POINTS)
def test_a_point_worse_than_all_joins_no_frontier_and_moves_none(points: list[tuple[float, float]]) -> None:
    worst = (max(cost for cost, _ in points) + 1, min(score for _, score in points) - 1)
    assert on_frontier([*points, worst]) == on_frontier(points)


@given(POINTS)
def test_a_point_better_than_all_stands_alone(points: list[tuple[float, float]]) -> None:
    best = (min(cost for cost, _ in points) / 2, max(score for _, score in points) + 1)
    assert on_frontier([*points, best]) == {len(points)}


@given(boards())
@settings(max_examples=60)
def test_probabilities_are_probabilities_and_some_point_is_on_every_frontier(
    board: tuple[Floats, Floats],
) -> None:
    costs, scores = board
    found = frontier_membership(costs, scores)
    assert all(0 <= share <= 1 for share in found.probabilities)
    whole = ~(np.isnan(costs) | np.isnan(scores)).any(axis=1)
    if whole.any():
        assert sum(found.probabilities) >= 1 - 1e-9


@given(boards())
@settings(max_examples=60)
def test_points_are_judged_alike_wherever_they_stand(
    board: tuple[Floats, Floats],
) -> None:
    costs, scores = board
    order = np.arange(len(costs))[::-1]
    straight = frontier_membership(costs, scores).probabilities
    turned = frontier_membership(costs[order], scores[order]).probabilities
    assert straight == pytest.approx([turned[place] for place in order])


@given(boards(most=3))
@settings(max_examples=40)
def test_a_twin_is_on_the_frontier_exactly_as_often(
    board: tuple[Floats, Floats],
) -> None:
    costs, scores = board
    found = frontier_membership(
        np.vstack([costs, costs[:1]]), np.vstack([scores, scores[:1]]), plain=True
    ).probabilities
    assert found[-1] == pytest.approx(found[0])
    assert found[:-1] == pytest.approx(frontier_membership(costs, scores, plain=True).probabilities)


def test_one_seed_gives_one_answer_and_another_a_close_one() -> None:
    generator = np.random.default_rng(5)
    costs, scores = generator.uniform(1, 9, (4, 21)), generator.uniform(0, 100, (4, 21))
    first = frontier_membership(costs, scores)
    assert first == frontier_membership(costs, scores, seed=SEED)
    other = frontier_membership(costs, scores, seed=SEED + 1)
    assert other.seed == SEED + 1
    assert other.probabilities == pytest.approx(first.probabilities, abs=0.06)


@given(st.floats(-1e6, 1e6), st.floats(1.03, 50), st.booleans())
def test_whoever_is_clearly_ahead_is_said_to_be(base: float, factor: float, higher: bool) -> None:
    amount = abs(base) + 1.0
    expected = Side.SECOND if higher else Side.FIRST
    assert tie_rule(amount, amount * factor, higher_is_better=higher) is expected


@given(st.lists(st.sampled_from(list(Side)), max_size=30))
def test_a_tally_loses_no_pair(sides: list[Side]) -> None:
    found = tally(sides)
    assert found.total == len(sides)
    assert min(found.first, found.second, found.ties) >= 0


@given(SERIES, SERIES)
def test_turning_a_pair_around_turns_its_difference(
    first: dict[str, float], second: dict[str, float]
) -> None:
    straight, turned = paired_mean(first, second), paired_mean(second, first)
    if straight is None or turned is None:
        assert straight is turned
        assert not first.keys() & second.keys()
        return
    assert straight.tasks == turned.tasks == len(first.keys() & second.keys())
    assert straight.difference == pytest.approx(-turned.difference)


@given(SERIES, SERIES, st.floats(-1e6, 1e6))
def test_a_task_that_only_one_side_has_changes_nothing(
    first: dict[str, float], second: dict[str, float], lone: float
) -> None:
    assert paired_mean(first, second) == paired_mean({**first, "lone": lone}, second)


@given(st.lists(st.floats(0, 100), max_size=8), st.integers(0, 8))
def test_each_settled_trial_narrows_the_bounds(known: list[float], missing: int) -> None:
    wide = mean_bounds(known, missing + 1, lowest=0, highest=100)
    narrow = mean_bounds([*known, 50.0], missing, lowest=0, highest=100)
    assert wide is not None
    assert narrow is not None
    assert wide.lower <= narrow.lower + 1e-9
    assert narrow.upper <= wide.upper + 1e-9
    assert (wide.open, narrow.open) == (missing + 1, missing)
