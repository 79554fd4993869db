"""Compare: the same model under two harnesses, on the tasks both have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generators.pages import links, words
from generators.pages.money_flag import flagged
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.statistics.published_rules import TIE_RELATIVE, Side
from generators.tables.cells import Cell
from generators.tables.pairs import MEASURES, HarnessPair, Measured, ModelPair, harness_pairs
from generators.tables.sample import Unit
from runner.records import Hosting

UNITS = {"score": Unit.POINTS, "cost": Unit.DOLLARS, "tokens": Unit.TOKENS, "minutes": Unit.MINUTES}
TITLES = {
    "score": "Score",
    "cost": "Cost per task",
    "tokens": "Tokens per task",
    "minutes": "Minutes per task",
}


@dataclass(frozen=True)
class PairSection:
    """Two harnesses on one dataset: tally and one table per measure."""

    title: str
    skill: str
    dataset: str
    models: int
    tasks: str
    managed: str
    tally: Table
    tables: list[tuple[str, Table]]


def pages(world: World) -> Iterator[Page]:
    """The comparison page; real results only."""
    if world.demonstration:
        return
    pairs = harness_pairs(world.cells, world.aliases)
    yield Page(
        path=links.COMPARE,
        title="Compare harnesses",
        template="compare.md.j2",
        description="The same model under two harnesses, paired on common tasks.",
        context={
            "sections": [_section(world, pair) for pair in pairs],
            "tie": f"{100 * TIE_RELATIVE:.0f} %",
            "links": links,
        },
        crumbs=(Crumb("Home", links.HOME),),
    )


def _section(world: World, pair: HarnessPair) -> PairSection:
    rows = []
    for measure in MEASURES:
        counts = pair.tally(measure)
        undecided = len(pair.models) - counts.total
        rows.append(
            [
                Entry(TITLES[measure]),
                Entry(str(counts.first), float(counts.first)),
                Entry(str(counts.second), float(counts.second)),
                Entry(str(counts.ties), float(counts.ties)),
                Entry(str(undecided), float(undecided)),
            ]
        )
    columns = [
        Column("Measure"),
        Column(f"{pair.first} ahead", "number"),
        Column(f"{pair.second} ahead", "number"),
    ]
    columns += [Column("Tie", "number"), Column("Not comparable", "number")]
    counts_of_tasks = sorted(
        {m.means.tasks for model in pair.models for m in [model.measures["score"]] if m.means}
    )
    tasks = (
        " to ".join(str(number) for number in dict.fromkeys([counts_of_tasks[0], counts_of_tasks[-1]]))
        if counts_of_tasks
        else "0"
    )
    return PairSection(
        title=f"{pair.first} and {pair.second}: {pair.skill} on {pair.dataset}",
        skill=pair.skill,
        dataset=pair.dataset,
        models=len(pair.models),
        tasks=tasks,
        managed=_managed(pair),
        tally=table(f"Tally of {pair.first} and {pair.second}", columns, rows, sortable=False),
        tables=[(TITLES[measure], _measure_table(world, pair, measure)) for measure in MEASURES],
    )


def _measure_table(world: World, pair: HarnessPair, measure: str) -> Table:
    unit = UNITS[measure]
    columns = [Column("Model"), Column(pair.first, "number"), Column(pair.second, "number")]
    columns += [Column("Difference", "number", f"{pair.first} minus {pair.second}")]
    columns += [Column("Common tasks", "number"), Column("Ahead in these data", wide=True)]
    rows = []
    for model in sorted(pair.models, key=lambda model: model.first.key):
        measured = model.measures[measure]
        rows.append(
            [_name(world, pair, model), *_amounts(world, model, measured, unit), _verdict(pair, measured)]
        )
    return table(f"{TITLES[measure]}: {pair.first} and {pair.second}", columns, rows)


def _name(world: World, pair: HarnessPair, model: ModelPair) -> Entry:
    slug = world.aliases.model(model.first.identity.model.slug)
    sides = ((pair.first, model.first), (pair.second, model.second))
    providers = list(dict.fromkeys(cell.identity.provider for _, cell in sides))
    notes = [" and ".join(providers)]
    notes += [
        f"filed as {cell.identity.model.slug} under {harness}"
        for harness, cell in sides
        if cell.identity.model.slug != slug
    ]
    page = slug if slug in world.models else model.first.identity.model.slug
    return link_entry(slug, links.relative(links.COMPARE, links.model_page(page)), note="; ".join(notes))


def _managed(pair: HarnessPair) -> str:
    """What a reader must know where a vendor decides which version of a model answers."""
    sides = (
        (pair.first, [model.first for model in pair.models]),
        (pair.second, [model.second for model in pair.models]),
    )
    names = [name for name, cells in sides if any(cell.hosting is Hosting.VENDOR_MANAGED for cell in cells)]
    if not names:
        return ""
    return (
        f"Models under {' and '.join(names)} are managed by its vendor: version and settings may differ from "
        "those of a model of the same name elsewhere."
    )


def _amounts(world: World, model: ModelPair, measured: Measured, unit: Unit) -> list[Entry]:
    here, means = links.COMPARE, measured.means
    if means is None:
        gap = Entry(words.NOT_PRICED if unit is Unit.DOLLARS else "not known", None, unknown=True)
        return [gap, gap, gap, Entry(f"0 of {_tasks_of(model)}", 0.0)]
    notes = ("", "")
    if unit is Unit.DOLLARS:
        notes = (_rests_on(model.first), _rests_on(model.second))
    sides = zip((model.first, model.second), (means.first, means.second), notes, strict=True)
    entries = [
        (Entry(words.amount(mean, unit), mean, links.relative(here, world.cell_page(cell)), note), cell)
        for cell, mean, note in sides
    ]
    return [
        *(flagged(world, each, of, here) if unit is Unit.DOLLARS else each for each, of in entries),
        Entry(words.signed(means.difference, unit), means.difference),
        Entry(f"{means.tasks} of {_tasks_of(model)}", float(means.tasks)),
    ]


def _rests_on(cell: Cell) -> str:
    return words.priced(cell.figures["cost_per_task"].priced)


def _tasks_of(model: ModelPair) -> int:
    """Tasks that either cell planned: the m beside the common tasks."""
    cells = (model.first, model.second)
    tasks = {task for cell in cells for task in cell.by_task}
    return len(tasks | {task for cell in cells for task, _ in cell.missing})


def _verdict(pair: HarnessPair, measured: Measured) -> Entry:
    if measured.side is None:
        return Entry("not comparable", note=measured.reason, unknown=True)
    return Entry({Side.FIRST: pair.first, Side.SECOND: pair.second, Side.TIE: "tie"}[measured.side])
