"""Every pair of a dataset has one verdict, and every page finds the same."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from generators.statistics.verdict import Kind, Word
from generators.tables.boards import build_boards
from generators.tables.cells import Cell
from generators.tables.comparisons import standings
from generators.tables.pair_table import PairTable, pair_bounds, pair_tables
from tests.generators.tables import compare_made
from tests.generators.tables.made import Made, cells, committed


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> PairTable:
    """The pairs of the made store."""
    (found,) = compare_made.world(tmp_path_factory.mktemp("pairs")).pair_tables
    return found


@pytest.fixture(scope="module")
def published() -> list[Cell]:
    """Cells of the committed store."""
    return committed()


def of(table: PairTable, model: str, harness: str = "loop") -> Cell:
    """A cell of the table."""
    return next(
        cell for cell in table.cells if (cell.identity.model.slug, cell.identity.harness) == (model, harness)
    )


def word(table: PairTable, one: Cell, other: Cell) -> Word | None:
    """The verdict on two cells."""
    found = table.find(one, other)
    assert found is not None
    return found.verdict.word if found.verdict else None


def test_every_two_cells_stand_once_in_the_order_of_their_means(table: PairTable) -> None:
    keys = [(each.first.key, each.second.key) for each in table.compared]
    assert keys == list(combinations([cell.key for cell in table.cells], 2))
    means = [cell.figures["mean_score"].amount or 0.0 for cell in table.cells]
    assert means == sorted(means, reverse=True)
    assert table.family == len(table.compared) == 10


def test_better_tie_and_not_enough_data_are_told_apart(table: PairTable) -> None:
    strong, twin, weak = of(table, "strong"), of(table, "twin"), of(table, "weak")
    assert word(table, strong, weak) is Word.BETTER
    assert word(table, weak, strong) is Word.BETTER
    assert word(table, strong, twin) is Word.TIE
    assert word(table, of(table, "strong", "pi"), weak) is Word.NOT_ENOUGH
    counts = [table.count(each) for each in (*Word, None)]
    assert sum(counts) == len(table.compared)
    assert counts[-1] == 0


def test_pairs_of_one_model_are_found_among_all(table: PairTable) -> None:
    twins = [cell for cell in table.cells if cell.identity.model.slug == "twin"]
    (pair,) = table.among(twins)
    assert {pair.first.key, pair.second.key} == {cell.key for cell in twins}
    assert table.among(twins[:1]) == []


def test_a_missing_trial_widens_the_bounds_and_not_the_difference(table: PairTable) -> None:
    pair = table.find(of(table, "strong"), of(table, "weak"))
    other = table.find(of(table, "strong"), of(table, "twin"))
    assert pair is not None
    assert other is not None
    bounds, closed = pair_bounds(pair, table.kind), pair_bounds(other, table.kind)
    assert bounds is not None
    assert closed is not None
    assert (bounds.open, closed.open) == (1, 0)
    assert bounds.upper - bounds.lower == pytest.approx(100 / 9)
    assert closed.upper == pytest.approx(closed.lower)


def test_where_nobody_judges_checks_are_compared(tmp_path: Path) -> None:
    made = compare_made.checked(compare_made.cell("all"), 8) + compare_made.checked(
        compare_made.cell("none"), 0
    )
    (table,) = pair_tables(cells(tmp_path, made), {})
    assert table.kind is Kind.CHECK
    (pair,) = table.compared
    assert pair.better is not None
    assert pair.better.identity.model.slug == "all"
    bounds = pair_bounds(pair, table.kind)
    assert bounds is not None
    assert (bounds.lower, bounds.upper, bounds.open) == (100.0, 100.0, 0)


def test_a_cell_alone_makes_no_table(tmp_path: Path) -> None:
    assert pair_tables(cells(tmp_path, [Made("task-a"), Made("task-b")]), {}) == []


def test_committed_verdicts_are_those_of_the_boards_standings(published: list[Cell]) -> None:
    tables = pair_tables(published, {})
    looked_at = 0
    for table in tables:
        own = [cell for cell in published if cell.identity.skill == table.skill]
        board = next(each for each in build_boards(own) if each.dataset == table.dataset)
        for each in standings(board).compared:
            found = table.find(each.first, each.second)
            assert found is not None
            assert found.verdict == each.verdict
            looked_at += 1
    assert looked_at == 528 + 45 + 21 + 1 + 1


def test_cells_under_another_rubric_are_kept_out_of_the_adjustment(published: list[Cell]) -> None:
    table = next(
        each
        for each in pair_tables(published, {})
        if (each.skill, each.dataset) == ("swe2", "mcp-gateway-registry")
    )
    assert (table.family, len(table.compared)) == (45, 136)
    apart = {cell.key for cell, _ in table.board.set_apart}
    mixed = [each for each in table.compared if (each.first.key in apart) != (each.second.key in apart)]
    assert mixed
    assert all(each.verdict is None and "rubric" in each.reason for each in mixed)
