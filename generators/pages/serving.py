"""Serving economics: what each swept deployment does at each concurrency, and what that costs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.dated_text import SWEPT, rests_on
from generators.pages.rendering import Asset, Crumb, Page
from generators.pages.serving_charts import level_charts
from generators.pages.serving_tables import deployments_table, facts_of, levels_table
from generators.pages.world import World
from generators.tables.serving import DEFAULT_SHAPE, Economics, distinct, economics
from generators.tables.what_if import deployment_export
from runner.costs.hardware import INPUT_WEIGHT

CALCULATOR = "data/serving.json"


def pages(world: World) -> Iterator[Page]:
    """The index with the calculator, and a page for each deployment; none where nothing was swept."""
    if world.demonstration:
        return
    swept = economics(world.rates)
    if not swept:
        return
    yield _index(world, swept)
    for each in swept:
        yield _page(world, each)


def _index(world: World, swept: tuple[Economics, ...]) -> Page:
    unpriced = [each for each in swept if each.cheapest is None]
    return Page(
        path=links.SERVING,
        title="Serving economics",
        template="serving_index.md.j2",
        description="What self-hosted deployments process, how fast, and what a task costs on each.",
        context={
            "table": deployments_table(swept),
            "names": len(swept),
            "distinct": distinct(swept),
            "same": sorted({tuple(sorted((each.name, *each.same_as))) for each in swept if each.same_as}),
            "shape": DEFAULT_SHAPE,
            "unpriced": [(each.name, each.missing) for each in unpriced],
            "prices": price_line(world),
            "calculator": links.relative(links.SERVING, CALCULATOR),
            "commitments": _commitments(world),
            "chosen": world.rates.commitment.value,
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Methodology", links.METHODOLOGY)),
        assets=(Asset(CALCULATOR, calculator_json(world, swept)),),
    )


def _page(world: World, each: Economics) -> Page:
    path = links.deployment_page(each.name)
    drawn = level_charts(each, path)
    return Page(
        path=path,
        title=each.name,
        template="serving.md.j2",
        description=f"Throughput, latency and cost of {each.name} against concurrency.",
        context={
            "facts": facts_of(each),
            "charts": [chart.html for chart in drawn],
            "levels": levels_table(each),
            "prices": price_line(world),
            "missing": each.missing,
            "hourly": each.usd_per_hour,
            "warnings": [
                f"{warning.text} ({rests})" if (rests := rests_on(warning.text, SWEPT)) else warning.text
                for warning in (
                    *each.sweep.warnings,
                    *(w for level in each.sweep.levels for w in level.warnings),
                )
            ],
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Serving economics", links.SERVING)),
        in_search=False,
        assets=tuple(chart.asset for chart in drawn),
    )


def price_line(world: World) -> str:
    """What all dollars of these pages rest on, in one sentence."""
    prices = world.rates.prices
    commitment = words.COMMITMENT_WORDS[world.rates.commitment]
    return (
        f"All dollars here are hardware-derived: machine prices of {prices.as_of.isoformat()} "
        f"({prices.region}, {commitment}), for the share of the machine that the deployment uses."
    )


def calculator_json(world: World, swept: tuple[Economics, ...]) -> bytes:
    """What the calculator computes with: raw throughputs and machine prices, no dollars made of them."""
    prices = world.rates.prices
    content = {
        "as_of": prices.as_of.isoformat(),
        "commitment": world.rates.commitment.value,
        "input_weight": INPUT_WEIGHT,
        "deployments": [deployment_export(each.name, world.rates) for each in swept],
    }
    return (json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n").encode()


def _commitments(world: World) -> list[tuple[str, str]]:
    kinds = {kind for price in world.rates.prices.instances.values() for kind in price.usd_per_hour}
    return [(kind.value, words.COMMITMENT_WORDS[kind]) for kind in sorted(kinds)]
