"""The planner: what data could show, and what the next run has to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.paired import paired_t
from generators.statistics.planner import (
    FEWEST_TASKS,
    detectable_difference,
    plan_equivalence,
    plan_tasks,
    plan_trials,
)
from generators.statistics.repeats import VarianceSplit


@pytest.mark.parametrize(
    ("spread", "tasks", "expected"),
    [(35.4, 50, 14.0), (35.4, 100, 9.9), (35.4, 200, 7.0), (35.4, 500, 4.4), (6.02, 50, 2.4)],
)
def test_published_detectable_differences_come_out(spread: float, tasks: int, expected: float) -> None:
    assert detectable_difference(spread, tasks) == pytest.approx(expected, abs=0.05)


def test_few_tasks_take_t_quantiles_and_show_less() -> None:
    normal = 2.8016 * 6.02 / 5**0.5
    found = detectable_difference(6.02, 5)
    assert found is not None
    assert found > normal
    assert detectable_difference(6.02, 1) is None


def test_the_planned_number_of_tasks_has_the_power_it_promises() -> None:
    plan = plan_tasks(4.0, 8.0, 10)
    assert plan.more is not None
    generator, shown = np.random.default_rng(7), 0
    for _ in range(2000):
        found = paired_t(generator.normal(4.0, 8.0, 10 + plan.more))
        shown += found is not None and found.p_value is not None and found.p_value < 0.05
    assert 0.76 <= shown / 2000 <= 0.86


@given(st.floats(0.5, 30), st.floats(0.5, 40), st.integers(1, 60))
def test_a_larger_difference_never_needs_more_tasks(difference: float, spread: float, tasks: int) -> None:
    small, large = plan_tasks(difference, spread, tasks), plan_tasks(2 * difference, spread, tasks)
    assert large.more is not None or small.more is None
    if small.more is not None and large.more is not None:
        assert large.more <= small.more
        assert tasks + small.more >= FEWEST_TASKS


def test_a_plan_costs_what_a_task_of_both_cells_costs() -> None:
    plan = plan_tasks(3.0, 6.0, 21, cost_per_task=2.5)
    assert plan.more is not None
    assert plan.cost_usd == pytest.approx(2.5 * plan.more)
    unpriced = plan_tasks(3.0, 6.0, 21)
    assert (unpriced.more, unpriced.cost_usd) == (plan.more, None)
    assert "unknown" in unpriced.reason


def test_what_no_number_of_tasks_can_show_says_so() -> None:
    assert plan_tasks(0.0, 5.0, 21).more is None
    assert "not even 10,000" in plan_tasks(0.001, 50.0, 21).reason
    assert "larger than the margin" in plan_equivalence(6.0, 5.0, 21, 5.0).reason


def test_enough_data_needs_no_more_and_costs_nothing() -> None:
    plan = plan_tasks(20.0, 5.0, 21)
    assert (plan.more, plan.cost_usd) == (0, 0.0)


def test_after_the_planned_tasks_the_interval_lies_within_the_margin() -> None:
    plan = plan_equivalence(1.0, 6.0, 10, 5.0)
    assert plan.more is not None
    sizes = (10 + plan.more, 10 + plan.more - 1)
    reaches = []
    for size in sizes:
        differences = np.linspace(-1, 1, size)
        differences = 1.0 + 6.0 * (differences - differences.mean()) / differences.std(ddof=1)
        found = paired_t(differences)
        assert found is not None
        reaches.append(found.interval.upper)
    assert reaches[0] is not None
    assert reaches[1] is not None
    assert reaches[0] <= 5.0 < reaches[1]


def test_trials_help_only_against_chance_between_trials() -> None:
    noisy = VarianceSplit(between_tasks=4.0, within_tasks=60.0, tasks=21, trials=42)
    plan = plan_trials(4.0, noisy, 21, 1, cost_per_trial=1.0)
    assert plan.more is not None
    assert plan.more > 0
    assert plan.cost_usd == 21.0 * plan.more
    varied = VarianceSplit(between_tasks=400.0, within_tasks=1.0, tasks=21, trials=42)
    assert "differ too much" in plan_trials(4.0, varied, 21, 1).reason


def test_trials_cannot_be_planned_without_repeats_or_tasks() -> None:
    split = VarianceSplit(1.0, 1.0, 5, 10)
    assert "unknown" in plan_trials(4.0, None, 21, 1).reason
    assert "fewer than 6" in plan_trials(4.0, split, 5, 1).reason
    assert plan_trials(4.0, split, 21, 3).more == 0
