"""Frontier data: what the browser needs to show some of a board's cells, and by what it may choose them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from generators.charts.wording import basis_name
from generators.escape.html import Json
from generators.pages import links, words
from generators.pages.charting import label
from generators.pages.world import World
from generators.tables.boards import Board
from generators.tables.cells import Cell


@dataclass(frozen=True)
class Choice:
    """One way to narrow a board: a name in the address, what it says, and its values with their cells."""

    name: str
    title: str
    values: list[tuple[str, int]]


def choices(board: Board) -> list[Choice]:
    """Harness, cost basis and hosting, each only where the board's points differ in it."""
    cells = [place.cell for place in board.placements]
    found = []
    for name, title in (("harness", "Harness"), ("basis", "Cost basis"), ("hosting", "Hosting")):
        counts = Counter(_facts(cell)[name] for cell in cells)
        if len(counts) > 1:
            found.append(Choice(name, title, sorted(counts.items())))
    return found


def data_path(skill: str, board: Board, prefix: str) -> str:
    """Where the data of a board lies among the site's data."""
    return f"data/frontier/{prefix.replace('/', '-')}{skill}_{board.dataset}.json"


def data(world: World, board: Board, page: str) -> bytes:
    """Every point: its page as seen from ``page``, what it may be chosen by, cost, score and membership."""
    cells: list[Json] = [
        {
            "href": links.relative(page, world.cell_page(place.cell)),
            "name": label(place.cell, with_harness=True),
            **_facts(place.cell),
            "basis_name": basis_name(words.basis(place.basis)),
            "cost": place.cost,
            "score": place.score,
            "membership": place.membership,
            "membership_across": place.membership_across,
        }
        for place in board.placements
    ]
    content = {"dataset": board.dataset, "cells": cells}
    return (json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n").encode()


def _facts(cell: Cell) -> dict[str, str]:
    return {
        "harness": cell.identity.harness,
        "basis": words.basis(cell.basis),
        "hosting": words.hosting(cell.hosting),
    }
