"""Claims: how often boards of equal cells claim a difference, and boards of real ones claim a wrong one."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from generators.statistics.simulation.populations import Floats, Population
from generators.statistics.simulation.result import ClaimsRow, EqualBoardsRow
from generators.statistics.verdict import MARGIN, Kind, Pair, Word, weigh

CELLS = 8


def equal_boards(
    population: Population, tasks: int, boards: int, generator: np.random.Generator
) -> EqualBoardsRow:
    """Boards of eight cells that are equal by construction; every "better" is a false claim.

    For each task the eight values are those of eight systems drawn anew, so that which cell has which value
    is chance alone. Of judge scores the systems' own means are taken out first.
    """
    table = population.scores
    if population.kind is Kind.SCORE:
        table = table - population.true_scores[:, None] + population.true_scores.mean()
    false_boards = ties = 0
    for _ in range(boards):
        columns = generator.integers(0, table.shape[1], tasks)
        rows = np.argsort(generator.random((tasks, table.shape[0])), axis=1)[:, :CELLS]
        board: Floats = table[rows, columns[:, None]].T
        words = _words(board, population.kind)
        false_boards += Word.BETTER in words.values()
        ties += sum(word is Word.TIE for word in words.values())
    return EqualBoardsRow(
        population=population.name,
        tasks=tasks,
        cells=CELLS,
        boards=boards,
        false_boards=false_boards,
        share_false=false_boards / boards,
        share_ties=ties / (boards * len(list(combinations(range(CELLS), 2)))),
    )


def real_boards(population: Population, tasks: int, boards: int, generator: np.random.Generator) -> ClaimsRow:
    """Boards of eight systems of the population: what is claimed, and how much of it is wrong.

    "Better" is wrong where the other one is better over all tasks; a tie is wrong where the two differ by
    more than the margin.
    """
    better = better_wrong = tied = tied_wrong = pairs = 0
    for _ in range(boards):
        columns = generator.integers(0, population.scores.shape[1], tasks)
        chosen = generator.choice(len(population.scores), CELLS, replace=False)
        board = population.scores[chosen][:, columns]
        for (one, two), word in _words(board, population.kind).items():
            gap = float(population.true_scores[chosen[one]] - population.true_scores[chosen[two]])
            seen = float((board[one] - board[two]).mean())
            pairs += 1
            better += word is Word.BETTER
            better_wrong += word is Word.BETTER and gap * seen <= 0
            tied += word is Word.TIE
            tied_wrong += word is Word.TIE and abs(gap) > MARGIN
    return ClaimsRow(
        population=population.name,
        tasks=tasks,
        cells=CELLS,
        pairs=pairs,
        better=better,
        better_wrong=better_wrong,
        ties=tied,
        ties_wrong=tied_wrong,
    )


def _words(board: Floats, kind: Kind) -> dict[tuple[int, int], Word]:
    places = list(combinations(range(len(board)), 2))
    weighed = weigh([Pair(board[one], board[two], kind) for one, two in places])
    return {place: each.word() for place, each in zip(places, weighed, strict=True)}
