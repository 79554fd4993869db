"""Table: the data behind a chart, complete without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from generators.escape.characters import shortened
from generators.escape.html import attribute, text
from generators.escape.link import url

CELL_LIMIT = 200


@dataclass(frozen=True)
class Column:
    """A heading; numeric columns sort by value and stand to the right."""

    name: str
    numeric: bool = False


@dataclass(frozen=True)
class Entry:
    """What a data cell shows; `value` is its number (None: unknown), `href` makes it a link."""

    shown: str
    value: float | None = None
    href: str = ""


def data_table(columns: Sequence[Column], rows: Sequence[Sequence[Entry]], *, caption: str) -> Markup:
    """A sortable table as one line of HTML, in a box that scrolls sideways on narrow pages."""
    heads = Markup("").join(
        Markup('<th scope="col" data-type="{}">{}</th>').format(
            "number" if column.numeric else "text", text(column.name)
        )
        for column in columns
    )
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(_cell(column, entry) for column, entry in zip(columns, row, strict=True))
        )
        for row in rows
    )
    return Markup(
        '<div class="hm-scroll" tabindex="0" role="group" aria-label="{}">'
        '<table class="hm-table" data-sortable>'
        "<caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(attribute(caption), text(caption), heads, body)


def _cell(column: Column, entry: Entry) -> Markup:
    content = text(shortened(entry.shown, CELL_LIMIT))
    if entry.href:
        content = Markup('<a href="{}">{}</a>').format(url(entry.href), content)
    if not column.numeric:
        return Markup("<td>{}</td>").format(content)
    value = "" if entry.value is None else f"{entry.value:.10g}"
    return Markup('<td data-value="{}">{}</td>').format(value, content)
