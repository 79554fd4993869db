"""Pair table: every two cells of a skill and dataset, each with the one verdict that all pages show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from generators.statistics.bounds import Bounds, difference_bounds, mean_bounds
from generators.statistics.verdict import Kind, Word
from generators.tables.boards import Board, build_boards
from generators.tables.cells import Cell, CellKey
from generators.tables.certainty import score_bounds
from generators.tables.comparisons import Compared, Repositories, compare_cells
from generators.tables.scores import HIGHEST_SCORE, LOWEST_SCORE


@dataclass(frozen=True)
class PairTable:
    """Cells with results, those of the board first, and all their pairs under one adjustment.

    In each pair the cell that comes first in ``cells`` is the first one. A pair with a cell that the board
    sets apart stands outside the board's adjustment; most of them carry a reason in place of a verdict.
    """

    skill: str
    board: Board
    kind: Kind
    cells: tuple[Cell, ...]
    compared: tuple[Compared, ...]
    family: int
    """Pairs of cells of the board, which are adjusted together."""

    @property
    def dataset(self) -> str:
        """The dataset of all cells."""
        return self.board.dataset

    @property
    def title(self) -> str:
        """What is compared: the skill and the dataset."""
        return f"{self.skill} on {self.dataset}"

    @cached_property
    def _by_keys(self) -> Mapping[frozenset[CellKey], Compared]:
        return {frozenset((each.first.key, each.second.key)): each for each in self.compared}

    def find(self, one: Cell, other: Cell) -> Compared | None:
        """The pair of two cells in any order; None where one of them has no results here."""
        return self._by_keys.get(frozenset((one.key, other.key)))

    def among(self, cells: Iterable[Cell]) -> list[Compared]:
        """The pairs of the cells given."""
        keys = {cell.key for cell in cells}
        return [each for each in self.compared if {each.first.key, each.second.key} <= keys]

    def count(self, word: Word | None) -> int:
        """Pairs with a word; for None those that must not be compared."""
        return sum((each.verdict.word if each.verdict else None) is word for each in self.compared)


def pair_tables(cells: Iterable[Cell], repositories: Mapping[str, Repositories]) -> list[PairTable]:
    """One table for each skill and dataset of which two cells have results, by skill and dataset.

    Args:
        cells: of any skills and datasets.
        repositories: repository of each task by dataset, where known.
    """
    grouped: dict[str, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(cell.identity.skill, []).append(cell)
    tables = []
    for skill in sorted(grouped):
        for board in build_boards(grouped[skill]):
            found = pair_table(skill, board, repositories.get(board.dataset))
            if found is not None:
                tables.append(found)
    return tables


def pair_table(skill: str, board: Board, repositories: Repositories | None = None) -> PairTable | None:
    """Every pair of a board's cells and of those set apart; None with fewer than two that have results.

    Judge scores where any cell of the board has them, else passed checks.
    """
    judged = any(cell.has_scores for cell in board.cells)
    kind = Kind.SCORE if judged else Kind.CHECK
    main = [cell for cell in board.by_score if (cell.has_scores if judged else cell.has_checks)]
    aside = [cell for cell, _ in board.set_apart if (cell.has_scores if judged else cell.has_checks)]
    aside.sort(key=lambda cell: (-(cell.figures["mean_score"].amount or 0.0), cell.key))
    cells = (*main, *aside)
    if len(cells) < 2:
        return None
    within = list(combinations(main, 2))
    beyond = [(one, two) for one, two in combinations(cells, 2) if two in aside]
    compared = compare_cells(within, kind, repositories) + compare_cells(beyond, kind, repositories)
    return PairTable(skill, board, kind, cells, tuple(compared), len(within))


def pair_bounds(compared: Compared, kind: Kind) -> Bounds | None:
    """What the difference of a pair could still be, whatever its open trials would give."""
    of = score_bounds if kind is Kind.SCORE else _check_bounds
    return difference_bounds(of(compared.first), of(compared.second))


def _check_bounds(cell: Cell) -> Bounds | None:
    graded = [trial.resolved for trial in cell.counted if trial.resolved is not None]
    known = [HIGHEST_SCORE if resolved else LOWEST_SCORE for resolved in graded]
    return mean_bounds(known, cell.sample.planned - len(known), lowest=LOWEST_SCORE, highest=HIGHEST_SCORE)
