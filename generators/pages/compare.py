"""Compare: any two cells of a skill and dataset; the browser changes the pair, full tables hold them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from generators.charts.difference import Difference, difference_svg
from generators.charts.dumbbell import Dumbbell, dumbbell_chart
from generators.pages import harness_delta, links
from generators.pages.compare_board import board_page
from generators.pages.compare_data import (
    amount_texts,
    cell_id,
    data,
    data_path,
    profile_names,
    profile_of,
    quality_of,
    task_texts,
    tasks_of_table,
)
from generators.pages.pair_tables import count_columns, count_row, quality_name
from generators.pages.pair_words import FACTS, PairWords, Said, amounts_of, names_of, pair_words, priced_of
from generators.pages.rendering import Asset, Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.statistics.verdict import MARGIN
from generators.tables.comparisons import Compared
from generators.tables.pair_table import PairTable

SCALE = "percent of the maximum"


@dataclass(frozen=True)
class Choice:
    """One table in the form: its cells and where the browser finds its data."""

    title: str
    href: str
    cells: list[tuple[str, str]]
    """Id and name of each."""


@dataclass(frozen=True)
class Shown:
    """The pair that the page shows before anything is chosen."""

    title: str
    ids: tuple[str, str]
    names: tuple[str, str]
    hrefs: tuple[str, str]
    said: PairWords
    facts: list[tuple[str, Entry]]
    measures: Table
    difference: Markup
    tasks_chart: Markup
    profile_chart: Markup
    rests: str
    """What the costs of the tasks rest on."""
    tasks: Table


def pages(world: World) -> Iterator[Page]:
    """The comparison of two cells, the full tables, and that of harnesses; real results only."""
    if world.demonstration:
        return
    tables = ordered(world.pair_tables)
    yield Page(
        path=links.COMPARE,
        title="Compare two cells",
        template="compare.md.j2",
        description="Any two cells of one dataset, task by task, with a verdict and what would decide it.",
        context={
            "choices": [_choice(pairs) for pairs in tables],
            "shown": _shown(world, tables[0]) if tables else None,
            "margin": f"{MARGIN:g}",
            "counts": _counts(tables),
            "links": links,
        },
        crumbs=(Crumb("Home", links.HOME),),
        assets=tuple(Asset(data_path(pairs), data(world, pairs)) for pairs in tables),
    )
    for pairs in tables:
        yield board_page(world, pairs)
    yield from harness_delta.pages(world)


def ordered(tables: tuple[PairTable, ...]) -> list[PairTable]:
    """Tables that can decide most first: by number of tasks, then of cells."""
    return sorted(tables, key=lambda each: (-len(tasks_of_table(each)), -len(each.cells), each.title))


def _choice(pairs: PairTable) -> Choice:
    names = names_of(pairs)
    return Choice(
        pairs.title,
        links.relative(links.COMPARE, data_path(pairs)),
        [(cell_id(cell), names[cell.key]) for cell in pairs.cells],
    )


def _counts(tables: list[PairTable]) -> Table:
    columns = [Column("Skill and dataset"), Column("Compared by"), Column("Tasks", "number")]
    columns += [Column("Cells", "number"), *count_columns()]
    rows = []
    for pairs in tables:
        tasks = len(tasks_of_table(pairs))
        href = links.relative(links.COMPARE, links.compare_page(pairs.skill, pairs.dataset))
        rows.append(
            [
                link_entry(pairs.title, href, "every pair"),
                Entry(quality_name(pairs.kind)),
                Entry(str(tasks), float(tasks)),
                Entry(str(len(pairs.cells)), float(len(pairs.cells))),
                *count_row(pairs),
            ]
        )
    return table("What can be told apart", columns, rows)


def _shown(world: World, pairs: PairTable) -> Shown:
    each = pairs.compared[0]
    names = names_of(pairs)
    two = (names[each.first.key], names[each.second.key])
    said = pair_words(each, pairs.kind, names, amounts_of(each))
    return Shown(
        title=f"{two[0]} against {two[1]}",
        ids=(cell_id(each.first), cell_id(each.second)),
        names=two,
        hrefs=(
            links.relative(links.COMPARE, world.cell_page(each.first)),
            links.relative(links.COMPARE, world.cell_page(each.second)),
        ),
        said=said,
        facts=[(name, _entry(fact)) for name, fact in zip(FACTS, said.facts, strict=True)],
        measures=_measures(said, two),
        difference=_difference(each),
        tasks_chart=_tasks_chart(pairs, each, two),
        profile_chart=_profile_chart(pairs, each, two),
        rests=_rests(each),
        tasks=_tasks(pairs, each),
    )


def _entry(said: Said) -> Entry:
    return Entry(said.text, note=said.note)


def _measures(said: PairWords, names: tuple[str, str]) -> Table:
    columns = [Column("Over common tasks"), Column(names[0]), Column(names[1])]
    columns += [Column("First minus second", wide=True), Column("Common tasks")]
    rows = [
        [Entry(row.title), *(_entry(part) for part in (row.first, row.second, row.difference, row.tasks))]
        for row in said.measures
    ]
    return table("Both cells and their difference", columns, rows, sortable=False)


def _difference(each: Compared) -> Markup:
    found = each.verdict.evidence.interval if each.verdict else None
    if found is None:
        return difference_svg(Difference(None, None, None, MARGIN))
    return difference_svg(Difference(found.estimate, found.lower, found.upper, MARGIN))


def _tasks_chart(pairs: PairTable, each: Compared, names: tuple[str, str]) -> Markup:
    tasks = tasks_of_table(pairs)
    sides = [(quality_of(pairs, cell), task_texts(pairs, cell, tasks)) for cell in (each.first, each.second)]
    (one, one_texts), (two, two_texts) = sides
    rows = [
        Dumbbell(task, one.get(task), two.get(task), one_texts[place], two_texts[place])
        for place, task in enumerate(tasks)
    ]
    return dumbbell_chart(
        rows,
        names,
        slug="compare-tasks",
        title="Task by task",
        scope=pairs.title,
        unit=quality_name(pairs.kind),
        caption="A row without a line has a result of one cell only; the table below says why.",
    ).html("")


def _profile_chart(pairs: PairTable, each: Compared, names: tuple[str, str]) -> Markup:
    profile = profile_names(pairs)
    one, two = (profile_of(cell, profile) for cell in (each.first, each.second))
    rows = [Dumbbell(name, one[place], two[place]) for place, (_, name) in enumerate(profile)]
    if not rows:
        return Markup("")
    return dumbbell_chart(
        [_with_texts(row) for row in rows],
        names,
        slug="compare-profile",
        title="By criterion and by artifact",
        scope=pairs.title,
        unit=SCALE,
        caption="Means over all scored trials of each cell, of those that publish scores by part.",
    ).html("")


def _with_texts(row: Dumbbell) -> Dumbbell:
    one, two = ("not known" if value is None else f"{value:.1f}" for value in (row.first, row.second))
    return Dumbbell(row.label, row.first, row.second, one, two)


def _rests(each: Compared) -> str:
    return f"Costs: {priced_of(each.first, each.second)}."


def _tasks(pairs: PairTable, each: Compared) -> Table:
    tasks, cells = tasks_of_table(pairs), (each.first, each.second)
    columns = [Column("Task"), Column("First", "number"), Column("Second", "number")]
    columns.append(Column("Difference", "number"))
    columns += [
        Column(f"{what}, {which}", "number") for what in ("Cost", "Minutes") for which in ("first", "second")
    ]
    quality = [quality_of(pairs, cell) for cell in cells]
    texts = [task_texts(pairs, cell, tasks) for cell in cells]
    amounts = [[amount_texts(cell, tasks, measure) for cell in cells] for measure in ("cost", "minutes")]
    rows = []
    for place, task in enumerate(tasks):
        one, two = (means.get(task) for means in quality)
        row = [link_entry(task, links.relative(links.COMPARE, links.task_page(pairs.dataset, task)))]
        row += [
            Entry(texts[side][place], quality[side].get(task), unknown=task not in quality[side])
            for side in (0, 1)
        ]
        row.append(difference_entry(one, two))
        row += [Entry(amounts[measure][side][place]) for measure in (0, 1) for side in (0, 1)]
        rows.append(row)
    return table(f"Task by task. {_rests(each)}", columns, rows, sortable=False)


def difference_entry(one: float | None, two: float | None) -> Entry:
    """First minus second with one decimal; the script rounds as this does."""
    if one is None or two is None:
        return Entry("", None)
    gap = one - two
    sign = "+" if gap > 0 else "−" if gap < 0 else "±"
    return Entry(f"{sign}{abs(gap):.1f}", gap)
