"""Complexity tables: tier means, the cheapest cell that clears a bar, prices of a point, and gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from generators.pages import links, words
from generators.pages.charting import label
from generators.pages.interval_words import span, sureness
from generators.pages.pair_words import deciding_text
from generators.pages.table import Column, Entry, Table, link_entry, table, value_entry
from generators.pages.world import World
from generators.statistics.planner import FEWEST_TASKS
from generators.tables.boards import Board
from generators.tables.cells import Cell
from generators.tables.dollars import Priced
from generators.tables.lenses import TierRow, model_gap, prices_of_a_point
from generators.tables.sample import Unit
from generators.tables.tiers import TierPoint, cheapest_clearing, tier_cost, tier_score

BARS = (50.0, 60.0, 70.0, 80.0)


def score_table(world: World, board: Board, tiers: Mapping[str, str], page: str) -> Table:
    """Mean score of each cell by tier, and over all tasks: the mean of the tiers weighted by their tasks."""
    names = list(dict.fromkeys(tiers.values()))
    rows = [
        [
            *_cell(world, cell, page),
            *(value_entry(tier_score(cell, tier, tiers), Unit.POINTS) for tier in names),
            value_entry(cell.figures["mean_score"], Unit.POINTS),
        ]
        for cell in board.by_score
        if cell.has_scores
    ]
    columns = [
        Column("Cell"),
        Column("Harness"),
        *(Column(f"Mean score, {tier}", "number") for tier in names),
        Column("Mean score, all tasks", "number"),
    ]
    return table("Mean score by tier", columns, rows)


def cost_table(world: World, board: Board, tiers: Mapping[str, str], page: str) -> Table:
    """Mean cost per task of each cell by tier, and over all tasks."""
    names = list(dict.fromkeys(tiers.values()))
    rows = [
        [
            *_cell(world, cell, page),
            *(value_entry(tier_cost(cell, tier, tiers), Unit.DOLLARS) for tier in names),
            value_entry(cell.figures["cost_per_task"], Unit.DOLLARS),
        ]
        for cell in board.by_score
        if cell.has_scores
    ]
    columns = [Column("Cell"), Column("Harness"), *(Column(f"Cost, {tier}", "number") for tier in names)]
    columns.append(Column("Cost, all tasks", "number"))
    return table("Cost per task by tier", columns, rows)


def clearing_table(world: World, points: Mapping[str, Sequence[TierPoint]], page: str) -> Table:
    """For each bar and cost basis the cheapest cell whose mean clears it, and the one that surely does.

    Args:
        points: cells with a score and a cost, cheapest first, by tier.
    """
    bases = sorted({point.basis for found in points.values() for point in found})
    rows = []
    for bar in BARS:
        for basis in bases:
            row = [Entry(f"{bar:.0f} points", bar), Entry(words.basis(basis))]
            for found in points.values():
                own = [point for point in found if point.basis is basis]
                row.append(_clearing(world, own, bar, page))
            rows.append(row)
    columns = [Column("Bar"), Column("Cost basis"), *(Column(f"Tier {tier}", wide=True) for tier in points)]
    return table("Cheapest cell that clears a bar, by tier", columns, rows)


def _clearing(world: World, points: Sequence[TierPoint], bar: float, page: str) -> Entry:
    by_mean = cheapest_clearing(points, bar)
    if by_mean is None:
        return Entry("none", unknown=True)
    surely = cheapest_clearing(points, bar, surely=True)
    if max(_tasks(point) for point in points) < FEWEST_TASKS:
        sure = f"not enough data: {FEWEST_TASKS} tasks are the fewest for a claim"
    elif surely is None:
        sure = "no cell's whole interval clears it"
    elif surely is by_mean:
        sure = "its whole interval clears it"
    else:
        sure = f"whole interval: {label(surely.cell, with_harness=True)} at {_dollars(surely)}"
    score = f"{words.with_count(by_mean.score, Unit.POINTS)}, {sureness(by_mean.score, Unit.POINTS)}"
    return link_entry(
        label(by_mean.cell, with_harness=True),
        links.relative(page, world.cell_page(by_mean.cell)),
        f"{score}; {_dollars(by_mean)}; {sure}",
    )


def _tasks(point: TierPoint) -> int:
    """Tasks behind the interval of a point's score."""
    interval = point.score.spread.interval if point.score.spread else None
    return interval.count if interval is not None else 0


def _dollars(point: TierPoint) -> str:
    return words.with_count(point.cost, Unit.DOLLARS)


