"""Laws of figures: what must hold for any trials whatever, so that no corner of the data bends a number."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.tables.figures import BY_NAME, FIGURES, compute_all
from generators.tables.sample import Sample, Unit, Value
from generators.tables.scoring import ScoreState
from runner.records import CheckStatus, CostBasis, Standing
from tests.generators.tables.made import Made
from tests.generators.tables.memory import MADE, SAMPLES, facts, sample

TRIALS = st.lists(MADE, max_size=8)
SCORES = ("lowest_score", "mean_score", "median_score", "highest_score")


def close(first: Value, second: Value) -> bool:
    """Whether two values say the same, apart from the order of additions."""
    if first.amount is None or second.amount is None:
        return (first.amount, first.n, first.m) == (second.amount, second.n, second.m)
    same = math.isclose(first.amount, second.amount, rel_tol=1e-9, abs_tol=1e-9)
    return same and (first.n, first.m) == (second.n, second.m)


@given(SAMPLES)
def test_n_is_never_more_than_m_and_an_unknown_figure_says_why(drawn: Sample) -> None:
    for name, value in compute_all(drawn).items():
        assert 0 <= value.n <= value.m <= drawn.planned, name
        if value.amount is None:
            assert value.reason, name
        else:
            assert math.isfinite(value.amount), name
            assert value.n > 0 or name in {"score_lower_bound", "score_upper_bound"}, name


@given(TRIALS, st.randoms(use_true_random=False))
def test_the_order_of_the_trials_does_not_matter(trials: list[Made], chance: random.Random) -> None:
    mixed = list(trials)
    chance.shuffle(mixed)
    first, second = compute_all(sample(*trials)), compute_all(sample(*mixed))
    assert [name for name in first if not close(first[name], second[name])] == []


@given(SAMPLES)
def test_scores_stand_in_order_between_their_bounds(drawn: Sample) -> None:
    values = compute_all(drawn)
    amounts = [values[name].amount for name in SCORES]
    if amounts[0] is None:
        assert amounts == [None] * 4
        return
    low, mean, median, high = (amount for amount in amounts if amount is not None)
    assert 0 <= low <= min(mean, median) + 1e-9
    assert max(mean, median) - 1e-9 <= high <= 100
    zeroed = values["score_with_failures"].amount
    assert zeroed is not None
    assert zeroed <= mean + 1e-9


@given(SAMPLES)
def test_the_bounds_hold_the_score_with_failures_whatever_is_open(drawn: Sample) -> None:
    values = compute_all(drawn)
    low, high = values["score_lower_bound"].amount, values["score_upper_bound"].amount
    zeroed = values["score_with_failures"].amount
    if low is None or high is None:
        assert not drawn.scores
        return
    assert 0 <= low <= high <= 100 + 1e-9
    assert high - low == pytest.approx(100 * drawn.open / drawn.planned)
    if drawn.open == 0 and zeroed is not None:
        assert low == pytest.approx(high) == pytest.approx(zeroed)


@given(TRIALS, st.integers(1, 5))
def test_a_planned_trial_that_never_ran_moves_only_bounds_and_counts(
    trials: list[Made], missing: int
) -> None:
    whole, torn = compute_all(sample(*trials)), compute_all(sample(*trials, missing=missing))
    for name in whole.keys() - {"score_lower_bound", "score_upper_bound"}:
        assert whole[name].amount == torn[name].amount, name
        assert whole[name].n == torn[name].n, name


@given(MADE)
def test_a_trial_that_does_not_count_has_neither_score_nor_verdict(made: Made) -> None:
    left_out = facts(Made(made.task, made.points, made.cost, standing=Standing.PROBE, checks=made.checks))
    assert (left_out.state, left_out.score, left_out.resolved) == (ScoreState.EXCLUDED, None, None)


@given(TRIALS, st.floats(0.5, 20))
def test_costs_in_another_currency_scale_every_dollar_figure_and_no_other(
    trials: list[Made], factor: float
) -> None:
    dear = [
        Made(
            made.task,
            made.points,
            None if made.cost is None else made.cost * factor,
            status=made.status,
            outcome=made.outcome,
            checks=made.checks,
        )
        for made in trials
    ]
    before, after = compute_all(sample(*trials)), compute_all(sample(*dear))
    for figure in FIGURES:
        first, second = before[figure.name], after[figure.name]
        of_trials = figure.unit is Unit.DOLLARS and figure.name != "judging_spend"
        scaled = factor if of_trials and first.amount is not None else 1.0
        expected = Value(None if first.amount is None else first.amount * scaled, first.n, first.m)
        assert close(expected, second), figure.name


@given(SAMPLES)
def test_the_whole_spend_is_no_less_than_what_the_graded_trials_cost(drawn: Sample) -> None:
    values = compute_all(drawn)
    total, mean = values["spend_total"], values["cost_per_task"]
    if total.amount is not None and mean.amount is not None:
        assert total.amount >= mean.amount * mean.n - 1e-6
    if values["cost_per_scored_task"].amount is not None and mean.amount is not None:
        assert values["cost_per_scored_task"].amount >= 0


@given(st.lists(st.tuples(*[st.integers(0, 25)] * 4), min_size=1, max_size=6))
def test_cost_per_point_is_the_two_means_divided(points: list[tuple[int, int, int, int]]) -> None:
    drawn = sample(*(Made("task-a", each, 2.0) for each in points))
    mean = sum(sum(each) for each in points) / len(points)
    found = BY_NAME["cost_per_point"].compute(drawn)
    if mean == 0:
        assert found.amount is None
        assert "zero or unknown" in found.reason
    else:
        assert found.amount == pytest.approx(2.0 / mean)


@given(st.lists(st.booleans(), min_size=1, max_size=9))
def test_resolved_is_a_share_of_the_trials_with_checks(passed: list[bool]) -> None:
    status = {True: CheckStatus.PASSED, False: CheckStatus.FAILED}
    drawn = sample(*(Made("task-a", None, checks=(status[each],)) for each in passed))
    found = BY_NAME["resolved_share"].compute(drawn)
    assert found.amount == pytest.approx(100 * sum(passed) / len(passed))
    assert (found.n, found.m) == (len(passed), len(passed))


@pytest.mark.parametrize("basis", [CostBasis.CREDITS, CostBasis.PRICE_TABLE])
def test_a_trial_on_another_basis_than_its_cell_is_unknown_and_not_mixed_in(basis: CostBasis) -> None:
    bills = [Made("task-a", cost=1.0), Made("task-c", cost=3.0)]
    drawn = sample(*bills, Made("task-b", cost=200.0, basis=basis))
    for name in ("cost_per_task", "median_cost_per_task", "spend_total"):
        found = BY_NAME[name].compute(drawn)
        assert (found.amount, found.n, found.m) == ({"spend_total": 4.0}.get(name, 2.0), 2, 3)
        assert found.priced is not None
        assert found.priced.basis is CostBasis.METERED


@pytest.mark.parametrize("basis", [CostBasis.CREDITS, CostBasis.PRICE_TABLE])
def test_the_basis_of_a_cell_is_that_of_most_graded_trials(basis: CostBasis) -> None:
    others = [Made(task, cost=2.0, basis=basis) for task in ("task-b", "task-c")]
    assert sample(Made("task-a", cost=1.0), *others).basis is basis
    assert sample(Made("task-a", cost=1.0), others[0]).basis is CostBasis.METERED, "of equally many, the bill"
    # A trial that was never graded does not decide for those that were.
    unjudged = [Made(task, None, cost=2.0, basis=basis) for task in ("task-b", "task-c")]
    assert sample(Made("task-a", cost=1.0), *unjudged).basis is CostBasis.METERED


def test_what_judging_cost_is_a_figure_of_its_own_and_in_no_other() -> None:
    judged = sample(Made("task-a", cost=1.0), Made("task-b", cost=1.0), Made("task-c", None, cost=1.0))
    found = compute_all(judged)
    assert (found["judging_spend"].amount, found["judging_spend"].m) == (1.0, 2)
    assert found["judging_spend"].priced is not None
    assert found["judging_spend"].priced.basis is CostBasis.PRICE_TABLE
    assert found["spend_total"].amount == 3.0
    assert found["cost_per_scored_task"].amount == 1.5


def test_an_empty_sample_knows_nothing_and_says_so_everywhere() -> None:
    for name, value in compute_all(Sample((), 0)).items():
        assert value.amount is None, name
        assert value.reason, name
