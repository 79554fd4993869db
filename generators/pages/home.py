"""Home: the question and its answer, the frontier of the widest comparison, and how to read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generators.pages import decide, links, words
from generators.pages.board_tables import cells_table, few_tasks, frontier_table
from generators.pages.charting import pareto
from generators.pages.rendering import Crumb, Page
from generators.pages.world import World
from generators.tables.boards import Board, build_boards


@dataclass(frozen=True)
class Tile:
    """One number on top of a page."""

    name: str
    value: str
    note: str


@dataclass(frozen=True)
class Entrance:
    """A link to a harness under a skill, with what is behind it."""

    harness: str
    skill: str
    href: str
    text: str


def pages(world: World, demonstration: World | None) -> Iterator[Page]:
    """The home page of the real results, or the entrance page of the demonstration."""
    path = world.prefix + links.HOME
    board = front_board(world)
    skill = world.widest[0] if world.widest else ""
    asked = None if world.demonstration else decide.section(world, path)
    drawn = None
    if board is not None:
        drawn = pareto(
            world,
            board,
            path,
            slug=_slug(world, skill, board.dataset),
            title=f"Score against cost: {skill} on {board.dataset}",
            scope=f"{skill} on {board.dataset}, all harnesses",
        )
    yield Page(
        path=path,
        title="Demonstration" if world.demonstration else "Harnessmark",
        template="home.md.j2",
        description="Coding harness and model pairs, measured on real repositories: score, cost and time.",
        context={
            "decide": asked,
            "tiles": tiles(world),
            "board": board,
            "skill": skill,
            "board_tasks": len(board.tasks) if board else 0,
            "few": few_tasks(board) if board else True,
            "chart": drawn.html if drawn else None,
            "cells": cells_table(world, board.by_score, path, label_text="All cells", harness=True)
            if board and not drawn
            else None,
            "frontiers": [
                (words.basis_adjective(basis), frontier_table(world, board, basis, path, harness=True))
                for basis in board.bases
            ]
            if board
            else [],
            "entrances": entrances(world, path),
            "demonstration_page": links.relative(path, links.DEMONSTRATION + links.HOME)
            if demonstration is not None
            else "",
            "endpoints_page": links.relative(path, world.prefix + links.ENDPOINTS)
            if world.endpoints.runs
            else "",
            "links": links,
        },
        crumbs=(Crumb("Home", links.HOME),) if world.demonstration else (),
        in_search=not world.demonstration,
        demonstration=world.demonstration,
        assets=(*((drawn.asset,) if drawn else ()), *(asked.assets if asked else ())),
    )


def front_board(world: World) -> Board | None:
    """All cells of the skill and dataset with most scored cells, every harness on one board."""
    if world.widest is None:
        return None
    skill, dataset = world.widest
    boards = build_boards(world.select(skill=skill, dataset=dataset))
    return boards[0] if boards else None


def tiles(world: World) -> list[Tile]:
    """What the results hold, and how fresh they are."""
    scored = sum(len(cell.sample.scores) for cell in world.cells)
    counted = sum(cell.sample.planned for cell in world.cells)
    newest = world.newest_run
    filled = sum(bool(cell.sample.planned) for cell in world.cells)
    graded = [trial.resolved for cell in world.cells for trial in cell.counted if trial.resolved is not None]
    trials = f"{scored:,} of {counted:,} planned are scored by a judge"
    if graded and not scored:
        trials = f"{sum(graded):,} of {len(graded):,} with checks are resolved"
    aside = sum(len(cell.excluded) for cell in world.cells)
    trials += f"; {aside:,} more count in no figure" if aside else ""
    return [
        Tile("Cells", f"{filled:,}", "model x harness x skill x dataset"),
        Tile("Trials", f"{world.trial_count:,}", trials),
        Tile("Harnesses", f"{len(world.harnesses):,}", words.listing(list(world.harnesses), 6)),
        Tile("Models", f"{len(world.models):,}", words.counted(len(world.skills), "skill")),
        Tile("Newest run", words.day(newest), "latest run date that a record or its source states"),
    ]


def entrances(world: World, page: str) -> list[Entrance]:
    """Every harness under every skill that has cells, the ones with most cells first."""
    found = []
    for harness in world.harnesses:
        for skill in world.skills:
            cells = world.select(harness=harness, skill=skill)
            if cells:
                href = links.relative(page, links.harness_skill_page(harness, skill, world.prefix))
                names = sorted({cell.identity.dataset for cell in cells})
                text = f"{words.counted(len(cells), 'cell')} on {words.listing(names)}"
                found.append((-len(cells), Entrance(harness, skill, href, text)))
    return [
        entrance for _, entrance in sorted(found, key=lambda pair: (pair[0], pair[1].harness, pair[1].skill))
    ]


def _slug(world: World, skill: str, dataset: str) -> str:
    prefix = "demonstration-" if world.demonstration else ""
    return f"{prefix}pareto-all-{skill}-{dataset}"
