"""Cells of records turned into verdicts, groups and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from generators.statistics.verdict import Kind, Word
from generators.tables.boards import Board, build_boards
from generators.tables.cells import Cell
from generators.tables.comparisons import cell_pair, compare_cells, standings
from runner.records import CheckStatus, CostBasis, Outcome, TrialIdentity
from tests import examples
from tests.generators.tables.made import Made, cells, committed

BASE = (60, 72, 55, 81, 64, 70, 58, 77)


def points(total: int) -> tuple[int, int, int, int]:
    """Four criteria of 0 to 25 that add up to ``total``."""
    whole, rest = divmod(total, 4)
    return (whole + (rest > 0), whole + (rest > 1), whole + (rest > 2), whole)


def series(model: str, scores: Sequence[int], **more: object) -> list[Made]:
    """One cell's trials, one for each score."""
    identity = examples.cell(model)
    made = [Made(f"task-{place}", points(score), cell=identity) for place, score in enumerate(scores)]
    return [Made(**{**vars(each), **more}) for each in made]


def two(tmp_path: Path, first: list[Made], second: list[Made]) -> tuple[Cell, Cell]:
    """The cells of two series."""
    one, other = sorted(cells(tmp_path, [*first, *second]), key=lambda cell: cell.identity.model.slug)
    return one, other


def test_a_cell_better_on_every_task_is_better_and_the_loser_is_named(tmp_path: Path) -> None:
    one, other = two(tmp_path, series("a", [score + 6 for score in BASE]), series("b", BASE))
    (found,) = compare_cells([(one, other)])
    assert found.verdict is not None
    assert (found.verdict.word, found.better) == (Word.BETTER, one)
    (turned,) = compare_cells([(other, one)])
    assert turned.better is one


def test_costs_enter_only_where_both_rest_on_one_basis(tmp_path: Path) -> None:
    one, other = two(tmp_path / "same", series("a", BASE), series("b", BASE, cost=0.5))
    pair = cell_pair(one, other)
    assert (pair.first_cost, pair.second_cost) == (0.25, 0.5)
    mixed = series("b", BASE, cost=0.5, basis=CostBasis.CREDITS)
    pair = cell_pair(*two(tmp_path / "mixed", series("a", BASE), mixed))
    assert (pair.first_cost, pair.second_cost) == (None, None)
    unknown = series("b", BASE, cost=None)
    pair = cell_pair(*two(tmp_path / "unknown", series("a", BASE), unknown))
    assert (pair.first_cost, pair.second_cost) == (None, None)


def test_different_rubrics_get_a_reason_and_cost_the_others_nothing(tmp_path: Path) -> None:
    better = series("a", [score + 6 for score in BASE])
    strange = series("c", BASE, rubric="another-1")
    found = sorted(
        cells(tmp_path, [*better, *series("b", BASE), *strange]), key=lambda cell: cell.identity.model.slug
    )
    one, other, apart = found
    first, second = compare_cells([(one, other), (one, apart)])
    assert second.verdict is None
    assert second.better is None
    assert "different rubrics" in second.reason
    assert first == compare_cells([(one, other)])[0]


def test_a_failed_and_a_missing_trial_open_the_bounds(tmp_path: Path) -> None:
    short = [*series("a", BASE[:-1]), *series("b", BASE)]
    lost = TrialIdentity(cell=examples.cell("a"), task="task-7", trial=1)
    found = sorted(cells(tmp_path, short, [lost]), key=lambda cell: cell.identity.model.slug)
    bounds = cell_pair(found[0], found[1]).bounds
    assert bounds is not None
    assert bounds.open == 1
    assert bounds.upper - bounds.lower == pytest.approx(100 / 8)


def test_a_trial_that_failed_on_our_side_is_open_and_no_zero(tmp_path: Path) -> None:
    broken = Made("task-7", None, cell=examples.cell("a"), outcome=Outcome.INFRASTRUCTURE)
    one, other = two(tmp_path, [*series("a", BASE[:-1]), broken], series("b", BASE))
    pair = cell_pair(one, other)
    assert pair.bounds is not None
    assert pair.bounds.open == 1
    assert compare_cells([(one, other)])[0].verdict is not None


def test_checks_are_compared_as_passes_and_failures(tmp_path: Path) -> None:
    passed, failed = (CheckStatus.PASSED,), (CheckStatus.FAILED,)
    first = series("a", BASE, checks=passed)
    one, other = two(tmp_path, first, series("b", BASE, checks=failed))
    (found,) = compare_cells([(one, other)], Kind.CHECK)
    assert found.verdict is not None
    assert found.verdict.evidence.test == "exact McNemar"
    assert found.verdict.deciding_number == pytest.approx(2 / 2**8)
    assert found.better is one


def test_repositories_are_clusters(tmp_path: Path) -> None:
    one, other = two(tmp_path, series("a", [score + 6 for score in BASE]), series("b", BASE))
    same = {f"task-{place}": "app" for place in range(8)}
    (found,) = compare_cells([(one, other)], repositories=same)
    assert found.verdict is not None
    assert "all 8 tasks are of one repository" in found.verdict.what_would_decide


def board(found: Sequence[Cell]) -> Board:
    """The only board of cells."""
    (only,) = build_boards(found)
    return only


def test_a_board_is_shown_in_groups_and_ranks_that_the_data_carry(tmp_path: Path) -> None:
    trials = [
        *series("best", [score + 15 for score in BASE]),
        *series("middle-a", BASE),
        *series(
            "middle-b", [score + step for score, step in zip(BASE, (2, -3, 1, -1, 3, -2, 1, 0), strict=True)]
        ),
    ]
    found = standings(board(cells(tmp_path, trials)))
    assert [[cell.identity.model.slug for cell in group] for group in found.groups] == [
        ["best"],
        ["middle-b", "middle-a"],
    ]
    assert [(rank.best, rank.worst) for rank in found.ranks] == [(1, 1), (2, 3), (2, 3)]
    assert found.neighbours == (1, 2)
    assert found.separable == (2, 3)


def test_cells_without_a_score_stand_on_no_rank(tmp_path: Path) -> None:
    trials = [*series("a", BASE), *series("b", BASE, points=None)]
    found = standings(board(cells(tmp_path, trials)))
    assert [cell.identity.model.slug for cell in found.cells] == ["a"]
    assert (found.neighbours, found.separable) == ((0, 0), (0, 0))


def test_the_published_boards_of_five_tasks_separate_nothing_and_those_of_21_everything() -> None:
    seen = {}
    for harness in ("pi", "claude-code", "kiro-cli"):
        members = [
            cell for cell in committed() if (cell.identity.harness, cell.identity.skill) == (harness, "swe3")
        ]
        for each in build_boards(members):
            seen[harness, each.dataset] = standings(each)
    assert seen["pi", "mcp-gateway-registry"].separable == (0, 120)
    assert seen["claude-code", "mcp-gateway-registry"].separable == (0, 66)
    assert seen["kiro-cli", "mcp-gateway-registry"].neighbours == (0, 4)
    large = seen["pi", "mcp-gateway-registry-v2"]
    assert (large.separable, large.neighbours) == ((3, 3), (2, 2))
    assert [group[0].identity.model.slug for group in large.groups] == [
        "claude-opus-5",
        "claude-sonnet-5",
        "claude-haiku-4-5",
    ]
