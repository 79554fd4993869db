"""Workload section: what an agent's tokens are and where its dollars go, worked out from real trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.pages import links, words
from generators.pages.charting import label
from generators.pages.table import Column, Entry, Table, table
from generators.pages.world import World
from generators.tables.dollars import Priced
from generators.tables.workload import CLASSES, ClassBill, Middle, Workload, dearest_bill, workloads


@dataclass(frozen=True)
class WorkedBill:
    """The bill of one trial, class by class; every number is written as text."""

    name: str
    href: str
    task: str
    source: str
    table: Table
    rests_on: str
    total: str
    without_cache: str
    output_share: str


def workload_table(world: World) -> Table | None:
    """What the trials of each harness are made of; None where no harness tells its tokens."""
    found = [each for each in workloads(world.cells) if each.tokens.count]
    if not found:
        return None
    columns = [
        Column("Harness"),
        Column("Tokens in a trial", "number", "median of the trials that tell"),
        Column("Tokens read for one written", "number", "median of the trials that tell"),
        Column("Of those read, from a cache", "number", "median of the trials in which anything was cached"),
    ]
    return table("What an agent's tokens are", columns, [_row(each) for each in found])


def worked_bill(world: World, page: str) -> WorkedBill | None:
    """The largest trial that one row of the price book prices, taken apart; None where there is none."""
    bill = dearest_bill(world.cells)
    if bill is None:
        return None
    return WorkedBill(
        name=f"{label(bill.cell)} under {bill.cell.identity.harness}",
        href=links.relative(page, world.cell_page(bill.cell)),
        task=bill.trial.task,
        source=bill.source,
        table=_bill_table(bill),
        rests_on=_rests_on(bill),
        total=words.dollars(bill.total),
        without_cache=words.dollars(bill.without_cache),
        output_share=words.percent(bill.dollars["output"] / bill.total) if bill.total else "not known",
    )


def _row(each: Workload) -> list[Entry]:
    return [
        Entry(each.harness),
        _middle(each, each.tokens, words.tokens),
        _middle(each, each.read_per_written, lambda value: f"{value:,.0f}"),
        _middle(each, each.cached_share, words.percent),
    ]


def _middle(each: Workload, middle: Middle, write: Callable[[float], str]) -> Entry:
    if middle.median is None:
        return Entry("not told", None, unknown=True)
    return Entry(write(middle.median), middle.median, note=f"{middle.count} of {each.trials} trials")


def _bill_table(bill: ClassBill) -> Table:
    dollars, total = bill.dollars, bill.total
    tokens = sum(bill.tokens.values())
    rows = [
        [
            Entry(name.capitalize()),
            Entry(f"{bill.tokens[name]:,}", float(bill.tokens[name])),
            Entry(words.percent(bill.tokens[name] / tokens) if tokens else "none"),
            Entry(f"${bill.prices[name]:g}", bill.prices[name]),
            Entry(words.dollars(dollars[name]), dollars[name], note=_rests_on(bill)),
            Entry(words.percent(dollars[name] / total) if total else "none"),
        ]
        for name in CLASSES
    ]
    columns = [
        Column("Tokens"),
        Column("Count", "number"),
        Column("Of all tokens", "number"),
        Column("USD per million", "number", _rests_on(bill)),
        Column("Cost", "number"),
        Column("Of the cost", "number"),
    ]
    return table(f"One trial, class by class ({_rests_on(bill)})", columns, rows, sortable=False)


def _rests_on(bill: ClassBill) -> str:
    costs = bill.trial.costs.table
    return words.priced(Priced.of([costs.cost])) if costs is not None else ""
