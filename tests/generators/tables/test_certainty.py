"""How sure a cell's means are: the interval that suits each, and what is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators.statistics.intervals import mean_interval, share_interval
from generators.tables.cells import Cell
from generators.tables.certainty import certainty, reliability, score_bounds
from runner.records import CheckStatus, CostBasis, JudgementStatus, Outcome
from tests.generators.tables.made import Made, committed, one_cell

PASSED, FAILED = (CheckStatus.PASSED,), (CheckStatus.FAILED,)
TOTALS = (
    (20, 20, 20, 20),
    (15, 15, 15, 15),
    (10, 20, 10, 20),
    (25, 20, 25, 20),
    (9, 9, 9, 9),
    (18, 20, 9, 9),
)


def six(tmp_path: Path, *more: Made) -> Cell:
    """Six scored tasks at one to six dollars."""
    trials = [
        Made(f"task-{place}", points, cost=place + 1.0, checks=PASSED if place < 4 else FAILED)
        for place, points in enumerate(TOTALS)
    ]
    return one_cell(tmp_path, *trials, *more)


def test_the_score_has_a_t_interval_over_tasks(tmp_path: Path) -> None:
    found = certainty(six(tmp_path)).score
    assert found == mean_interval([80.0, 60.0, 60.0, 90.0, 36.0, 56.0])


def test_several_trials_of_a_task_count_as_one(tmp_path: Path) -> None:
    again = Made("task-0", (10, 10, 10, 10), trial=2, cost=9.0, checks=FAILED)
    found = certainty(six(tmp_path, again))
    assert found.score is not None
    assert found.score.count == 6
    assert found.score.estimate == pytest.approx((60 + 60 + 60 + 90 + 36 + 56) / 6)
    assert found.cost.mean is not None
    assert found.cost.mean.interval.estimate == pytest.approx((5 + 2 + 3 + 4 + 5 + 6) / 6)


def test_a_rate_of_single_trials_has_wilsons_interval(tmp_path: Path) -> None:
    found, expected = certainty(six(tmp_path)).resolved, share_interval(4, 6)
    assert found is not None
    assert expected is not None
    assert expected.lower is not None
    assert found.lower == pytest.approx(100 * expected.lower)
    assert found.estimate == pytest.approx(100 * 4 / 6)


def test_a_rate_of_repeated_trials_rests_on_tasks(tmp_path: Path) -> None:
    again = Made("task-0", (10, 10, 10, 10), trial=2, checks=FAILED)
    found = certainty(six(tmp_path, again)).resolved
    assert found == mean_interval([50.0, 100.0, 100.0, 100.0, 0.0, 0.0])


def test_cost_has_mean_middle_and_concentration(tmp_path: Path) -> None:
    cost = certainty(six(tmp_path)).cost
    assert cost.mean is not None
    assert cost.mean.interval.estimate == pytest.approx(3.5)
    assert cost.median is not None
    assert (cost.median.estimate, cost.median.lower, cost.median.upper) == (3.5, 1.0, 6.0)
    assert cost.concentration == pytest.approx(0.6 * 6 / 21)


def test_a_mean_cost_rests_on_the_tasks_that_the_figure_rests_on(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made("task-a"), Made("task-b", basis=CostBasis.CREDITS, cost=3.0))
    mean, figure = certainty(cell).cost.mean, cell.figures["cost_per_task"]
    assert mean is not None
    assert (mean.interval.estimate, mean.interval.count) == (figure.amount, figure.n)
    unknown = certainty(one_cell(tmp_path / "unknown", Made("task-a", cost=None))).cost
    assert (unknown.mean, unknown.median, unknown.concentration) == (None, None, None)


def test_open_trials_widen_the_bounds_and_failed_ones_are_zero(tmp_path: Path) -> None:
    cell = one_cell(
        tmp_path,
        Made("task-a", (20, 20, 20, 20)),
        Made("task-b", (0, 0, 0, 0), status=JudgementStatus.ZERO_BY_MISSING_ARTIFACTS),
        Made("task-c", None, outcome=Outcome.INFRASTRUCTURE),
        Made("task-d", status=JudgementStatus.INVALID),
    )
    bounds = score_bounds(cell)
    assert bounds is not None
    assert (bounds.lower, bounds.upper, bounds.open) == (20.0, 70.0, 2)
    assert certainty(cell).score_bounds == bounds
    assert cell.figures["score_lower_bound"].amount == bounds.lower
    assert cell.figures["score_upper_bound"].amount == bounds.upper


def test_one_repository_is_said_and_two_are_clustered(tmp_path: Path) -> None:
    cell = six(tmp_path)
    assert certainty(cell).clustered is None
    alone = certainty(cell, {f"task-{place}": "app" for place in range(6)}).clustered
    assert alone is not None
    assert alone.note.startswith("all 6 tasks are of one repository")
    both = certainty(cell, {f"task-{place}": "app" if place < 3 else "lib" for place in range(6)}).clustered
    assert both is not None
    assert both.clusters == 2
    assert both.standard_error is not None


def test_repeats_split_the_variance_and_tell_of_reliability(tmp_path: Path) -> None:
    trials = [
        Made("task-a", (20, 20, 20, 20), trial=1, checks=PASSED),
        Made("task-a", (18, 18, 18, 18), trial=2, checks=PASSED),
        Made("task-b", (10, 10, 10, 10), trial=1, checks=PASSED),
        Made("task-b", (14, 14, 14, 14), trial=2, checks=FAILED),
        Made("task-c", (9, 9, 9, 9), trial=1, checks=PASSED),
    ]
    cell = one_cell(tmp_path, *trials)
    split = certainty(cell).split
    assert split is not None
    assert split.within_tasks == pytest.approx((32 + 128) / 2)
    any_of, all_of = reliability(cell, 2)
    assert (any_of.mean, any_of.n, any_of.m) == (1.0, 2, 3)
    assert (all_of.mean, all_of.n, all_of.m) == (0.5, 2, 3)


def test_a_cell_that_nobody_scored_has_no_interval(tmp_path: Path) -> None:
    found = certainty(one_cell(tmp_path, Made("task-a", None, cost=None)))
    assert (found.score, found.resolved, found.cost.mean, found.split) == (None, None, None, None)


def test_every_published_cell_has_an_interval_that_holds_its_mean() -> None:
    for cell in committed():
        found = certainty(cell)
        mean = cell.figures["mean_score"].amount
        if mean is not None:
            assert found.score is not None
            assert found.score.estimate == pytest.approx(mean)
            assert found.score_bounds is not None
            assert found.score_bounds.lower <= mean + 1e-9
        cost = cell.figures["cost_per_task"].amount
        if cost is not None and found.cost.mean is not None:
            assert found.cost.mean.interval.estimate == pytest.approx(cost)
