"""Harness delta tables: one row for each model under two harnesses, by one measure."""

from __future__ import annotations

from dataclasses import dataclass

from generators.pages import links, words
from generators.pages.money_flag import flagged
from generators.pages.pair_words import deciding_text, interval_text
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.statistics.intervals import Interval
from generators.statistics.published_rules import Side
from generators.statistics.verdict import Word
from generators.tables.cells import Cell
from generators.tables.comparisons import Compared
from generators.tables.differences import AmountConclusion, amount_difference, conclude
from generators.tables.pairs import HarnessPair, Measured, ModelPair
from generators.tables.sample import Unit

UNITS = {"score": Unit.POINTS, "cost": Unit.DOLLARS, "tokens": Unit.TOKENS, "minutes": Unit.MINUTES}
TITLES = {
    "score": "Score",
    "cost": "Cost per task",
    "tokens": "Tokens per task",
    "minutes": "Minutes per task",
}


@dataclass(frozen=True)
class Conclusion:
    """What our policy says of one model under two harnesses by one measure, the first minus the second."""

    word: Word | None
    """None where no verdict may be given."""
    words: str
    """The word, and the harness it favours."""
    number: str
    """What decided, or why there is no verdict."""
    interval: Interval | None


def conclusions(world: World, pair: HarnessPair, measure: str) -> list[Conclusion]:
    """One for each model of the pair, in its order.

    Scores keep the verdict that the two cells have everywhere on the site, adjusted for all pairs of the
    skill and dataset. The other measures are adjusted for the models of the pair.
    """
    if measure == "score":
        tables = {(each.skill, each.dataset): each for each in world.pair_tables}
        pairs = tables.get((pair.skill, pair.dataset))
        found = [pairs.find(model.first, model.second) if pairs else None for model in pair.models]
        return [_of_score(pair, model, each) for model, each in zip(pair.models, found, strict=True)]
    differences = [amount_difference(model.first, model.second, measure) for model in pair.models]
    return [_of_amount(pair, each) for each in conclude(differences)]


def _of_score(pair: HarnessPair, model: ModelPair, each: Compared | None) -> Conclusion:
    if each is None or each.verdict is None:
        return Conclusion(None, "no verdict", each.reason if each else "no results to compare", None)
    verdict, interval = each.verdict, each.verdict.evidence.interval
    turned = each.first.key != model.first.key
    name = ""
    if verdict.favoured is not None:
        name = pair.second if (verdict.favoured == "first") == turned else pair.first
    text = f"{verdict.word.value}: {name}" if name else verdict.word.value
    return Conclusion(
        verdict.word, text, deciding_text(verdict), _turned(interval) if turned and interval else interval
    )


def _of_amount(pair: HarnessPair, each: AmountConclusion) -> Conclusion:
    if each.difference.reason:
        return Conclusion(None, "no verdict", each.difference.reason, each.difference.interval)
    name = {"first": pair.first, "second": pair.second, None: ""}[each.lower]
    text = f"{each.word.value}: {name}" if name else each.word.value
    return Conclusion(each.word, text, each.number, each.difference.interval)


def _turned(interval: Interval) -> Interval:
    lower = None if interval.upper is None else -interval.upper
    upper = None if interval.lower is None else -interval.lower
    return Interval(-interval.estimate, lower, upper, interval.count, interval.level)


def measure_table(world: World, pair: HarnessPair, measure: str, found: list[Conclusion]) -> Table:
    """Both means of each model, who is ahead by the published rule, and what we conclude."""
    unit = UNITS[measure]
    columns = [Column("Model"), Column(pair.first, "number"), Column(pair.second, "number")]
    columns += [Column("Difference", "number", f"{pair.first} minus {pair.second}")]
    columns += [Column("Common tasks", "number"), Column("Ahead in these data", wide=True)]
    columns += [Column("Our verdict", wide=True)]
    order = sorted(range(len(pair.models)), key=lambda place: pair.models[place].first.key)
    rows = []
    for place in order:
        model, ours = pair.models[place], found[place]
        measured = model.measures[measure]
        rows.append(
            [
                _name(world, pair, model),
                *_amounts(world, model, measured, unit, ours.interval),
                _ahead(pair, measured),
                Entry(ours.words, note=ours.number, unknown=ours.word is None),
            ]
        )
    return table(f"{TITLES[measure]}: {pair.first} and {pair.second}", columns, rows)


def name_of(world: World, model: ModelPair) -> str:
    """The model that both cells are of, with its effort."""
    slug = world.aliases.model(model.first.identity.model.slug)
    return slug + (f" ({model.first.identity.effort})" if model.first.identity.effort else "")


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
    here = links.COMPARE_HARNESSES
    return link_entry(
        slug, links.pair(here, model.first.identity, model.second.identity), note="; ".join(notes)
    )


def _amounts(
    world: World, model: ModelPair, measured: Measured, unit: Unit, interval: Interval | None
) -> list[Entry]:
    here, means = links.COMPARE_HARNESSES, measured.means
    if means is None:
        gap = Entry(words.NOT_PRICED if unit is Unit.DOLLARS else "not known", None, unknown=True)
        return [gap, gap, gap, Entry(f"0 of {_tasks_of(model)}", 0.0)]
    notes = ("", "")
    if unit is Unit.DOLLARS:
        notes = (rests_on(model.first), rests_on(model.second))
    sides = zip((model.first, model.second), (means.first, means.second), notes, strict=True)
    entries = [
        (Entry(words.amount(mean, unit), mean, links.relative(here, world.cell_page(cell)), note), cell)
        for cell, mean, note in sides
    ]
    ends = interval_text(interval, unit)
    return [
        *(flagged(world, each, of, here) if unit is Unit.DOLLARS else each for each, of in entries),
        Entry(words.signed(means.difference, unit), means.difference, note=f"95 %: {ends}" if ends else ""),
        Entry(f"{means.tasks} of {_tasks_of(model)}", float(means.tasks)),
    ]


def rests_on(cell: Cell) -> str:
    """What the dollars of a cell rest on and the days of their prices."""
    return words.priced(cell.figures["cost_per_task"].priced)


def _tasks_of(model: ModelPair) -> int:
    """Tasks that either cell planned: the m beside the common tasks."""
    cells = (model.first, model.second)
    tasks = {task for cell in cells for task in cell.by_task}
    return len(tasks | {task for cell in cells for task, _ in cell.missing})


def _ahead(pair: HarnessPair, measured: Measured) -> Entry:
    if measured.side is None:
        return Entry("not comparable", note=measured.reason, unknown=True)
    return Entry({Side.FIRST: pair.first, Side.SECOND: pair.second, Side.TIE: "tie"}[measured.side])
