"""What if: a page on which the reader changes prices, and tables and frontiers follow in the browser."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from generators.charts.wording import basis_colour, basis_name
from generators.escape.html import Json
from generators.pages import links, words
from generators.pages.charting import pareto
from generators.pages.credit_plans import plan_options
from generators.pages.interval_words import sureness
from generators.pages.rendering import Asset, Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table, value_entry
from generators.pages.world import World
from generators.tables.boards import Board, build_boards
from generators.tables.cells import Cell
from generators.tables.sample import Unit
from generators.tables.what_if import board_export
from runner.records import CostBasis

LEAST = 2
"""Boards of fewer placed cells have nothing to compare."""


def pages(world: World) -> Iterator[Page]:
    """The page and the data of each board; none where no board has cells to compare."""
    if world.demonstration:
        return
    boards = [
        (skill, board)
        for skill, dataset in _pairs(world)
        for board in build_boards(world.select(skill=skill, dataset=dataset))[:1]
        if len(board.placements) >= LEAST
    ]
    if not boards:
        return
    boards.sort(key=lambda pair: ((pair[0], pair[1].dataset) != world.widest, pair[0], pair[1].dataset))
    skill, board = boards[0]
    scope = f"{skill} on {board.dataset}, all harnesses"
    drawn = pareto(
        world,
        board,
        links.WHAT_IF,
        slug=f"what-if-{skill}-{board.dataset}",
        title="Score against cost",
        scope=scope,
    )
    yield Page(
        path=links.WHAT_IF,
        title="What if prices were others",
        template="what_if.md.j2",
        description="Costs, tables and frontiers at other token prices, machine prices, hit rates and plans.",
        context={
            "boards": [
                (f"{skill} on {each.dataset}", links.relative(links.WHAT_IF, _data_path(skill, each)))
                for skill, each in boards
            ],
            "commitments": [
                (kind.value, words.COMMITMENT_WORDS[kind])
                for kind in sorted({k for p in world.rates.prices.instances.values() for k in p.usd_per_hour})
            ],
            "plans": plan_options(world.pricing.plans),
            "chosen": world.rates.commitment.value,
            "machines_as_of": world.rates.prices.as_of.isoformat(),
            "table": _table(world, board),
            "chart": drawn.html if drawn else None,
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Methodology", links.METHODOLOGY)),
        assets=(
            *(Asset(_data_path(skill, each), _data(world, each)) for skill, each in boards),
            *((drawn.asset,) if drawn else ()),
        ),
    )


def _pairs(world: World) -> list[tuple[str, str]]:
    return sorted({(cell.identity.skill, cell.identity.dataset) for cell in world.cells})


def _data_path(skill: str, board: Board) -> str:
    return f"data/what-if/{skill}-{board.dataset}.json"


def _data(world: World, board: Board) -> bytes:
    pages = {"/".join(cell.key): links.relative(links.WHAT_IF, world.cell_page(cell)) for cell in board.cells}
    said = {
        "/".join(cell.key): {
            "sure": sureness(cell.figures["mean_score"], Unit.POINTS),
            "rests_on": words.priced(cell.figures["cost_per_task"].priced),
        }
        for cell in board.cells
    }
    content = board_export(board, world.pricing, pages, said)
    bases: dict[str, Json] = {
        basis.value: {
            "name": basis_name(basis.value),
            "words": words.basis(basis),
            "colour": basis_colour(words.basis(basis)),
        }
        for basis in CostBasis
    }
    return (json.dumps({**content, "bases": bases}, allow_nan=False, separators=(",", ":")) + "\n").encode()


def _table(world: World, board: Board) -> Table:
    cells = [cell for cell in board.by_score if cell.sample.graded]
    columns = [
        Column("Cell"),
        Column("Harness"),
        Column("Mean score", "number"),
        Column("Cost per task, published", "number"),
        Column("Cost per task, yours", "number", "at the prices entered above"),
        Column("Frontier of its basis", explanation="as published, and at the prices entered above"),
    ]
    return table("Cells at the published prices and at yours", columns, list(_rows(world, board, cells)))


def _rows(world: World, board: Board, cells: Sequence[Cell]) -> Iterator[list[Entry]]:
    for cell in cells:
        placement = board.placement(cell)
        cost = value_entry(cell.figures["cost_per_task"], Unit.DOLLARS)
        yield [
            link_entry(_name(cell), links.relative(links.WHAT_IF, world.cell_page(cell))),
            Entry(cell.identity.harness),
            value_entry(cell.figures["mean_score"], Unit.POINTS),
            cost,
            cost,
            Entry("on it" if placement is not None and placement.on_basis_frontier else "not on it"),
        ]


def _name(cell: Cell) -> str:
    return cell.identity.model.slug + (f" ({cell.identity.effort})" if cell.identity.effort else "")
