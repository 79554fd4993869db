"""Harness lens: the published choice of a best harness for each model, with our conclusion beside it."""

from __future__ import annotations

from generators.pages import links, words
from generators.pages.interval_words import sureness
from generators.pages.pair_words import deciding_text
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.statistics.published_rules import DecidedBy
from generators.tables.cells import Cell
from generators.tables.comparisons import Compared
from generators.tables.lenses import HarnessChoice, harness_choices
from generators.tables.pairs import HarnessPair
from generators.tables.sample import Unit

COLUMNS = (
    Column("Model"),
    Column("Chosen by the published rule"),
    Column("Decided by"),
    Column("Its score and cost", wide=True),
    Column("Instead of", wide=True),
    Column("Our verdict on the scores", wide=True),
)


def choice_table(world: World, pair: HarnessPair) -> Table | None:
    """What the published rule chooses of two harnesses, for each model that both have; None without any."""
    cells = world.select(skill=pair.skill, dataset=pair.dataset)
    two = [cell for cell in cells if cell.identity.harness in {pair.first, pair.second}]
    choices = [
        choice
        for choice in harness_choices(two, world.aliases)
        if choice.decided_by is not DecidedBy.ONLY_ONE
        and {each.identity.harness for each in _contenders(choice)} == {pair.first, pair.second}
    ]
    if not choices:
        return None
    name = f"Best harness by the published rule: {pair.first} and {pair.second}"
    return table(name, COLUMNS, [choice_row(world, choice, links.COMPARE_HARNESSES) for choice in choices])


def _contenders(choice: HarnessChoice) -> list[Cell]:
    return [choice.winner, *(_other(choice, each) for each in choice.compared)]


def choice_row(world: World, choice: HarnessChoice, here: str) -> list[Entry]:
    """What the rule chose for a model, and what the policy says, as seen from the page ``here``."""
    others = [_other(choice, each) for each in choice.compared]
    bases = {cell.basis for cell in (choice.winner, *others)}
    mark = "≠ costs rest on different bases: directional only" if len(bases) > 1 else ""
    verdicts = [_verdict(world, choice.winner, other) for other in others]
    return [
        Entry(choice.model + (f" ({choice.effort})" if choice.effort else "")),
        link_entry(choice.winner.identity.harness, links.relative(here, world.cell_page(choice.winner))),
        Entry(choice.decided_by.value, note=mark),
        _point(choice.winner),
        Entry(
            "; ".join(f"{cell.identity.harness}, {_point(cell).text}" for cell in others),
            note="; ".join(dict.fromkeys(_point(cell).note for cell in others)),
        ),
        Entry("; ".join(text for text, _ in verdicts), note="; ".join(note for _, note in verdicts)),
    ]


def _verdict(world: World, winner: Cell, other: Cell) -> tuple[str, str]:
    """The verdict that the two cells have everywhere on the site."""
    found = next((each for pairs in world.pair_tables if (each := pairs.find(winner, other))), None)
    if found is None or found.verdict is None:
        return "no verdict", found.reason if found else "no results to compare"
    favoured = found.verdict.favoured
    name = ""
    if favoured is not None:
        name = f": {(found.first if favoured == 'first' else found.second).identity.harness}"
    return found.verdict.word.value + name, deciding_text(found.verdict)


def _other(choice: HarnessChoice, each: Compared) -> Cell:
    return each.second if each.first.key == choice.winner.key else each.first


def _point(cell: Cell) -> Entry:
    score, cost = cell.figures["mean_score"], cell.figures["cost_per_task"]
    if score.amount is None or cost.amount is None:
        return Entry("not known", unknown=True)
    per_point = words.dollars(cost.amount / score.amount) if score.amount > 0 else "unlimited"
    text = (
        f"{words.amount(score.amount, Unit.POINTS)} ({words.n_of_m(score)}) at {words.dollars(cost.amount)} "
        f"({words.n_of_m(cost)}), {per_point} a point"
    )
    sure = f"score {sureness(score, Unit.POINTS)}; cost {sureness(cost, Unit.DOLLARS)}"
    return Entry(text, score.amount, note=f"{sure}; {words.priced(cost.priced)}")