def price_table(
    world: World, steps: Sequence[Sequence[TierRow]], names: Sequence[str], page: str
) -> Table | None:
    """Dollars for each point more from a cell to the next dearer one of its harness and basis, by tier."""
    rows = []
    for ladder in steps:
        for cheaper, dearer, prices in prices_of_a_point(ladder):
            entries = [_price(cheaper, dearer, prices.get(tier)) for tier in names]
            rows.append([*_pair(world, cheaper, dearer, page), *entries, _verdict(world, cheaper, dearer)])
    if not rows:
        return None
    columns = [Column("From"), Column("To the next dearer"), Column("Harness")]
    columns += [Column(f"A point more, {tier}", "number") for tier in names]
    columns += [Column("Our verdict on the scores", wide=True)]
    return table("Dollars for one more point, by tier", columns, rows)


def _price(cheaper: Cell, dearer: Cell, price: float | None) -> Entry:
    if price is None:
        return Entry("no gain", None, note="the dearer one scores no higher, or one is unknown", unknown=True)
    if price <= 0:
        return Entry("free", price, note="the dearer one of all tasks costs no more here, and scores higher")
    rests = [each for cell in (cheaper, dearer) if (each := cell.figures["cost_per_task"].priced)]
    return Entry(words.dollars(price), price, note=words.priced(Priced.over(rests)))


def gap_table(
    world: World, steps: Sequence[Sequence[TierRow]], tiers: Mapping[str, str], page: str
) -> Table | None:
    """Dearer minus cheaper on every shared task, and how much of its variance the tiers explain."""
    rows = []
    for ladder in steps:
        for cheaper, dearer in pairwise(row.cell for row in ladder):
            gap = model_gap(dearer, cheaper, tiers)
            if not gap.differences:
                continue
            amounts = [amount for _, amount in gap.differences]
            evidence = gap.compared.verdict.evidence if gap.compared.verdict else None
            interval = evidence.interval if evidence else None
            mean = sum(amounts) / len(amounts)
            (best, most), (worst, least) = gap.differences[0], gap.differences[-1]
            explained = (
                Entry("not known", None, note="fewer than two tiers", unknown=True)
                if gap.explained is None
                else Entry(words.percent(gap.explained), gap.explained)
            )
            count = f"{len(amounts)} of {len(tiers)}"
            rows.append(
                [
                    *_pair(world, cheaper, dearer, page),
                    Entry(
                        f"{words.signed(mean, Unit.POINTS)} ({count})",
                        mean,
                        note=span(interval, Unit.POINTS) or "no interval: too few tasks, or all alike",
                    ),
                    Entry(f"{words.signed(most, Unit.POINTS)}", most, note=best),
                    Entry(f"{words.signed(least, Unit.POINTS)}", least, note=worst),
                    explained,
                    _verdict(world, cheaper, dearer),
                ]
            )
    if not rows:
        return None
    columns = [Column("From"), Column("To the next dearer"), Column("Harness")]
    columns += [Column("Mean score gained", "number"), Column("Most on a task", "number")]
    columns += [Column("Least on a task", "number")]
    columns += [Column("Explained by tier", "number", "share of variance between tiers, eta squared")]
    columns += [Column("Our verdict on the scores", wide=True)]
    return table("Score gained from one cell to the next dearer one", columns, rows)


def _cell(world: World, cell: Cell, page: str) -> list[Entry]:
    return [
        link_entry(label(cell), links.relative(page, world.cell_page(cell)), cell.identity.provider),
        Entry(cell.identity.harness),
    ]


def _pair(world: World, cheaper: Cell, dearer: Cell, page: str) -> list[Entry]:
    return [
        link_entry(label(cheaper), links.relative(page, world.cell_page(cheaper))),
        link_entry(label(dearer), links.relative(page, world.cell_page(dearer))),
        Entry(cheaper.identity.harness, note=words.basis(cheaper.basis)),
    ]


def _verdict(world: World, one: Cell, other: Cell) -> Entry:
    """The verdict that the two cells have everywhere on the site."""
    found = next((each for pairs in world.pair_tables if (each := pairs.find(one, other))), None)
    if found is None or found.verdict is None:
        return Entry("no verdict", note=found.reason if found else "no results to compare", unknown=True)
    favoured = {"first": found.first, "second": found.second}.get(found.verdict.favoured or "")
    name = f": {label(favoured)}" if favoured else ""
    return Entry(found.verdict.word.value + name, note=deciding_text(found.verdict))
