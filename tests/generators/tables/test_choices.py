"""Choices: what cells of records offer, figure by figure."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from generators.statistics.intervals import mean_interval, share_interval
from generators.statistics.verdict import Kind, Word
from generators.tables.boards import Board, build_boards
from generators.tables.choices import Choices, board_choices
from generators.tables.decision import Sureness, Wish, decide, hold
from runner.records import CheckStatus, CostBasis, JudgementStatus, TrialIdentity
from tests import examples
from tests.generators.tables.made import Made, cells, committed
from tests.generators.tables.test_comparisons import series

SCORES = (60, 72, 55, 81, 64, 70, 58, 77)


def board(tmp_path: Path, made: list[Made], planned: tuple[TrialIdentity, ...] = ()) -> Board:
    """The only board of a store."""
    (found,) = build_boards(cells(tmp_path, made, planned))
    return found


@pytest.fixture(scope="module")
def front() -> Choices:
    """The choices of the published board with most cells."""
    boards = build_boards(cell for cell in committed() if cell.identity.skill == "swe3")
    return board_choices(next(each for each in boards if each.dataset == "mcp-gateway-registry"))


def test_a_candidate_carries_mean_interval_and_cost_of_its_cell(tmp_path: Path) -> None:
    (found,) = board_choices(board(tmp_path, series("a", SCORES))).candidates
    interval = mean_interval([float(score) for score in SCORES])
    assert interval is not None
    assert found.quality.amount == pytest.approx(interval.estimate)
    assert (found.quality.lower, found.quality.upper) == (interval.lower, interval.upper)
    assert found.quality.error == pytest.approx(
        (sum((s - interval.estimate) ** 2 for s in SCORES) / 56) ** 0.5
    )
    assert (found.cost.amount, found.cost.n, found.basis) == (0.25, 8, "metered")
    assert (found.membership, found.across) == (1.0, 1.0)


def test_failed_trials_count_as_zero_against_a_floor(tmp_path: Path) -> None:
    made = series("a", SCORES)
    failed = Made(
        "task-9", (0, 0, 0, 0), status=JudgementStatus.ZERO_BY_MISSING_ARTIFACTS, cell=examples.cell("a")
    )
    (found,) = board_choices(board(tmp_path, [*made, failed])).candidates
    assert found.quality.amount == pytest.approx(sum(SCORES) / 9)
    assert (found.quality.failed, found.quality.tasks) == (1, 9)
    assert found.cell.figures["mean_score"].amount == pytest.approx(sum(SCORES) / 8)


def test_trials_that_never_ran_leave_bounds_open_and_nothing_is_sure(tmp_path: Path) -> None:
    made = series("a", SCORES)
    planned = tuple(TrialIdentity(cell=examples.cell("a"), task=f"more-{n}", trial=1) for n in range(8))
    (found,) = board_choices(board(tmp_path, made, planned)).candidates
    assert found.quality.open == 8
    assert found.quality.worst == pytest.approx(sum(SCORES) / 16)
    assert found.quality.best == pytest.approx((sum(SCORES) + 800) / 16)
    assert hold(found.quality, 50.0).word is Sureness.NOT_ENOUGH
    (settled,) = board_choices(board(tmp_path / "all", made)).candidates
    assert hold(settled.quality, 50.0).word is Sureness.CLEARS


def test_cells_that_only_checks_grade_are_held_by_their_share_of_passes(tmp_path: Path) -> None:
    statuses = [CheckStatus.PASSED] * 6 + [CheckStatus.FAILED] * 2
    made = [
        Made(f"task-{place}", None, checks=(status,), cell=examples.cell("a"))
        for place, status in enumerate(statuses)
    ]
    offered = board_choices(board(tmp_path, made))
    (found,) = offered.candidates
    wilson = share_interval(6, 8)
    assert offered.kind is Kind.CHECK
    assert (found.quality.amount, found.quality.passed, found.quality.error) == (75.0, 6, None)
    assert wilson is not None
    assert found.quality.lower == pytest.approx(100 * (wilson.lower or 0))


def test_cells_without_any_result_are_candidates_that_nothing_is_known_of(tmp_path: Path) -> None:
    made = [*series("a", SCORES), Made("task-0", None, cost=None, cell=examples.cell("b"))]
    offered = board_choices(board(tmp_path, made))
    nothing = next(each for each in offered.candidates if each.cell.identity.model.slug == "b")
    assert (nothing.quality.amount, nothing.cost.amount, nothing.quality.worst) == (None, None, None)
    assert offered.pairs == ()
    assert offered.versus(0, 1) is None


def test_pairs_know_the_least_difference_they_could_show(tmp_path: Path) -> None:
    other = [score - 3 + place % 3 for place, score in enumerate(SCORES)]
    offered = board_choices(board(tmp_path, [*series("a", SCORES), *series("b", other)]))
    (pair,) = offered.pairs
    assert pair == offered.versus(1, 0)
    assert pair.least is not None
    assert 0 < pair.least < 5
    few = board_choices(board(tmp_path / "few", [*series("a", SCORES[:5]), *series("b", other[:5])]))
    assert few.pairs[0].least is None


def test_which_cell_costs_less_is_told_only_within_a_basis_and_with_the_data_for_it(tmp_path: Path) -> None:
    def priced(model: str, factor: float, **more: object) -> list[Made]:
        made = series(model, SCORES, **more)
        return [replace(each, cost=factor * (1 + place / 10)) for place, each in enumerate(made)]

    (pair,) = board_choices(board(tmp_path / "one", [*priced("a", 1.0), *priced("b", 3.0)])).pairs
    assert pair.costs_less == (pair.first if pair.first == 0 else pair.second)
    assert pair.cost is not None
    assert pair.cost.word is Word.BETTER
    (alike,) = board_choices(board(tmp_path / "two", [*priced("a", 1.0), *priced("b", 1.0)])).pairs
    assert (alike.costs_less, alike.cost is None) == (None, False)
    mixed = [*priced("a", 1.0), *priced("b", 3.0, basis=CostBasis.CREDITS)]
    assert board_choices(board(tmp_path / "three", mixed)).pairs[0].cost is None


def test_more_trials_are_planned_where_each_task_was_tried_more_than_once(tmp_path: Path) -> None:
    once = board_choices(board(tmp_path / "once", [*series("a", SCORES), *series("b", SCORES[::-1])]))
    assert once.pairs[0].trials.reason == "with one trial a task, chance between trials is unknown"
    lucky = [(4, -4), (-4, 6), (5, -3), (-4, 4), (6, -2), (-6, 6), (3, -3), (-4, 6)]
    made = series("b", SCORES)
    for number in (1, 2):
        scores = [score + luck[number - 1] for score, luck in zip(SCORES, lucky, strict=True)]
        made += series("a", scores, trial=number)
    made += series("b", SCORES, trial=2)
    (pair,) = board_choices(board(tmp_path / "twice", made)).pairs
    assert pair.verdict is not None
    assert pair.trials.more is None or pair.trials.more > 0
    assert "one trial" not in pair.trials.reason


def test_the_published_board_claims_nothing_at_five_tasks(front: Choices) -> None:
    assert len(front.candidates) == 33
    words = {pair.verdict.word for pair in front.pairs if pair.verdict is not None}
    assert words == {Word.NOT_ENOUGH}
    found = decide(front, Wish(floor=60))
    assert {each.word for each in found.holds} == {Sureness.NOT_ENOUGH}
    assert found.surely is None


def test_the_published_answer_to_sixty_points_is_the_cheapest_that_has_them(front: Choices) -> None:
    found = decide(front, Wish(floor=60))
    assert found.answer is not None
    answer = front.candidates[found.answer]
    assert (answer.cell.identity.model.slug, answer.harness) == ("qwen3.8-27b", "pi")
    cheaper = [
        each.quality.amount or 0.0
        for each in front.candidates
        if each.cost.amount is not None and each.cost.amount < (answer.cost.amount or math.inf)
    ]
    assert max(cheaper) < 60
    assert found.near_miss is not None
    assert front.candidates[found.near_miss].quality.amount == max(cheaper)
