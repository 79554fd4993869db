"""Pair words: what a page says of two cells, the same in the static pages and in the data of the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generators.pages import words
from generators.pages.charting import label
from generators.statistics.intervals import Interval, mean_interval
from generators.statistics.multiplicity import p_text
from generators.statistics.paired import paired_mean
from generators.statistics.planner import FEWEST_TASKS, detectable_difference
from generators.statistics.verdict import Deciding, Kind, Verdict, Word
from generators.tables.boards import task_means
from generators.tables.cells import Cell, CellKey
from generators.tables.comparisons import Compared
from generators.tables.differences import AMOUNTS, AmountDifference, amount_difference
from generators.tables.dollars import Priced
from generators.tables.pair_table import PairTable, pair_bounds
from generators.tables.sample import Unit

UNITS = {"cost": Unit.DOLLARS, "minutes": Unit.MINUTES, "tokens": Unit.TOKENS}
TITLES = {"cost": "Cost per task", "minutes": "Minutes per task", "tokens": "Tokens per task"}
QUALITY = {Kind.SCORE: "Mean score", Kind.CHECK: "Resolved"}
QUALITY_UNIT = {Kind.SCORE: Unit.POINTS, Kind.CHECK: Unit.PERCENT}
FACTS = ("Number that decided", "Why", "What would decide it", "Price of that", "Data could show", "Missing")
NO_VERDICT = "no verdict"


@dataclass(frozen=True)
class Said:
    """A text with the small one below it."""

    text: str
    note: str = ""


@dataclass(frozen=True)
class Measure:
    """One row of a pair: both means over the common tasks, and the first minus the second."""

    title: str
    first: Said
    second: Said
    difference: Said
    tasks: Said


@dataclass(frozen=True)
class PairWords:
    """A pair in words."""

    verdict: str
    """The verdict, and whom it favours."""
    good: bool
    """Whether something is decided."""
    facts: tuple[Said, ...]
    """One for each of ``FACTS``."""
    measures: tuple[Measure, ...]


def names_of(table: PairTable) -> dict[CellKey, str]:
    """A name for each cell that no other one has: model and harness, where needed the provider."""
    names = {cell.key: label(cell, with_harness=True) for cell in table.cells}
    several = {name for name in names.values() if list(names.values()).count(name) > 1}
    return {
        cell.key: f"{names[cell.key]} · {cell.identity.provider}"
        if names[cell.key] in several
        else names[cell.key]
        for cell in table.cells
    }


def verdict_text(compared: Compared, names: Mapping[CellKey, str]) -> str:
    """The word of a pair, and the cell it favours."""
    verdict = compared.verdict
    if verdict is None:
        return NO_VERDICT
    if verdict.favoured is None:
        return verdict.word.value
    favoured = compared.first if verdict.favoured == "first" else compared.second
    return f"{verdict.word.value}: {names[favoured.key]}"


def deciding_text(verdict: Verdict) -> str:
    """The number that decided, with what it was held against."""
    number, limit = verdict.deciding_number, verdict.limit
    if verdict.deciding is Deciding.TASKS:
        return f"{number:.0f} common {'task' if number == 1 else 'tasks'}, at least {limit:.0f} needed"
    if verdict.deciding is Deciding.INTERVAL_END:
        return f"far end of the interval {number:.1f} points, at most {limit:g} for a tie"
    return f"adjusted p {p_text(number)}, {'below' if number < limit else 'not below'} {limit:g}"


def interval_text(interval: Interval | None, unit: Unit) -> str:
    """Both ends of an interval of a difference; empty without ends."""
    if interval is None or interval.lower is None or interval.upper is None:
        return ""
    return f"{words.signed(interval.lower, unit)} to {words.signed(interval.upper, unit)}"


def amounts_of(compared: Compared) -> list[AmountDifference]:
    """Differences of cost, time and tokens of a pair."""
    return [amount_difference(compared.first, compared.second, measure) for measure in AMOUNTS]


def pair_words(
    compared: Compared, kind: Kind, names: Mapping[CellKey, str], differences: Sequence[AmountDifference]
) -> PairWords:
    """All that is said of a pair, with its ``amounts_of``."""
    return PairWords(
        verdict_text(compared, names),
        compared.verdict is not None and compared.verdict.word is not Word.NOT_ENOUGH,
        _facts(compared, kind),
        (_quality(compared, kind), *(_amount(compared, each) for each in differences)),
    )


def priced_of(first: Cell, second: Cell) -> str:
    """What dollars of two cells rest on: one line where they share a basis, else both with the mark."""
    one, two = (cell.figures["cost_per_task"].priced for cell in (first, second))
    if one is not None and two is not None and one.basis is two.basis:
        return words.priced(Priced.over([one, two]))
    return f"≠ bases differ: {words.priced(one)} against {words.priced(two)}"


def _facts(compared: Compared, kind: Kind) -> tuple[Said, ...]:
    verdict = compared.verdict
    if verdict is None:
        return (
            Said("none"),
            Said(compared.reason),
            Said("a run on the same terms"),
            *_nothing(2),
            _missing(compared, kind),
        )
    return (
        Said(deciding_text(verdict)),
        Said(verdict.explanation, verdict.evidence.note),
        Said(verdict.what_would_decide),
        _price(compared, verdict),
        _could_show(verdict),
        _missing(compared, kind),
    )


def _nothing(count: int) -> tuple[Said, ...]:
    return (Said("nothing"),) * count


def _price(compared: Compared, verdict: Verdict) -> Said:
    if verdict.plan is None or not verdict.plan.more:
        return Said("nothing to buy")
    if verdict.plan.cost_usd is None:
        known = compared.first.basis is not None and compared.second.basis is not None
        differ = known and compared.first.basis is not compared.second.basis
        return Said(
            "not priced", "costs rest on different bases" if differ else "a cost per task is not known"
        )
    note = f"both cells on the added tasks; {priced_of(compared.first, compared.second)}"
    return Said(f"about {words.dollars(verdict.plan.cost_usd)}", note)


def _could_show(verdict: Verdict) -> Said:
    evidence = verdict.evidence
    if evidence.spread is None or evidence.tasks < FEWEST_TASKS:
        return Said("no difference, however large", f"{evidence.tasks} of the {FEWEST_TASKS} tasks needed")
    least = detectable_difference(evidence.spread, evidence.tasks, significance=verdict.significance)
    if least is None:
        return Said("not known")
    among = f", held against {verdict.against} pairs" if verdict.against > 1 else ""
    return Said(
        f"a true difference of {least:.1f} points",
        f"with 80 % power, on {evidence.tasks} common tasks{among}",
    )


def _missing(compared: Compared, kind: Kind) -> Said:
    bounds = pair_bounds(compared, kind)
    if bounds is None:
        return Said("not known")
    if bounds.open == 0:
        return Said("no trial")
    unit = QUALITY_UNIT[kind]
    ends = f"{words.signed(bounds.lower, unit)} to {words.signed(bounds.upper, unit)}"
    return Said(
        words.counted(bounds.open, "trial"),
        f"over all planned trials, failed ones as 0, the difference may be {ends}, whatever they would give",
    )


def _quality(compared: Compared, kind: Kind) -> Measure:
    measure, unit = ("score" if kind is Kind.SCORE else "resolved"), QUALITY_UNIT[kind]
    one, two = task_means(compared.first, measure), task_means(compared.second, measure)
    common = sorted(one.keys() & two.keys())
    means = paired_mean(one, two)
    count = Said(f"{len(common)} of {tasks_of(compared)}")
    if means is None:
        return Measure(QUALITY[kind], Said("not known"), Said("not known"), Said("not known"), count)
    own = [_within(mean_interval([side[task] for task in common]), unit) for side in (one, two)]
    verdict = compared.verdict
    ends = interval_text(verdict.evidence.interval, unit) if verdict else ""
    notes = [f"95 %: {ends}" if ends else "no interval"]
    if verdict is not None and verdict.evidence.p_value is not None:
        notes.append(f"p {p_text(verdict.evidence.p_value)} by {verdict.evidence.test}, alone")
    return Measure(
        QUALITY[kind],
        Said(words.amount(means.first, unit), own[0]),
        Said(words.amount(means.second, unit), own[1]),
        Said(words.signed(means.difference, unit), "; ".join(notes)),
        count,
    )


def _within(found: Interval | None, unit: Unit) -> str:
    """Interval of a mean of scores, which lies between 0 and 100."""
    if found is None or found.lower is None or found.upper is None:
        return ""
    lower, upper = (words.amount(end, unit) for end in (max(0.0, found.lower), min(100.0, found.upper)))
    return f"95 %: {lower} to {upper}"


def _amount(compared: Compared, difference: AmountDifference) -> Measure:
    unit, title, means = UNITS[difference.measure], TITLES[difference.measure], difference.means
    count = Said(f"{difference.tasks} of {tasks_of(compared)}")
    if means is None:
        gap = Said(words.NOT_PRICED if unit is Unit.DOLLARS else "not known")
        return Measure(title, gap, gap, Said(gap.text, difference.reason), count)
    own, rests = ["", ""], ""
    if unit is Unit.DOLLARS:
        own = [
            words.priced(cell.figures["cost_per_task"].priced) for cell in (compared.first, compared.second)
        ]
        rests = priced_of(compared.first, compared.second)
    ends = interval_text(difference.interval, unit)
    notes = [rests, f"95 %: {ends}" if ends else "no interval: too few tasks, or all alike"]
    return Measure(
        title,
        Said(words.amount(means.first, unit), own[0]),
        Said(words.amount(means.second, unit), own[1]),
        Said(words.signed(means.difference, unit), "; ".join(note for note in notes if note)),
        count,
    )


def tasks_of(compared: Compared) -> int:
    """Tasks that either cell planned: the m beside the common tasks."""
    cells = (compared.first, compared.second)
    tasks = {task for cell in cells for task in cell.by_task}
    return len(tasks | {task for cell in cells for task, _ in cell.missing})
