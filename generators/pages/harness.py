"""Harness: one page per harness with all its cells, and the index of harnesses."""

from __future__ import annotations

from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.board_tables import cells_table, warning_summary
from generators.pages.harness_skill import crumbs
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.tables.boards import Board

ABOUT = {
    "claude-code": "Claude Code, Anthropic's command-line agent.",
    "codex": "Codex, OpenAI's command-line agent.",
    "pi": "pi, an open-source command-line agent.",
    "omp": "omp, a fork of pi.",
    "kiro-cli": "Kiro's command-line agent; models are reached through Kiro and paid in credits.",
    "strands": "An agent program built on the Strands SDK.",
    "loop": "The harness built into Harnessmark: a plain tool loop against any OpenAI-compatible endpoint.",
}


def pages(world: World) -> Iterator[Page]:
    """The index of harnesses and one page for each."""
    if not world.demonstration:
        yield _index(world)
    for harness in world.harnesses:
        yield _page(world, harness)


def _index(world: World) -> Page:
    rows = []
    for harness in world.harnesses:
        cells = world.select(harness=harness)
        skills = sorted({cell.identity.skill for cell in cells})
        models = {cell.identity.model.slug for cell in cells}
        bases = sorted({words.basis(cell.basis) for cell in cells if cell.basis is not None})
        newest = max((cell.run_date for cell in cells if cell.run_date is not None), default=None)
        rows.append(
            [
                link_entry(
                    harness,
                    links.relative(links.HARNESSES, links.harness_page(harness)),
                    ABOUT.get(harness, ""),
                ),
                Entry(", ".join(skills)),
                Entry(str(len(models)), float(len(models))),
                Entry(str(len(cells)), float(len(cells))),
                Entry(words.listing(bases) or "none known"),
                Entry(words.day(newest)),
            ]
        )
    columns = [Column("Harness"), Column("Skills"), Column("Models", "number"), Column("Cells", "number")]
    columns += [Column("Cost bases"), Column("Newest run")]
    return Page(
        path=links.HARNESSES,
        title="Harnesses",
        template="index.md.j2",
        description="Every coding agent program with results here.",
        context={
            "lead": "A harness is the coding agent program that drives a model. The same model does "
            "different work, at a different price, under another harness.",
            "table": table("Harnesses", columns, rows),
            "after": (
                link_entry(
                    "Compare harnesses on the same model",
                    links.relative(links.HARNESSES, links.COMPARE_HARNESSES),
                ),
                link_entry(
                    "Set up a harness: every one that can be run, measured or not",
                    links.relative(links.HARNESSES, links.SETUP),
                ),
            ),
        },
        crumbs=(Crumb("Home", links.HOME),),
    )


def _page(world: World, harness: str) -> Page:
    path = links.harness_page(harness, world.prefix)
    cells = world.select(harness=harness)
    versions = sorted(
        {trial.record.fingerprint.harness_version or "" for cell in cells for trial in cell.trials} - {""}
    )
    turns = sorted({trial.record.turns_definition or "" for cell in cells for trial in cell.trials} - {""})
    described = world.reference.harness(harness)
    facts = [
        ("Versions seen", Entry(words.listing(versions) or "not reported", unknown=not versions)),
        ("How it counts turns", Entry("; ".join(turns) or "not reported", unknown=not turns)),
        ("Cells", Entry(f"{len(cells):,}")),
        ("Trials", Entry(f"{sum(len(cell.trials) for cell in cells):,}")),
    ]
    sections = []
    for skill in world.skills:
        boards = world.boards(harness, skill)
        if boards:
            href = links.relative(path, links.harness_skill_page(harness, skill, world.prefix))
            sections.append(
                (skill, href, [(board.dataset, _table(world, board, path, skill)) for board in boards])
            )
    return Page(
        path=path,
        title=harness,
        template="harness.md.j2",
        description=f"Every cell measured under the harness {harness}.",
        context={
            "about": ABOUT.get(harness, ""),
            "facts": facts,
            "sections": sections,
            "warnings": warning_summary(cells, path),
            "setup": links.relative(path, links.setup_page(harness)) if described else "",
        },
        crumbs=crumbs(world),
        in_search=not world.demonstration,
        demonstration=world.demonstration,
    )


def _table(world: World, board: Board, page: str, skill: str) -> Table:
    cells = (*board.by_score, *(cell for cell, _ in board.set_apart))
    return cells_table(world, cells, page, label_text=f"{skill} on {board.dataset}", harness=False)
