"""Tier figures come out of the records as published, and beside each stands how sure it is."""

from __future__ import annotations

import pytest

from generators.tables.boards import Board, build_boards
from generators.tables.cells import Cell
from generators.tables.tiers import cheapest_clearing, ladders, tier_cost, tier_points, tier_score, tiers_of
from runner.records import CostBasis
from tests.generators.tables.made import committed

ORDER = ("trivial", "low", "medium", "high")


@pytest.fixture(scope="module")
def board() -> Board:
    """The committed cells of the dataset with four tiers."""
    (found,) = build_boards(
        cell for cell in committed() if cell.identity.dataset == "mcp-gateway-registry-v2"
    )
    return found


@pytest.fixture(scope="module")
def under_pi(board: Board) -> list[Cell]:
    """The three cells of the published tables, cheapest first."""
    cells = [cell for cell in board.cells if cell.identity.harness == "pi"]
    return sorted(cells, key=lambda cell: cell.figures["cost_per_task"].amount or 0.0)


def test_tiers_stand_in_ascending_order(board: Board) -> None:
    tiers = tiers_of(board, None)
    assert list(dict.fromkeys(tiers.values())) == list(ORDER)
    assert [list(tiers.values()).count(tier) for tier in ORDER] == [5, 5, 6, 5]


def test_the_published_means_have_interval_and_count(board: Board, under_pi: list[Cell]) -> None:
    tiers = tiers_of(board, None)
    scores = [[tier_score(cell, tier, tiers) for tier in ORDER] for cell in under_pi]
    assert [[round(value.amount or 0.0, 2) for value in row] for row in scores] == [
        [54.80, 65.36, 56.53, 52.48],
        [73.64, 76.52, 73.57, 66.20],
        [79.04, 79.92, 77.93, 73.52],
    ]
    costs = [[tier_cost(cell, tier, tiers) for tier in ORDER] for cell in under_pi]
    assert [[round(value.amount or 0.0, 2) for value in row] for row in costs] == [
        [0.33, 0.49, 0.63, 0.68],
        [0.72, 1.18, 2.09, 5.32],
        [2.88, 4.11, 5.11, 11.34],
    ]
    for value in (value for row in scores + costs for value in row):
        assert value.spread is not None
        interval = value.spread.interval
        assert interval is not None
        assert interval.lower is not None
        assert interval.upper is not None
        assert interval.lower < (value.amount or 0.0) < interval.upper
        assert (value.n, value.m) in {(5, 5), (6, 6)}


def test_the_published_choice_is_not_the_one_that_is_sure(board: Board, under_pi: list[Cell]) -> None:
    tiers = tiers_of(board, None)
    found, sure = [], []
    for tier in ORDER:
        points = tier_points(under_pi, tier, tiers)
        by_mean, surely = cheapest_clearing(points, 70.0), cheapest_clearing(points, 70.0, surely=True)
        found.append(by_mean.cell.identity.model.slug if by_mean else None)
        sure.append(surely.cell.identity.model.slug if surely else None)
        assert cheapest_clearing(points, 99.0) is None
    assert found == ["claude-sonnet-5", "claude-sonnet-5", "claude-sonnet-5", "claude-opus-5"]
    # Five tasks, as all tiers but the third one have, carry no claim.
    assert sure == [None, None, "claude-opus-5", None]


def test_the_frontier_of_a_tier_lies_within_one_basis(board: Board) -> None:
    tiers = tiers_of(board, None)
    for tier in ORDER:
        points = tier_points(board.cells, tier, tiers)
        assert {point.basis for point in points} == {CostBasis.METERED, CostBasis.HARDWARE_DERIVED}
        for point in points:
            rivals = [each for each in points if each.basis is point.basis and each is not point]
            beaten = any(
                (each.cost.amount or 0.0) <= (point.cost.amount or 0.0)
                and (each.score.amount or 0.0) >= (point.score.amount or 0.0)
                for each in rivals
            )
            assert point.on_frontier == (not beaten)
            assert 0.0 <= point.membership <= 1.0


def test_a_failed_task_is_in_the_bounds_and_not_in_the_mean(board: Board) -> None:
    tiers = tiers_of(board, None)
    short = [
        value
        for cell in board.cells
        for tier in ORDER
        if (value := tier_score(cell, tier, tiers)).n < value.m and value.amount is not None
    ]
    assert short
    for value in short:
        assert value.spread is not None
        assert value.spread.bounds is not None
        assert value.spread.bounds.lower < (value.amount or 0.0)


def test_steps_stay_within_one_harness_and_basis(board: Board) -> None:
    for ladder in ladders(board.cells, tiers_of(board, None)):
        assert len({(row.cell.identity.harness, row.cell.basis) for row in ladder}) == 1
        costs = [row.cell.figures["cost_per_task"].amount or 0.0 for row in ladder]
        assert costs == sorted(costs)
