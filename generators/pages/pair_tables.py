"""Pair tables: pairs of cells as rows, each with verdict, deciding number and what would decide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.pages import links, words
from generators.pages.pair_words import (
    QUALITY,
    QUALITY_UNIT,
    deciding_text,
    interval_text,
    names_of,
    priced_of,
    tasks_of,
    verdict_text,
)
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.statistics.paired import paired_mean
from generators.statistics.verdict import Kind, Word
from generators.tables.boards import task_means
from generators.tables.cells import CellKey
from generators.tables.comparisons import Compared
from generators.tables.differences import amount_difference
from generators.tables.pair_table import PairTable
from generators.tables.sample import Unit


def pair_table_of(pairs: PairTable, rows: Sequence[Compared], page: str, label_text: str) -> Table:
    """The pairs given, each leading to its comparison; p-values are adjusted for all pairs of the dataset.

    Args:
        pairs: the table that the rows are from.
        rows: in the order shown.
        page: source path of the page that shows the table.
        label_text: what the table holds, for those who cannot see it.
    """
    names = names_of(pairs)
    unit = QUALITY_UNIT[pairs.kind]
    columns = [
        Column("Pair"),
        Column("Verdict"),
        Column("Number that decided"),
        Column(f"Difference, {'points' if unit is Unit.POINTS else 'percent'}", "number"),
        Column("Common tasks", "number"),
        Column("Cost per task, difference", "number"),
        Column("What would decide it", wide=True),
    ]
    shown = [_row(each, pairs.kind, names, page) for each in rows]
    decided = [each.verdict is not None and each.verdict.word is not Word.NOT_ENOUGH for each in rows]
    return table(label_text, columns, shown, marked=decided)


def _row(each: Compared, kind: Kind, names: Mapping[CellKey, str], page: str) -> list[Entry]:
    measure, unit = ("score" if kind is Kind.SCORE else "resolved"), QUALITY_UNIT[kind]
    means = paired_mean(task_means(each.first, measure), task_means(each.second, measure))
    tasks = means.tasks if means else 0
    title = f"{names[each.first.key]} against {names[each.second.key]}"
    ends = interval_text(each.verdict.evidence.interval, unit) if each.verdict else ""
    difference = (
        Entry(words.signed(means.difference, unit), means.difference, note=f"95 %: {ends}" if ends else "")
        if means
        else Entry("not known", unknown=True)
    )
    return [
        link_entry(title, links.pair(page, each.first.identity, each.second.identity)),
        Entry(verdict_text(each, names), unknown=each.verdict is None),
        Entry(deciding_text(each.verdict) if each.verdict else each.reason),
        difference,
        Entry(f"{tasks} of {tasks_of(each)}", float(tasks)),
        _cost(each, tasks),
        Entry(each.verdict.what_would_decide if each.verdict else "a run on the same terms"),
    ]


def _cost(each: Compared, tasks: int) -> Entry:
    """The difference in cost with its interval, and its own count where that is not ``tasks``."""
    found = amount_difference(each.first, each.second, "cost")
    if found.means is None:
        return Entry(words.NOT_PRICED, unknown=True)
    ends = interval_text(found.interval, Unit.DOLLARS)
    notes = (
        f"{found.tasks} of {tasks_of(each)} tasks" if found.tasks != tasks else "",
        f"95 %: {ends}" if ends else "no interval: too few tasks, or all alike",
        priced_of(each.first, each.second),
    )
    difference = found.means.difference
    return Entry(
        words.signed(difference, Unit.DOLLARS), difference, note="; ".join(note for note in notes if note)
    )


def count_row(pairs: PairTable) -> list[Entry]:
    """How many pairs of a table each word stands on."""
    return [
        Entry(f"{number:,}", float(number))
        for number in (
            len(pairs.compared),
            *(pairs.count(word) for word in (Word.BETTER, Word.TIE, Word.NOT_ENOUGH)),
            pairs.count(None),
        )
    ]


def count_columns() -> list[Column]:
    """The headings of ``count_row``."""
    return [
        Column("Pairs", "number"),
        Column("Better", "number"),
        Column("Tie", "number"),
        Column("Not enough data", "number"),
        Column("Not comparable", "number"),
    ]


def quality_name(kind: Kind) -> str:
    """What the pairs are compared by."""
    return QUALITY[kind].lower()
