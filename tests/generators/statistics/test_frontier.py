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


PUBLISHED = """
opus-5 82.83 11.9543 B; opus-5-5 81.16 4.44 B; glm-5.3 80.11 7.0397 S; kimi-k3 79.17 4.331 S;
qwen3.8-27b 78.48 1.4738 S; sonnet-5 76.97 4.6715 B; opus-4-7 75.6 7.3514 B; opus-4-8 74.69 5.32 B;
kimi-k3-bedrock 72.87 3.87 B; opus-4-6-v1 70.64 4.95 B; kimi-k2.7-code 69.13 2.4709 S; opus-4-5 66.32 4.18 B;
deepseek-v3.2 61.66 2.1485 S; minimax-m3 60.51 3.5108 S; gemma-4-31b 59.74 0.8708 S;
qwen3.6-35b 59.24 0.2594 S;
haiku-4-5 56.18 0.7648 B; minimax-m2.5 55.94 0.4765 S; devstral 51.15 0.7862 S; minicpm5-2b 42.59 0.3993 S;
qwen3-coder-30b 42.58 0.4733 S
"""


@pytest.mark.parametrize(
    ("hosting", "expected"),
    [
        ("BS", "qwen3.6-35b gemma-4-31b qwen3.8-27b kimi-k3 opus-5-5 opus-5"),
        ("B", "haiku-4-5 kimi-k3-bedrock opus-5-5 opus-5"),
        ("S", "qwen3.6-35b gemma-4-31b qwen3.8-27b kimi-k3 glm-5.3"),
    ],
)
def test_the_published_frontiers_come_out(hosting: str, expected: str) -> None:
    rows = [entry.split() for entry in PUBLISHED.split(";")]
    kept = [row for row in rows if row[3] in hosting]
    front = pareto_frontier([float(row[2]) for row in kept], [float(row[1]) for row in kept])
    assert [kept[place][0] for place in front] == expected.split()


def test_scores_that_only_chance_parts_are_drawn_together() -> None:
    generator = np.random.default_rng(3)
    noise = 60 + generator.normal(0, 8, (6, 10))
    costs = np.full((6, 10), 1.0) + np.arange(6.0)[:, None]
    apart = frontier_membership(costs, noise)
    assert apart.shrinkage == 0.5
    assert frontier_membership(costs, noise, plain=True).shrinkage == 0.0
    clear = frontier_membership(costs, noise / 8 + 10 * np.arange(6)[:, None])
    assert clear.shrinkage < 0.05


def test_equal_passes_on_all_tasks_leave_the_dearer_cell_a_chance() -> None:
    costs, passes = np.array([[1.0] * 21, [2.0] * 21]), np.full((2, 21), 100.0)
    assert frontier_membership(costs, passes).probabilities == (1.0, 0.0)
    found = frontier_membership(costs, passes, passes=100.0)
    assert found.method == "sampled"
    assert found.probabilities[0] == 1.0
    assert 0.3 < found.probabilities[1] < 0.7


def test_a_long_tail_of_cost_makes_the_cheaper_one_less_sure() -> None:
    generator = np.random.default_rng(5)
    costs = np.exp(generator.normal([[0.0], [0.6]], 1.0, (2, 21)))
    scores = np.tile(60 + generator.normal(0, 5, 21), (2, 1))
    wide, plain = frontier_membership(costs, scores), frontier_membership(costs, scores, plain=True)
    cheaper = int(np.argmax(plain.probabilities))
    assert wide.probabilities[cheaper] < plain.probabilities[cheaper]


def test_what_is_free_stays_free() -> None:
    costs, scores = np.array([[0.0] * 6, [1.0] * 6]), np.array([[50.0] * 6, [60.0] * 6])
    assert frontier_membership(costs, scores).probabilities == (1.0, 1.0)
