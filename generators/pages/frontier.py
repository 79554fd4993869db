"""Frontier: every cell of a skill and dataset by cost and score, with how sure its place is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from generators.pages import links, words
from generators.pages.board_tables import cost_figure, few_tasks, frontier_table, score_entry
from generators.pages.charting import label, pareto
from generators.pages.frontier_data import choices, data, data_path
from generators.pages.harness_lens import COLUMNS, choice_row
from generators.pages.harness_skill import membership_words
from generators.pages.money_flag import flagged
from generators.pages.rendering import Asset, Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table, value_entry
from generators.pages.world import World
from generators.statistics.frontier import FEW_TASKS
from generators.statistics.published_rules import DecidedBy
from generators.tables.boards import Board, Placement
from generators.tables.cells import Cell
from generators.tables.lenses import harness_choices
from generators.tables.sample import Unit

POSSIBLE = 0.05
"""From this stated probability on a cell could be on its frontier."""
DECIDES = "what-the-present-data-can-decide"
"""Section of the statistics page."""
MEMBERSHIP = "How often the cell is on the frontier of its cost basis when the tasks are drawn again"
ACROSS = "The same across all cost bases: directional only, because dollars of different bases do not compare"


@dataclass(frozen=True)
class Possible:
    """The cells that could be on the frontier of one basis, likeliest first."""

    basis: str
    cells: int
    entries: list[Entry]


def pages(world: World) -> Iterator[Page]:
    """The index and one page for each skill and dataset with cells."""
    yield _index(world)
    for skill, board in world.skill_boards:
        yield _page(world, skill, board)


def possible(board: Board) -> list[Placement]:
    """Cells on the frontier of their basis and those that could be on it, likeliest first."""
    found = [place for place in board.placements if place.on_basis_frontier or place.membership >= POSSIBLE]
    return sorted(found, key=lambda place: (-place.membership, place.cost, place.cell.key))


def tiered(board: Board) -> bool:
    """Whether the board's tasks are of at least two known tiers, so that there is a page by complexity."""
    tiers = {trial.complexity for cell in board.cells for trial in cell.counted if trial.score is not None}
    return len(tiers - {None}) > 1


def _crumbs(world: World) -> tuple[Crumb, ...]:
    home = (Crumb("Home", links.HOME),)
    return (*home, Crumb("Demonstration", links.DEMONSTRATION + links.HOME)) if world.demonstration else home


def _index(world: World) -> Page:
    path = links.frontiers(world.prefix)
    here = partial(links.relative, path)
    rows = []
    for skill, board in world.skill_boards:
        sure = possible(board)
        on = sum(place.on_basis_frontier for place in board.placements)
        more = Entry("by complexity", href=here(links.complexity_page(skill, board.dataset, world.prefix)))
        rows.append(
            [
                link_entry(
                    f"{skill} on {board.dataset}",
                    here(links.frontier_page(skill, board.dataset, world.prefix)),
                ),
                Entry(str(len(board.cells)), float(len(board.cells))),
                Entry(str(len(board.tasks)), float(len(board.tasks))),
                Entry(words.listing([words.basis(basis) for basis in board.bases]) or "none known"),
                Entry(str(on), float(on)),
                Entry(str(len(sure)), float(len(sure))),
                more if tiered(board) else Entry("one tier only", unknown=True),
            ]
        )
    columns = [Column("Skill and dataset"), Column("Cells", "number"), Column("Tasks", "number")]
    columns += [Column("Cost bases"), Column("On a frontier", "number")]
    columns += [Column("Could be on one", "number", f"membership of at least {words.percent(POSSIBLE)}")]
    columns += [Column("More")]
    after = (
        link_entry("What the present data can decide", links.relative(path, links.STATISTICS, DECIDES)),
        link_entry("How costs are made, and what a basis is", links.relative(path, links.METHODOLOGY)),
    )
    return Page(
        path=path,
        title="Frontiers",
        template="index.md.j2",
        description="Every cell of each skill and dataset by cost and score.",
        context={
            "lead": "A frontier holds the cells that no other one beats on both cost and score. Each page "
            "shows every cell, not the best of each model, and how sure its place is.",
            "table": table("Frontiers", columns, rows),
            "after": () if world.demonstration else after,
        },
        crumbs=_crumbs(world),
        in_search=not world.demonstration,
        demonstration=world.demonstration,
    )


