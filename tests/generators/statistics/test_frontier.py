"""The frontier rule and the probability of being on it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.frontier import RESAMPLES, SEED, frontier_membership, pareto_frontier

COORDINATE = st.integers(0, 6).map(float)
POINTS = st.lists(st.tuples(COORDINATE, COORDINATE), max_size=12)


def beaten(point: tuple[float, float], others: list[tuple[float, float]]) -> bool:
    """Whether another point costs no more, scores no less, and is strictly better in one of the two."""
    cost, score = point
    return any(
        other_cost <= cost and other_score >= score and (other_cost < cost or other_score > score)
        for other_cost, other_score in others
    )


def test_a_cheaper_and_better_point_beats_a_dearer_and_worse_one() -> None:
    assert pareto_frontier([1.0, 2.0, 3.0], [50.0, 40.0, 60.0]) == [0, 2]


def test_identical_points_keep_each_other() -> None:
    assert pareto_frontier([1.0, 1.0, 2.0], [50.0, 50.0, 50.0]) == [0, 1]


def test_of_two_points_at_one_price_the_better_stays() -> None:
    assert pareto_frontier([1.0, 1.0], [40.0, 50.0]) == [1]


def test_an_empty_chart_has_an_empty_frontier() -> None:
    assert pareto_frontier([], []) == []


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_point_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        pareto_frontier([1.0, bad], [1.0, 2.0])


def test_costs_without_scores_are_refused() -> None:
    with pytest.raises(ValueError, match="length"):
        pareto_frontier([1.0, 2.0], [1.0])


@given(POINTS)
def test_the_frontier_is_what_comparing_every_pair_leaves(points: list[tuple[float, float]]) -> None:
    frontier = pareto_frontier([cost for cost, _ in points], [score for _, score in points])
    assert sorted(frontier) == [index for index, point in enumerate(points) if not beaten(point, points)]


@given(POINTS)
def test_the_frontier_rises_in_cost_and_never_falls_in_score(points: list[tuple[float, float]]) -> None:
    chosen = [points[i] for i in pareto_frontier([p[0] for p in points], [p[1] for p in points])]
    for (cost, score), (next_cost, next_score) in itertools.pairwise(chosen):
        assert (next_cost, next_score) == (cost, score) or (next_cost > cost and next_score > score)


@given(POINTS, st.permutations(range(12)))
def test_the_order_of_the_points_does_not_matter(points: list[tuple[float, float]], order: list[int]) -> None:
    shuffled = [points[index] for index in order if index < len(points)]
    frontier = {points[i] for i in pareto_frontier([p[0] for p in points], [p[1] for p in points])}
    again = {shuffled[i] for i in pareto_frontier([p[0] for p in shuffled], [p[1] for p in shuffled])}
    assert frontier == again


def by_every_draw(costs: list[list[float]], scores: list[list[float]]) -> list[float]:
    """Membership by going through all n^n draws one by one."""
    tasks = len(costs[0])
    hits = [0] * len(costs)
    draws = list(itertools.product(range(tasks), repeat=tasks))
    for draw in draws:
        points = []
        for row in range(len(costs)):
            known = [task for task in draw if not math.isnan(scores[row][task])]
            if known:
                cost = round(sum(costs[row][task] for task in known) / len(known), 9)
                points.append((row, cost, round(sum(scores[row][task] for task in known) / len(known), 9)))
        for row, cost, score in points:
            hits[row] += not beaten((cost, score), [(c, s) for _, c, s in points])
    return [hit / len(draws) for hit in hits]


@given(
    st.integers(1, 4).flatmap(
        lambda tasks: st.lists(
            st.lists(
                st.tuples(COORDINATE, st.one_of(COORDINATE, st.just(math.nan))),
                min_size=tasks,
                max_size=tasks,
            ),
            min_size=1,
            max_size=4,
        )
    )
)
def test_membership_with_few_tasks_equals_every_draw_counted(
    cells: list[list[tuple[float, float]]],
) -> None:
    costs = [[math.nan if math.isnan(s) else c for c, s in cell] for cell in cells]
    scores = [[s for _, s in cell] for cell in cells]
    found = frontier_membership(np.array(costs), np.array(scores), plain=True)
    assert found.method == "exact"
    assert found.seed is None
    assert list(found.probabilities) == pytest.approx(by_every_draw(costs, scores), abs=1e-9)


def test_a_lone_point_is_always_on_its_frontier() -> None:
    found = frontier_membership(np.array([[1.0, 2.0, 3.0]]), np.array([[50.0, 60.0, 70.0]]))
    assert found.probabilities == (1.0,)


def test_a_point_worse_on_every_task_is_never_on_it() -> None:
    costs = np.array([[1.0] * 5, [2.0] * 5])
    scores = np.array([[60.0, 61.0, 62.0, 63.0, 64.0], [50.0, 51.0, 52.0, 53.0, 54.0]])
    assert frontier_membership(costs, scores).probabilities == (1.0, 0.0)


def test_many_tasks_are_sampled_with_a_seed_that_is_told() -> None:
    generator = np.random.default_rng(1)
    costs, scores = generator.random((4, 21)), 100 * generator.random((4, 21))
    first, second = frontier_membership(costs, scores), frontier_membership(costs, scores)
    assert first == second
    assert (first.method, first.resamples, first.seed) == ("sampled", RESAMPLES, SEED)
    assert first.probabilities != frontier_membership(costs, scores, seed=SEED + 1).probabilities


def test_sampling_comes_close_to_the_exact_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = np.array([[1.0, 2.0, 1.5, 3.0, 1.0], [1.2, 1.9, 1.4, 2.0, 1.1]])
    scores = np.array([[50.0, 70.0, 40.0, 66.0, 59.0], [52.0, 60.0, 49.0, 60.0, 61.0]])
    exact = frontier_membership(costs, scores).probabilities
    monkeypatch.setattr("generators.statistics.frontier.EXACT_LIMIT", 0)
    sampled = frontier_membership(costs, scores)
    assert sampled.method == "sampled"
    assert sampled.probabilities == pytest.approx(exact, abs=0.04)


def test_a_point_without_any_known_task_is_on_no_frontier() -> None:
    costs = np.array([[np.nan, np.nan], [1.0, 2.0]])
    assert frontier_membership(costs, costs).probabilities == (0.0, 1.0)


def test_no_points_and_no_tasks_are_no_fault() -> None:
    assert frontier_membership(np.zeros((0, 5)), np.zeros((0, 5))).probabilities == ()
    assert frontier_membership(np.zeros((2, 0)), np.zeros((2, 0))).probabilities == (0.0, 0.0)


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="points x tasks"):
        frontier_membership(np.zeros((2, 3)), np.zeros((3, 2)))
