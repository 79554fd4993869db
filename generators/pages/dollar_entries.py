"""Dollar entries: every amount of money on a page, each with its basis and the day of its prices."""

from __future__ import annotations

from generators.pages import words
from generators.pages.table import Column, Entry, Table, table, value_entry
from generators.tables.cells import Cell
from generators.tables.dollars import Priced
from generators.tables.facts import TrialFacts
from generators.tables.sample import Unit, Value
from runner.costs.bases import Way
from runner.costs.hardware import HardwareRates
from runner.records import Cost, CostBasis

WAY_WORDS = {
    Way.METERED: "billed, as the agent or a gateway reported it",
    Way.CREDITS: "credits times the price of a credit",
    Way.GIVEN: "tokens times the prices given for the run",
    Way.BOOK: "tokens times the row of the price book",
    Way.AGENT_LIST: "tokens times a list price that the agent knows",
    Way.BLENDED: "tokens times the blended rate of a swept machine",
    Way.SPLIT: "tokens times the split rates of a swept machine",
    Way.NOTIONAL: "a list price for a model that was not billed; never a cost",
    Way.NONE: "free by design",
}


def cost_entry(cost: Cost) -> Entry:
    """A cost with its basis and day below it; an unknown one says why, one that is none by design that."""
    if cost.basis is CostBasis.NONE:
        return Entry("none", None, note="no cost by design", unknown=True)
    if cost.amount_usd is None:
        return Entry(words.NOT_PRICED, None, note=cost.missing_reason or "", unknown=True)
    return Entry(words.dollars(cost.amount_usd), cost.amount_usd, note=words.priced(Priced.of([cost])))


def trial_cost(trial: TrialFacts) -> Entry:
    """What a trial cost by the headline rule."""
    return cost_entry(trial.cost)


def cell_cost(cell: Cell) -> Entry:
    """Cost per task of a cell with its n of m, basis and days, or why there is none."""
    if cell.free_by_design:
        return Entry("none", None, note="no cost by design", unknown=True)
    return dollar_value(cell.figures["cost_per_task"])


def dollar_value(value: Value) -> Entry:
    """A figure in dollars with its n of m beside it, and its interval, basis and days below."""
    return value_entry(value, Unit.DOLLARS)


def machine_prices(rates: HardwareRates) -> Priced:
    """What dollars an hour and dollars a token of a machine rest on."""
    day = rates.prices.as_of
    return Priced(CostBasis.HARDWARE_DERIVED, day, day)


def ways_table(cell: Cell) -> Table | None:
    """Each way to know what the trials of a cell cost: sum, n of m, basis and days; None without any."""
    found: dict[Way, list[Cost]] = {}
    for trial in cell.counted:
        for each in trial.costs.ways:
            found.setdefault(each.way, []).append(each.cost)
    rows = []
    for way in Way:
        costs = found.get(way, [])
        known = [cost for cost in costs if cost.amount_usd is not None]
        if not costs or way is Way.NONE:
            continue
        total = sum(cost.amount_usd or 0.0 for cost in known)
        reason = next((cost.missing_reason for cost in costs if cost.missing_reason), "") or ""
        amount = (
            Entry(words.dollars(total), total)
            if known
            else Entry(words.NOT_PRICED, note=reason, unknown=True)
        )
        rests = Entry(words.priced(Priced.of(known))) if known else Entry(words.basis(costs[0].basis))
        in_use = way is not Way.SPLIT and bool(known) and known[0].basis is cell.basis
        rows.append(
            [
                Entry(WAY_WORDS[way], note="basis of the figures above" if in_use else ""),
                amount,
                Entry(f"{len(known)} of {len(cell.counted)}", float(len(known))),
                rests,
            ]
        )
    if not rows:
        return None
    columns = [Column("Way to know it", wide=True), Column("Sum over trials", "number")]
    columns += [Column("n of m", "number"), Column("Basis and day of the prices")]
    return table("Every way to know what this cell cost", columns, rows, sortable=False)
