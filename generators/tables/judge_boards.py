"""Judge boards: scores and costs of comparable cells on common tasks, for what varies in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from generators.tables.boards import task_means
from generators.tables.cells import Cell

Floats = NDArray[np.float64]


def judge_boards(cells: Iterable[Cell]) -> list[tuple[Floats, Floats]]:
    """Scores and costs, cells x tasks, of cells of one harness, skill, dataset version and judge.

    Only cells with a score for every task of their board are kept; an unknown cost is NaN.
    """
    grouped: dict[tuple[object, ...], list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.has_scores:
            identity = cell.identity
            key = (identity.harness, identity.skill, identity.dataset, cell.dataset_digest, cell.yardstick)
            grouped[key].append(cell)
    boards = []
    for place in sorted(grouped, key=str):
        members = grouped[place]
        tasks = sorted({task for cell in members for task in cell.by_task})
        scores, costs = (
            np.array([[task_means(cell, what).get(task, np.nan) for task in tasks] for cell in members])
            for what in ("score", "cost")
        )
        whole = ~np.isnan(scores).any(axis=1)
        if whole.any():
            boards.append((scores[whole], costs[whole]))
    return boards
