"""Quality: every data-quality warning by code: how often it occurs, and in which cells, with an example."""

from __future__ import annotations

from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.cell import cell_title
from generators.pages.dated_text import SWEPT, found_entry, of_task, rests_on
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.tables.cells import CellKey
from generators.tables.quality import OWN_CODES, Occurrence, explain, occurrences
from runner.records.warning import CODES


def pages(world: World, demonstration: World | None) -> Iterator[Page]:
    """The page of all warnings; real results only, but every code that any page links to is explained."""
    if world.demonstration:
        return
    found = occurrences(world.cells)
    elsewhere = occurrences(demonstration.cells) if demonstration is not None else {}
    absent = sorted({*CODES, *OWN_CODES, *elsewhere} - found.keys())
    overview = [
        [
            Entry(code, href=f"#{code}", code=True),
            Entry(explain(code)),
            Entry(str(len(entries)), float(len(entries))),
            Entry(*_cells(entries)),
        ]
        for code, entries in found.items()
    ]
    columns = [
        Column("Warning"),
        Column("What it means", wide=True),
        Column("Times", "number"),
        Column("Cells", "number"),
    ]
    yield Page(
        path=links.QUALITY,
        title="Data quality",
        template="quality.md.j2",
        description="What looks implausible in the records, by code, with every cell where it occurs.",
        context={
            "total": sum(len(entries) for entries in found.values()),
            "overview": table("Warning codes", columns, overview),
            "sections": [
                (code, explain(code), _example(entries), _table(world, code, entries))
                for code, entries in found.items()
            ],
            "absent": [(code, explain(code)) for code in absent],
            "sweeps": _sweeps(world),
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Data", links.DATA)),
        in_search=False,
    )


def _cells(entries: list[Occurrence]) -> tuple[str, float]:
    amount = len({entry.cell.key for entry in entries})
    return str(amount), float(amount)


def _table(world: World, code: str, entries: list[Occurrence]) -> Table:
    """One row for each cell, with the number of places; what was found there stands on the cell's page."""
    by_cell: dict[CellKey, list[Occurrence]] = {}
    for entry in entries:
        by_cell.setdefault(entry.cell.key, []).append(entry)
    rows = []
    for members in by_cell.values():
        cell = members[0].cell
        address = links.relative(links.QUALITY, world.cell_page(cell), links.QUALITY_SECTION)
        rows.append([link_entry(cell_title(cell), address), _places(members)])
    return table(f"Cells with {code}", [Column("Cell"), Column("Where", "number")], rows)


def _example(entries: list[Occurrence]) -> str:
    """What was found, in the words of the first record; of several texts only that one."""
    texts = {entry.text for entry in entries}
    first = entries[0]
    rests = rests_on(first.text, of_task(first.cell, first.task))
    said = f"{'Each time' if len(texts) == 1 else 'For example'}: {first.text}"
    return f"{said} ({rests})" if rests else said


def _places(members: list[Occurrence]) -> Entry:
    """``3 tasks`` of the cell, or ``whole cell``."""
    tasks = {entry.task for entry in members if entry.task is not None}
    if not tasks:
        return Entry("whole cell", 0.0)
    return Entry(words.counted(len(tasks), "task"), float(len(tasks)))


def _sweeps(world: World) -> Table | None:
    """Warnings about throughput sweeps, those of equal text in one row; None when there is none."""
    found: dict[tuple[str, str], list[str]] = {}
    for sweep in world.sweeps:
        for warning in sweep.warnings:
            found.setdefault((warning.code, warning.text), []).append(sweep.deployment.name)
    rows = [
        [Entry(code, code=True), found_entry(text, SWEPT), Entry(words.listing(sorted(names), len(names)))]
        for (code, text), names in sorted(found.items())
    ]
    if not rows:
        return None
    columns = [Column("Warning"), Column("What was found", wide=True), Column("Deployments", wide=True)]
    return table("Warnings about throughput sweeps", columns, rows)
