"""Harness delta: the same model under two harnesses; the published rules beside what our policy concludes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from generators.charts.dumbbell import Dumbbell, dumbbell_chart
from generators.pages import links, words
from generators.pages.harness_delta_tables import (
    TITLES,
    UNITS,
    Conclusion,
    conclusions,
    measure_table,
    name_of,
    rests_on,
)
from generators.pages.harness_lens import choice_table
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, table
from generators.pages.world import World
from generators.statistics.published_rules import TIE_RELATIVE
from generators.tables.pairs import MEASURES, HarnessPair, harness_pairs
from generators.tables.sample import Unit
from runner.records import Hosting

SCALE = {"score": "points", "cost": "US dollars", "tokens": "million tokens", "minutes": "minutes"}
MILLION = 1_000_000


@dataclass(frozen=True)
class PairSection:
    """Two harnesses on one dataset: tally, one panel and one table per measure, and the published choice."""

    title: str
    skill: str
    dataset: str
    models: int
    tasks: str
    managed: str
    said: str
    tally: Table
    panels: list[Markup]
    tables: list[tuple[str, Table]]
    choices: Table | None


def pages(world: World) -> Iterator[Page]:
    """The page; it stands even where no two harnesses share a model."""
    yield Page(
        path=links.COMPARE_HARNESSES,
        title="Compare harnesses",
        template="harness_delta.md.j2",
        description="The same model under two harnesses, paired on common tasks.",
        context={
            "sections": [_section(world, pair) for pair in harness_pairs(world.cells, world.aliases)],
            "tie": f"{100 * TIE_RELATIVE:.0f} %",
            "links": links,
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Compare", links.COMPARE)),
    )


def _section(world: World, pair: HarnessPair) -> PairSection:
    found = {measure: conclusions(world, pair, measure) for measure in MEASURES}
    tasks = sorted(
        {m.means.tasks for model in pair.models for m in [model.measures["score"]] if m.means is not None}
    )
    return PairSection(
        title=f"{pair.first} and {pair.second}: {pair.skill} on {pair.dataset}",
        skill=pair.skill,
        dataset=pair.dataset,
        models=len(pair.models),
        tasks=" to ".join(str(number) for number in dict.fromkeys([tasks[0], tasks[-1]])) if tasks else "0",
        managed=_managed(pair),
        said=_said(pair, found["score"]),
        tally=_tally(pair, found),
        panels=[_panel(world, pair, measure) for measure in MEASURES] if len(pair.models) > 1 else [],
        tables=[
            (TITLES[measure], measure_table(world, pair, measure, found[measure])) for measure in MEASURES
        ],
        choices=choice_table(world, pair),
    )


def _said(pair: HarnessPair, found: list[Conclusion]) -> str:
    """Both ways to read the scores, in one sentence."""
    counts = pair.tally("score")
    ties = f"{counts.ties} {'tie' if counts.ties == 1 else 'ties'}"
    first, second = (pair.first, counts.first), (pair.second, counts.second)
    ahead = sorted((first, second), key=lambda side: -side[1])
    published = ", ".join(f"{name} {number}" for name, number in ahead) + f", {ties}"
    return f"Score by the published rule: {published}. Our verdicts on the same data: {_ours(found)}."


def _ours(found: list[Conclusion]) -> str:
    counts = Counter(each.words for each in found)
    if len(counts) == 1 and len(found) > 1:
        return f"all {len(found)} {next(iter(counts))}"
    return ", ".join(f"{number} {said}" for said, number in counts.most_common()) or "none"


def _tally(pair: HarnessPair, found: dict[str, list[Conclusion]]) -> Table:
    columns = [
        Column("Measure"),
        Column(f"{pair.first} ahead", "number"),
        Column(f"{pair.second} ahead", "number"),
        Column("Tie", "number"),
        Column("Not comparable", "number"),
        Column("Our verdicts on the same data", wide=True),
    ]
    rows = []
    for measure in MEASURES:
        counts = pair.tally(measure)
        numbers = (counts.first, counts.second, counts.ties, len(pair.models) - counts.total)
        rows.append(
            [
                Entry(TITLES[measure]),
                *(Entry(str(number), float(number)) for number in numbers),
                Entry(_ours(found[measure])),
            ]
        )
    return table(
        f"Tally of {pair.first} and {pair.second} by the published rule, and ours",
        columns,
        rows,
        sortable=False,
    )


def _panel(world: World, pair: HarnessPair, measure: str) -> Markup:
    unit, rows = UNITS[measure], []
    for model in sorted(pair.models, key=lambda model: model.first.key):
        means = model.measures[measure].means
        if means is None:
            continue
        size = MILLION if unit is Unit.TOKENS else 1
        one, two = (
            words.amount(amount, unit) if unit is not Unit.DOLLARS else f"{amount:,.2f}"
            for amount in (means.first, means.second)
        )
        rows.append(Dumbbell(name_of(world, model), means.first / size, means.second / size, one, two))
    return dumbbell_chart(
        rows,
        (pair.first, pair.second),
        slug=f"delta-{pair.skill}-{pair.dataset}-{pair.first}-{pair.second}-{measure}",
        title=TITLES[measure],
        scope=f"{pair.skill} on {pair.dataset}",
        unit=SCALE[measure],
        caption=_bases(pair) if measure == "cost" else "",
        points=False,
    ).html("")


def _bases(pair: HarnessPair) -> str:
    """What the dollars of each harness rest on; rows may differ in basis."""
    parts = []
    for name, cells in (
        (pair.first, [model.first for model in pair.models]),
        (pair.second, [model.second for model in pair.models]),
    ):
        parts.append(f"{name}: {'; '.join(dict.fromkeys(rests_on(cell) for cell in cells))}")
    return f"US dollars. {'. '.join(parts)}. Rows whose bases differ are marked in the table below."


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
