"""Quality: every data-quality warning by code, how often it occurs and where."""

from __future__ import annotations

from collections.abc import Iterator

from generators.pages import links
from generators.pages.cell import cell_title
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
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
    sweeps = [
        [Entry(sweep.deployment.name), Entry(warning.code, code=True), Entry(warning.text)]
        for sweep in world.sweeps
        for warning in sweep.warnings
    ]
    yield Page(
        path=links.QUALITY,
        title="Data quality",
        template="quality.md.j2",
        description="What looks implausible in the records, by code, with every place where it occurs.",
        context={
            "total": sum(len(entries) for entries in found.values()),
            "overview": table("Warning codes", columns, overview),
            "sections": [
                (code, explain(code), _table(world, code, entries)) for code, entries in found.items()
            ],
            "absent": [(code, explain(code)) for code in absent],
            "sweeps": table(
                "Warnings about throughput sweeps",
                [Column("Deployment"), Column("Warning"), Column("What was found", wide=True)],
                sweeps,
            )
            if sweeps
            else None,
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Data", links.DATA)),
        in_search=False,
    )


def _cells(entries: list[Occurrence]) -> tuple[str, float]:
    amount = len({entry.cell.key for entry in entries})
    return str(amount), float(amount)


def _table(world: World, code: str, entries: list[Occurrence]) -> Table:
    rows = []
    for entry in entries:
        dataset = entry.cell.identity.dataset
        task = Entry("whole cell")
        if entry.task is not None:
            task = link_entry(
                entry.task, links.relative(links.QUALITY, links.task_page(dataset, entry.task, world.prefix))
            )
        cell = link_entry(cell_title(entry.cell), links.relative(links.QUALITY, world.cell_page(entry.cell)))
        rows.append([cell, task, Entry(entry.text)])
    return table(
        f"Where {code} occurs", [Column("Cell"), Column("Task"), Column("What was found", wide=True)], rows
    )
