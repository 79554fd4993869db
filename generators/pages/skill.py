"""Skill: every harness under one skill on one board for each dataset, and the index of skills."""

from __future__ import annotations

from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.harness_skill import board_section
from generators.pages.rendering import Asset, Crumb, Page
from generators.pages.table import Column, Entry, link_entry, table
from generators.pages.world import World
from generators.tables.boards import build_boards
from runner.records import ArtifactState

ABOUT = {
    "swe2": "Design and implement a change with subagents that explore and review; six artifacts.",
    "swe3": "Design and implement a change as a single agent, without subagents; six artifacts. "
    "The fair one across harnesses, because not every harness has subagents.",
    "fix": "Change the code so that hidden tests pass; a patch and a note on the implementation.",
}


def pages(world: World) -> Iterator[Page]:
    """The index of skills and one page for each."""
    if not world.demonstration:
        yield _index(world)
    for skill in world.skills:
        yield _page(world, skill)


def _index(world: World) -> Page:
    rows = []
    for skill in world.skills:
        cells = world.select(skill=skill)
        harnesses = sorted({cell.identity.harness for cell in cells})
        datasets = sorted({cell.identity.dataset for cell in cells})
        rows.append(
            [
                link_entry(
                    skill, links.relative(links.SKILLS, links.skill_page(skill)), ABOUT.get(skill, "")
                ),
                Entry(str(len(cells)), float(len(cells))),
                Entry(words.listing(harnesses)),
                Entry(words.listing(datasets)),
            ]
        )
    columns = [Column("Skill"), Column("Cells", "number"), Column("Harnesses"), Column("Datasets")]
    return Page(
        path=links.SKILLS,
        title="Skills",
        template="index.md.j2",
        description="The prompt programs that trials are asked to follow.",
        context={
            "lead": "A skill is a prompt program with a contract of files it must leave behind. Results of "
            "different skills answer different questions and are never put on one chart.",
            "table": table("Skills", columns, rows),
            "after": (
                link_entry(
                    "From plan to record: what a trial is, and every word of the tables",
                    links.relative(links.SKILLS, links.ABOUT),
                ),
            ),
        },
        crumbs=(Crumb("Home", links.HOME),),
    )


def _page(world: World, skill: str) -> Page:
    path = links.skill_page(skill, world.prefix)
    cells = world.select(skill=skill)
    assets: list[Asset] = []
    boards = sorted(build_boards(cells), key=lambda board: (-len(board.cells), board.dataset))
    sections = [
        board_section(
            world, board, path, f"all-harnesses-{skill}", f"{skill}, {board.dataset}, all harnesses", assets
        )
        for board in boards
    ]
    artifacts = sorted(
        {
            artifact.name
            for cell in cells
            for trial in cell.trials
            for artifact in trial.record.artifacts
            if artifact.state is not ArtifactState.MISSING
        }
    )
    versions = sorted(
        {trial.record.fingerprint.skill_version or "" for cell in cells for trial in cell.trials} - {""}
    )
    return Page(
        path=path,
        title=skill,
        template="skill.md.j2",
        description=f"Every harness and model measured with the skill {skill}.",
        context={
            "about": ABOUT.get(skill, ""),
            "facts": [
                ("Versions seen", Entry(words.listing(versions) or "not reported", unknown=not versions)),
                ("Files seen", Entry(words.listing(artifacts, 20) or "not reported", unknown=not artifacts)),
                ("Cells", Entry(f"{len(cells):,}")),
            ],
            "sections": sections,
            "links": links,
        },
        crumbs=(
            (Crumb("Home", links.HOME), Crumb("Demonstration", links.DEMONSTRATION + links.HOME))
            if world.demonstration
            else (Crumb("Home", links.HOME), Crumb("Skills", links.SKILLS))
        ),
        in_search=not world.demonstration,
        demonstration=world.demonstration,
        assets=tuple(assets),
    )
