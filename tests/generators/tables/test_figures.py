"""Each figure on trials made for it: the value, and the n of m beside it."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from generators.tables.figures import BY_NAME, FIGURES
from generators.tables.sample import Value
from runner.records import CostBasis, JudgementStatus, Outcome, Standing, TrialIdentity
from runner.records.check import CheckStatus
from tests import examples
from tests.generators.tables.made import Made, one_cell

FAILED = JudgementStatus.ZERO_BY_MISSING_ARTIFACTS
ZERO = (0, 0, 0, 0)


def three(tmp_path: Path) -> dict[str, Value]:
    """Figures of a cell with two scored trials (75 and 55) and a failed one."""
    return one_cell(
        tmp_path,
        Made("task-a", (19, 14, 22, 20), cost=1.0),
        Made("task-b", (14, 14, 14, 13), cost=3.0),
        Made("task-c", ZERO, cost=8.0, status=FAILED),
    ).figures


def test_the_mean_leaves_failed_trials_out_and_says_so(tmp_path: Path) -> None:
    assert three(tmp_path)["mean_score"] == Value(65.0, 2, 3)


def test_failed_trials_count_as_zero_where_that_is_asked(tmp_path: Path) -> None:
    value = three(tmp_path)["score_with_failures"]
    assert value.amount == pytest.approx(130 / 3)
    assert (value.n, value.m) == (3, 3)


def test_cost_per_task_is_the_mean_over_scored_trials(tmp_path: Path) -> None:
    assert three(tmp_path)["cost_per_task"] == Value(2.0, 2, 2)


def test_the_spend_holds_what_failed_trials_cost(tmp_path: Path) -> None:
    figures = three(tmp_path)
    assert figures["spend_total"] == Value(12.0, 3, 3)
    assert figures["cost_per_scored_task"] == Value(6.0, 2, 3)


def test_cost_per_point_divides_the_two_means(tmp_path: Path) -> None:
    assert three(tmp_path)["cost_per_point"].amount == pytest.approx(2.0 / 65.0)


def test_median_extremes_and_spread(tmp_path: Path) -> None:
    figures = three(tmp_path)
    assert figures["median_score"].amount == 65.0
    assert (figures["lowest_score"].amount, figures["highest_score"].amount) == (55.0, 75.0)
    assert figures["score_spread"].amount == pytest.approx(statistics.stdev([75.0, 55.0]))


def test_one_trial_has_no_spread_and_says_why(tmp_path: Path) -> None:
    value = one_cell(tmp_path, Made()).figures["score_spread"]
    assert value.amount is None
    assert "two scored trials" in value.reason


def test_an_unknown_cost_is_never_zero(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made("task-a", cost=1.0), Made("task-b", cost=None))
    assert cell.figures["cost_per_task"] == Value(1.0, 1, 2)
    assert cell.figures["spend_total"] == Value(1.0, 1, 2)
    assert cell.figures["cost_per_scored_task"].amount is None


def test_a_cell_without_any_cost_says_why(tmp_path: Path) -> None:
    value = one_cell(tmp_path, Made(cost=None)).figures["cost_per_task"]
    assert value == Value(None, 0, 1, "the gateway did not say")


def test_costs_of_two_bases_are_never_averaged(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made("task-a", cost=1.0), Made("task-b", cost=2.0, basis=CostBasis.CREDITS))
    assert cell.basis is CostBasis.METERED
    assert cell.figures["cost_per_task"] == Value(1.0, 1, 2)
    assert cell.figures["spend_total"] == Value(1.0, 1, 2)
    assert cell.figures["cost_per_scored_task"].amount is None


def test_an_invalid_judgement_leaves_a_trial_unscored_and_the_bounds_open(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made("task-a", (25, 25, 25, 5)), Made("task-b", status=JudgementStatus.INVALID))
    assert cell.figures["mean_score"] == Value(80.0, 1, 2)
    assert cell.figures["score_with_failures"] == Value(80.0, 1, 2)
    assert cell.figures["score_lower_bound"].amount == 40.0
    assert cell.figures["score_upper_bound"].amount == 90.0


def test_a_planned_trial_without_a_record_widens_the_bounds(tmp_path: Path) -> None:
    never = TrialIdentity(cell=examples.cell(), task="task-b", trial=1)
    cell = one_cell(tmp_path, Made("task-a", (25, 25, 25, 5)), planned=[never])
    assert cell.missing == (("task-b", 1),)
    assert cell.figures["mean_score"] == Value(80.0, 1, 2)
    assert cell.figures["score_lower_bound"].amount == 40.0
    assert cell.figures["score_upper_bound"].amount == 90.0


def test_an_infrastructure_failure_is_unscored_and_not_failed(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made("task-a"), Made("task-b", None, outcome=Outcome.INFRASTRUCTURE))
    assert cell.sample.failed == 0
    assert cell.sample.open == 1
    assert "our side failed" in cell.by_task["task-b"][0].state_reason


def test_a_cheat_loses_its_score(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made("task-a"), Made("task-b", outcome=Outcome.CHEATING))
    assert cell.figures["mean_score"] == Value(75.0, 1, 2)
    assert cell.figures["score_with_failures"] == Value(37.5, 2, 2)


@pytest.mark.parametrize("standing", [Standing.SUPERSEDED, Standing.PROBE])
def test_trials_that_do_not_count_enter_no_figure(tmp_path: Path, standing: Standing) -> None:
    cell = one_cell(
        tmp_path, Made("task-a"), Made("task-a", (1, 1, 1, 1), cost=99.0, trial=2, standing=standing)
    )
    assert cell.figures["mean_score"] == Value(75.0, 1, 1)
    assert cell.figures["spend_total"] == Value(0.25, 1, 1)
    assert [trial.record.identity.trial for trial in cell.excluded] == [2]


def test_a_cell_of_probes_only_has_no_figure_at_all(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made(standing=Standing.PROBE))
    assert all(value.amount is None for value in cell.figures.values())
    assert all(value.reason for value in cell.figures.values())


def test_resolved_counts_trials_and_not_checks(tmp_path: Path) -> None:
    passed, failed = CheckStatus.PASSED, CheckStatus.FAILED
    cell = one_cell(
        tmp_path,
        Made("task-a", None, checks=(passed, passed)),
        Made("task-b", None, checks=(passed, failed)),
        Made("task-c", None, checks=(CheckStatus.ERROR,)),
    )
    assert cell.figures["resolved_share"] == Value(50.0, 2, 3)
    assert cell.figures["mean_score"].amount is None


def test_without_a_judge_means_rest_on_the_trials_that_checks_graded(tmp_path: Path) -> None:
    passed = (CheckStatus.PASSED,)
    cell = one_cell(
        tmp_path,
        Made("task-a", None, cost=1.0, checks=passed),
        Made("task-b", None, cost=3.0, checks=passed),
        Made("task-c", None, cost=8.0, checks=(CheckStatus.ERROR,)),
    )
    assert cell.figures["cost_per_task"] == Value(2.0, 2, 2)
    assert cell.figures["spend_total"] == Value(12.0, 3, 3)
    assert cell.figures["minutes_per_task"] == Value(1.5, 2, 2)


def test_no_cost_by_design_is_no_cost_of_zero(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made(cost=0.0, basis=CostBasis.NONE))
    assert cell.figures["cost_per_task"] == Value(None, 0, 1, "no cost arises by design")
    assert cell.figures["spend_total"].amount is None
    assert cell.basis is None


def test_tokens_are_added_per_trial_and_unknown_ones_are_counted(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made("task-a"), Made("task-b", changes={"usage": None}))
    expected = 4_006 + 166 + 12_000 + 1_200
    assert cell.figures["tokens_total"] == Value(float(expected), 1, 2)
    assert cell.figures["tokens_per_task"] == Value(float(expected), 1, 2)
    assert cell.figures["output_tokens"] == Value(166.0, 1, 2)


def test_minutes_and_turns(tmp_path: Path) -> None:
    cell = one_cell(
        tmp_path, Made("task-a"), Made("task-b", changes={"duration_seconds": None, "turns": None})
    )
    assert cell.figures["minutes_per_task"] == Value(1.5, 1, 2)
    assert cell.figures["minutes_total"] == Value(1.5, 1, 2)
    assert cell.figures["turns_per_task"] == Value(4.0, 1, 2)


def test_every_figure_explains_itself() -> None:
    assert len(BY_NAME) == len(FIGURES)
    for figure in FIGURES:
        assert figure.formula
        assert len(figure.meaning) > 20
        assert figure.title[0].isupper()