def _page(world: World, skill: str, board: Board) -> Page:
    path = links.frontier_page(skill, board.dataset, world.prefix)
    here = partial(links.relative, path)
    name = f"{skill}-{board.dataset}"
    prefix = "demonstration-" if world.demonstration else ""
    scope = f"{skill} on {board.dataset}, all harnesses"
    drawn = pareto(
        world,
        board,
        path,
        slug=f"{prefix}frontier-{name}",
        title="Score against cost, every cell",
        scope=scope,
    )
    assets = [Asset(data_path(skill, board, world.prefix), data(world, board, path))]
    several = len(board.bases) > 1
    return Page(
        path=path,
        title=f"Frontier of {skill} on {board.dataset}",
        template="frontier.md.j2",
        description=f"Every cell of {skill} on {board.dataset} by cost and score, and how sure its place is.",
        context={
            "skill": skill,
            "dataset": board.dataset,
            "dataset_href": here(links.dataset_page(board.dataset, world.prefix)),
            "skill_href": here(links.skill_page(skill, world.prefix)),
            "cells": words.counted(len(board.cells), "cell"),
            "tasks": words.counted(len(board.tasks), "task"),
            "few": few_tasks(board),
            "tested": FEW_TASKS,
            "several": several,
            "possible": _possible(world, board, path),
            "limit": words.percent(POSSIBLE),
            "chart": drawn.html if drawn else None,
            "data_href": here(assets[0].path),
            "choices": choices(board) if drawn else [],
            "membership_words": membership_words(board),
            "table": _table(world, board, path),
            "unplaced": [(label(cell, with_harness=True), reason) for cell, reason in board.unplaced],
            "set_apart": [(label(cell, with_harness=True), reason) for cell, reason in board.set_apart],
            "frontiers": [
                (words.basis_adjective(basis), frontier_table(world, board, basis, path, harness=True))
                for basis in board.bases
            ],
            "combined": frontier_table(world, board, None, path, harness=True) if several else None,
            "lens": _lens(world, board, path),
            "complexity": here(links.complexity_page(skill, board.dataset, world.prefix))
            if tiered(board)
            else "",
            "links": links,
        },
        crumbs=(*_crumbs(world), Crumb("Frontiers", links.frontiers(world.prefix))),
        in_search=not world.demonstration,
        demonstration=world.demonstration,
        assets=(*assets, *((drawn.asset,) if drawn else ())),
    )


def _possible(world: World, board: Board, page: str) -> list[Possible]:
    found = []
    for basis in board.bases:
        rivals = [place for place in board.placements if place.basis is basis]
        entries = [
            link_entry(
                label(place.cell, with_harness=True),
                links.relative(page, world.cell_page(place.cell)),
                f"{words.percent(place.membership)}, {_state(board, place)}",
            )
            for place in possible(board)
            if place.basis is basis
        ]
        found.append(Possible(words.basis_adjective(basis), len(rivals), entries))
    return found


def _state(board: Board, place: Placement) -> str:
    if place.on_basis_frontier:
        return "on it"
    if place.membership >= POSSIBLE:
        return "could be on it"
    return "not seen on it" if few_tasks(board) else "off it"


def _table(world: World, board: Board, page: str) -> Table:
    """Every cell with both coordinates, likeliest members first, then those without a point."""
    columns = [Column("Cell"), Column("Harness"), Column("Cost basis"), Column("Mean score", "number")]
    columns += [Column("Cost per task", "number"), Column("Minutes per task", "number")]
    columns += [Column("Frontier of its basis"), Column("Membership", "number", MEMBERSHIP)]
    columns += [Column("Across bases", "number", ACROSS)] if len(board.bases) > 1 else []
    several = len(board.bases) > 1
    places = sorted(board.placements, key=lambda place: (-place.membership, place.cost, place.cell.key))
    rows = [_row(world, board, place.cell, place, page, several=several) for place in places]
    placed = {place.cell.key for place in places}
    rest = [cell for cell in board.by_score if cell.key not in placed]
    rows += [_row(world, board, cell, None, page, several=several) for cell in rest]
    marked = [place.on_basis_frontier or place.membership >= POSSIBLE for place in places]
    return table("Every cell with its place", columns, rows, marked=[*marked, *(False for _ in rest)])


def _row(
    world: World, board: Board, cell: Cell, place: Placement | None, page: str, *, several: bool
) -> list[Entry]:
    harness = links.harness_page(cell.identity.harness, world.prefix)
    row = [
        link_entry(label(cell), links.relative(page, world.cell_page(cell)), cell.identity.provider),
        link_entry(cell.identity.harness, links.relative(page, harness)),
        Entry(words.basis(cell.basis), note=words.hosting(cell.hosting)),
        score_entry(cell),
        flagged(world, cost_figure(cell), cell, page),
        value_entry(cell.figures["minutes_per_task"], Unit.MINUTES, count_below=True),
    ]
    if place is None:
        none = [Entry("no point", None, unknown=True)] * (3 if several else 2)
        return [*row, *none]
    row += [
        Entry(_state(board, place)),
        Entry(words.percent(place.membership), place.membership),
    ]
    if several:
        across = Entry(words.percent(place.membership_across), place.membership_across, note="directional")
        row.append(across)
    return row


def _lens(world: World, board: Board, page: str) -> Table | None:
    """What the published rule chooses for each model that several cells have; None where none has."""
    found = [
        choice
        for choice in harness_choices(board.cells, world.aliases)
        if choice.decided_by is not DecidedBy.ONLY_ONE
    ]
    if not found:
        return None
    return table(
        "Best harness by the published rule, all harnesses",
        COLUMNS,
        [choice_row(world, choice, page) for choice in found],
    )
