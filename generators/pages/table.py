"""Table: what a table on a page holds, with the value each cell sorts by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from generators.pages import words
from generators.pages.interval_words import sureness
from generators.tables.sample import Unit, Value

LONGEST_SEARCHED = 12
"""Rows of a table of figures whose words the site's search still knows."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, how it sorts, and what the heading means."""

    title: str
    kind: Literal["text", "number"] = "text"
    explanation: str = ""
    wide: bool = False
    """Holds sentences: kept wide enough to read where the table scrolls."""


@dataclass(frozen=True)
class Flag:
    """A mark beside a value that leads to what is wrong with it; ``text`` is what it says."""

    text: str
    href: str


@dataclass(frozen=True)
class Entry:
    """One cell of a table.

    ``sort`` is what a number column sorts by (None: unknown, sorts last). ``note`` stands small below the
    text. ``href`` makes the text a link.
    """

    text: str
    sort: float | None = None
    href: str = ""
    note: str = ""
    unknown: bool = False
    code: bool = False
    flag: Flag | None = None
    """Drawn behind the text, where something is to be known about the value."""


@dataclass(frozen=True)
class Table:
    """A table with a label for those who cannot see it; the first column names the row."""

    label: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    sortable: bool = True
    marked: tuple[bool, ...] = ()
    """Rows to highlight, such as those on a frontier."""

    @property
    def is_searched(self) -> bool:
        """Whether its words are for the site's search, which every reader loads with the first page.

        Long tables of figures are not: nobody looks for a figure, and the names in them have own pages.
        """
        return len(self.rows) <= LONGEST_SEARCHED or all(column.kind != "number" for column in self.columns)


def table(
    label: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Entry]],
    *,
    sortable: bool = True,
    marked: Sequence[bool] = (),
) -> Table:
    """A table of any sequences; every row must have one entry per column."""
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"a row of {label!r} has {len(row)} entries for {len(columns)} columns")
    return Table(label, tuple(columns), tuple(tuple(row) for row in rows), sortable, tuple(marked))


def value_entry(value: Value, unit: Unit, *, count_below: bool = False) -> Entry:
    """A figure with its n of m beside it, or below it where room is short; an unknown one says why.

    A mean has its interval below it, and its bounds where trials are open. Dollars have their basis and the
    day of their prices there, too.
    """
    if value.amount is None:
        missing = words.NOT_PRICED if unit is Unit.DOLLARS else "not known"
        return Entry(missing, None, note=value.reason, unknown=True)
    written, count = words.amount(value.amount, unit), words.n_of_m(value)
    rests_on = words.priced(value.priced) if unit is Unit.DOLLARS else ""
    sure = sureness(value, unit)
    if count_below:
        return Entry(written, value.amount, note="; ".join(part for part in (count, sure, rests_on) if part))
    return Entry(
        f"{written} ({count})", value.amount, note="; ".join(part for part in (sure, rests_on) if part)
    )


def number_entry(number: float | None, unit: Unit, missing: str = "not reported") -> Entry:
    """A plain number, or ``missing``."""
    if number is None:
        return Entry(missing, None, unknown=True)
    return Entry(words.amount(number, unit), number)


def count_entry(number: int | None, missing: str = "not reported") -> Entry:
    """A whole number with grouped digits, or ``missing``."""
    if number is None:
        return Entry(missing, None, unknown=True)
    return Entry(f"{number:,}", float(number))


def link_entry(text: str, href: str, note: str = "") -> Entry:
    """A name that leads to its page."""
    return Entry(text, href=href, note=note)
