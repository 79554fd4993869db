"""Cost methodology: bases, rules and formulas, each with numbers worked out from the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from generators.pages import links, words
from generators.pages.charting import label
from generators.pages.credit_plans import plans_table
from generators.pages.home import front_board
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.worked import figure_definitions, token_examples, worked_rate
from generators.pages.workload import worked_bill, workload_table
from generators.pages.world import World
from generators.tables.cells import Cell
from runner.costs.bases import RULE, RULE_OF_A_DAY
from runner.costs.hardware import HardwareRate, MissingRate, split_rates
from runner.records import CostBasis

BASIS_MEANING = {
    CostBasis.METERED: (
        "Billed by the provider for the tokens of this run, as the harness or a gateway reported it.",
        "other metered costs",
    ),
    CostBasis.PRICE_TABLE: (
        "Token counts times the list price of the day, by token class.",
        "metered costs at the same prices",
    ),
    CostBasis.HARDWARE_DERIVED: (
        "Tokens processed times a rate from a throughput sweep on rented machines.",
        "hardware-derived costs at the same commitment",
    ),
    CostBasis.CREDITS: (
        "A vendor's credits times the price of one credit, which depends on the plan.",
        "credits of the same vendor and plan",
    ),
    CostBasis.NOTIONAL: (
        "A list price the agent applied to a model it was not billed for. Recorded, never shown as a cost.",
        "nothing",
    ),
    CostBasis.NONE: ("No cost arises by design, as in a demonstration.", "nothing"),
}
"""What each basis says, and what it may be compared with."""


@dataclass(frozen=True)
class PriceList:
    """Where machine prices come from."""

    as_of: str
    checked_on: str
    region: str
    commitment: str
    source_href: str
    source_text: str


def pages(world: World) -> Iterator[Page]:
    """The methodology page; real results only."""
    if world.demonstration:
        return
    board = front_board(world)
    prices = world.rates.prices
    source = prices.source
    example = max(board.by_score, key=_known_figures, default=None) if board is not None else None
    yield Page(
        path=links.METHODOLOGY,
        title="Methodology",
        template="methodology.md.j2",
        description="How scores, costs and frontiers are made: every formula, with numbers from the data.",
        context={
            "bases": _bases(world),
            "rule": RULE,
            "rule_of_a_day": "" if world.pricing.price_date is None else RULE_OF_A_DAY,
            "tokens": token_examples(world, links.METHODOLOGY),
            "workload": workload_table(world),
            "bill": worked_bill(world, links.METHODOLOGY),
            "worked": worked_rate(world, board, links.METHODOLOGY),
            "rates": _rates(world),
            "instances": _instances(world),
            "credit_plans": plans_table(world.pricing.plans),
            "price_list": PriceList(
                as_of=prices.as_of.isoformat(),
                checked_on=prices.checked_on.isoformat(),
                region=prices.region,
                commitment=words.COMMITMENT_WORDS[world.rates.commitment],
                source_href=f"https://github.com/{source.repository}/blob/{source.commit}/{source.path}",
                source_text=f"{source.repository}, {source.path}",
            ),
            "mismatches": _mismatches(world),
            "figures": figure_definitions(example),
            "example": label(example) if example else "",
            "example_href": links.relative(links.METHODOLOGY, world.cell_page(example)) if example else "",
            "example_harness": example.identity.harness if example else "",
            "links": links,
        },
        crumbs=(Crumb("Home", links.HOME),),
    )


def _bases(world: World) -> Table:
    cells = Counter(cell.basis for cell in world.cells)
    notional = sum(
        any(cost.basis is CostBasis.NOTIONAL for cost in trial.record.costs)
        for cell in world.cells
        for trial in cell.trials
    )
    rows = []
    for basis, (meaning, comparable) in BASIS_MEANING.items():
        amount = cells[basis]
        note = (
            f"{notional:,} trials carry such a figure in their record" if basis is CostBasis.NOTIONAL else ""
        )
        rows.append(
            [
                Entry(words.basis(basis)),
                Entry(meaning, note=note),
                Entry(comparable),
                Entry(str(amount), float(amount)),
            ]
        )
    unknown = cells[None]
    rows.append(
        [
            Entry("unknown"),
            Entry("No trial of the cell has a known cost."),
            Entry("nothing"),
            Entry(str(unknown), float(unknown)),
        ]
    )
    columns = [
        Column("Basis"),
        Column("What it is", wide=True),
        Column("Comparable with"),
        Column("Cells", "number"),
    ]
    return table("Cost bases", columns, rows, sortable=False)


def _rates(world: World) -> Table | None:
    rows = []
    for name in world.rates.deployments():
        rate = world.rates.rate_of(name)
        if isinstance(rate, MissingRate):
            rows.append([Entry(name), *_rateless_entries(world, name, rate)])
            continue
        rows.append([Entry(name), *_rate_entries(rate)])
    if not rows:
        return None
    priced = f"hardware-derived, machine prices of {world.rates.prices.as_of.isoformat()}"
    columns = [
        Column("Deployment"),
        Column("Machine"),
        Column("USD an hour", "number", priced),
        Column("Cheapest level", "number", "Concurrency with the lowest blended rate"),
        Column("Prompt tokens a second", "number"),
        Column("Output tokens a second", "number"),
        Column("Blended, per million", "number", "USD per million tokens of any kind"),
        Column("Split: input, per million", "number"),
        Column("Split: output, per million", "number"),
    ]
    return table("Rates of every swept deployment", columns, rows)


def _rateless_entries(world: World, name: str, rate: MissingRate) -> list[Entry]:
    """What is known of a deployment without a rate: its machine, and why it has none."""
    sweep = world.rates.sweep_of(name)
    hourly = MissingRate("") if sweep is None else world.rates.hourly_of(sweep.deployment)
    unpriced, unknown = Entry("not priced", None, unknown=True), Entry("not known", None, unknown=True)
    return [
        Entry(sweep.deployment.instance_type if sweep is not None else "not known", note=rate.reason),
        unpriced if isinstance(hourly, MissingRate) else Entry(words.hourly(hourly), hourly),
        *([unknown] * 3),
        *([unpriced] * 3),
    ]


def _rate_entries(rate: HardwareRate) -> list[Entry]:
    level, machine = rate.level, rate.deployment
    prompt, output = level.prompt_tokens_per_second or 0.0, level.output_tokens_per_second or 0.0
    split = split_rates(rate.usd_per_hour, prompt, output)
    share = f"{machine.instance_share:g} of it" if machine.instance_share not in {None, 1.0} else ""
    per_million = [rate.usd_per_token, split.input_usd, split.output_usd]
    return [
        Entry(machine.instance_type, note=share),
        Entry(words.hourly(rate.usd_per_hour), rate.usd_per_hour),
        Entry(str(level.concurrency), float(level.concurrency)),
        Entry(f"{prompt:,.2f}", prompt),
        Entry(f"{output:,.2f}", output),
        *(Entry(words.dollars(amount * 1_000_000), amount) for amount in per_million),
    ]


def _instances(world: World) -> Table:
    prices = world.rates.prices
    commitments = sorted({kind for price in prices.instances.values() for kind in price.usd_per_hour})
    rows = []
    for name, price in sorted(prices.instances.items()):
        row = [Entry(name), Entry(f"{price.gpus} x {price.gpu}")]
        for kind in commitments:
            rate = price.usd_per_hour.get(kind)
            row.append(Entry("not listed", None, unknown=True) if rate is None else Entry(f"{rate:g}", rate))
        rows.append(row)
    columns = [Column("Machine"), Column("Accelerators")]
    columns += [Column(words.COMMITMENT_WORDS[kind], "number") for kind in commitments]
    return table("Machine prices in USD an hour", columns, rows, sortable=False)


def _mismatches(world: World) -> Table | None:
    rows = []
    for cell in world.cells:
        if cell.basis is not CostBasis.HARDWARE_DERIVED:
            continue
        rate = world.rates.rate_for(cell.identity.model.slug, cell.trials[0].record.serving)
        if isinstance(rate, HardwareRate) and rate.hardware_matches is not True:
            name = f"{label(cell)}, {cell.identity.harness}, {cell.identity.skill}"
            href = links.relative(links.METHODOLOGY, world.cell_page(cell))
            word = "other hardware" if rate.hardware_matches is False else "cannot be told"
            rows.append(
                [link_entry(name, href, cell.identity.dataset), Entry(word), Entry(rate.hardware_note)]
            )
    if not rows:
        return None
    columns = [Column("Cell"), Column("Same hardware"), Column("What is known", wide=True)]
    return table("Cells priced by a sweep on hardware that is not known to be theirs", columns, rows)


def _known_figures(cell: Cell) -> int:
    """How many figures of a cell are known; the first of equals is the one with the best score."""
    return sum(value.amount is not None for value in cell.figures.values())
