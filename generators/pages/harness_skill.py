"""Harness x skill: frontier, full table, profile and warnings of one harness under one skill, by dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from generators.pages import links, words
from generators.pages.board_tables import (
    cells_table,
    few_tasks,
    frontier_table,
    named_trials,
    warning_summary,
)
from generators.pages.charting import RADAR_SERIES, pareto, radars, top_cells
from generators.pages.rendering import Asset, Crumb, Page
from generators.pages.table import Table
from generators.pages.world import World
from generators.tables.boards import Board


@dataclass(frozen=True)
class BoardSection:
    """Everything a page shows about one board."""

    dataset: str
    dataset_href: str
    frontier_href: str
    cells: int
    tasks: int
    few: bool
    rubric: str
    chart: Markup | None
    frontiers: list[tuple[str, Table]]
    combined: Table | None
    membership_words: str
    table: Table
    unplaced: list[tuple[str, str]]
    set_apart: Table | None
    radar_rule: str
    radars: list[Markup]
    named: Table | None
    warnings: Table | None


def pages(world: World) -> Iterator[Page]:
    """One page for each harness and skill that has cells."""
    for harness in world.harnesses:
        for skill in world.skills:
            boards = world.boards(harness, skill)
            if boards:
                yield _page(world, harness, skill, boards)


def _page(world: World, harness: str, skill: str, boards: tuple[Board, ...]) -> Page:
    path = links.harness_skill_page(harness, skill, world.prefix)
    assets: list[Asset] = []
    sections = [
        board_section(
            world, board, path, f"{harness}-{skill}", f"{harness}, {skill}, {board.dataset}", assets
        )
        for board in boards
    ]
    return Page(
        path=path,
        title=f"{harness} with {skill}",
        template="harness_skill.md.j2",
        description=f"Score, cost and time of every model under {harness} with {skill}, with the frontier.",
        context={"sections": sections, "harness": harness, "skill": skill, "links": links},
        crumbs=crumbs(world, Crumb(harness, links.harness_page(harness, world.prefix))),
        in_search=not world.demonstration,
        demonstration=world.demonstration,
        assets=tuple(assets),
    )


def crumbs(world: World, *more: Crumb) -> tuple[Crumb, ...]:
    """The way from home to a page about harnesses."""
    start = (Crumb("Home", links.HOME),)
    if world.demonstration:
        return (*start, Crumb("Demonstration", links.DEMONSTRATION + links.HOME), *more)
    return (*start, Crumb("Harnesses", links.HARNESSES), *more)


def board_section(
    world: World, board: Board, page: str, slug: str, scope: str, assets: list[Asset]
) -> BoardSection:
    """The parts of a page about one board; files of its charts are added to ``assets``."""
    harness = len({cell.identity.harness for cell in board.cells}) > 1
    name = f"{'demonstration-' if world.demonstration else ''}{slug}-{board.dataset}"
    drawn = pareto(
        world, board, page, slug=f"pareto-{name}", title=f"Score against cost: {scope}", scope=scope
    )
    top = top_cells(board)
    radar = radars(world, top, page, slug=f"radar-{name}", scope=scope)
    assets.extend(chart.asset for chart in ([drawn] if drawn else []) + radar)
    everyone = (*board.cells, *(cell for cell, _ in board.set_apart))
    rubrics = sorted({cell.rubric for cell in board.cells if cell.rubric is not None})
    return BoardSection(
        dataset=board.dataset,
        dataset_href=links.relative(page, links.dataset_page(board.dataset, world.prefix)),
        frontier_href=links.relative(
            page, links.frontier_page(everyone[0].identity.skill, board.dataset, world.prefix)
        ),
        cells=len(board.cells),
        tasks=len(board.tasks),
        few=few_tasks(board),
        rubric=words.listing(rubrics),
        chart=drawn.html if drawn else None,
        frontiers=[
            (words.basis_adjective(basis), frontier_table(world, board, basis, page, harness=harness))
            for basis in board.bases
        ],
        combined=frontier_table(world, board, None, page, harness=harness) if len(board.bases) > 1 else None,
        membership_words=membership_words(board),
        table=cells_table(
            world,
            board.by_score,
            page,
            label_text=f"All cells: {scope}",
            harness=harness,
            board=board if board.placements else None,
        ),
        unplaced=[(cell.identity.model.slug, reason) for cell, reason in board.unplaced],
        set_apart=_set_apart(world, board, page, harness),
        radar_rule=_radar_rule(board, len(top)),
        radars=[chart.html for chart in radar],
        named=named_trials(world, everyone, page),
        warnings=warning_summary(everyone, page),
    )


def _set_apart(world: World, board: Board, page: str, harness: bool) -> Table | None:
    """Cells that must not be compared with those of the board, with the reason below each name."""
    if not board.set_apart:
        return None
    return cells_table(
        world,
        [cell for cell, _ in board.set_apart],
        page,
        label_text=f"Cells of {board.dataset} that are not compared with the others",
        harness=harness,
        reasons={cell.key: reason for cell, reason in board.set_apart},
    )


def membership_words(board: Board) -> str:
    """How the membership probabilities of a board were computed."""
    method = board.membership_method()
    if method is None:
        return ""
    if method.method == "exact":
        return f"Membership: all {method.resamples:,} distinct ways to draw {method.tasks} tasks again."
    return f"Membership: {method.resamples:,} paired resamples of {method.tasks} tasks, seed {method.seed}."


def _radar_rule(board: Board, shown: int) -> str:
    scored = sum(cell.has_scores for cell in board.cells)
    if shown == scored:
        return f"All {shown} scored cells." if shown > 1 else "The one scored cell."
    return (
        f"The {shown} of {scored} scored cells with the highest mean score that publish scores by part "
        f"(at most {RADAR_SERIES} are drawn, more cannot be told apart)."
    )
