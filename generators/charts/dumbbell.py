"""Dumbbells: two values a row, joined by a line, on one common scale.

The script compare.js draws the same in the browser; a test holds the two drawings together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from generators.charts.axis import Axis, linear_axis
from generators.charts.chart import Chart
from generators.charts.frame import Frame
from generators.charts.legend import Key, legend
from generators.charts.series import series_class
from generators.charts.svg import rows_drawing, text_at
from generators.charts.symbol import path, short, symbol_for
from generators.charts.table import Column, Entry, data_table
from generators.charts.wording import UNKNOWN
from generators.escape.characters import shortened
from generators.escape.html import text

ROW_HEIGHT = 26.0
LABEL_LIMIT = {"wide": 34, "narrow": 17}
RADIUS = 4.5
POINTS = Axis("linear", 0.0, 100.0, (0.0, 20.0, 40.0, 60.0, 80.0, 100.0))
"""The whole scale of a score or a percentage, so that one pair looks as another does."""


@dataclass(frozen=True)
class Dumbbell:
    """A row: what it is about and both values with what is written for them; None is unknown."""

    label: str
    first: float | None
    second: float | None
    first_text: str = ""
    second_text: str = ""


def dumbbell_chart(
    rows: Sequence[Dumbbell],
    names: tuple[str, str],
    *,
    slug: str,
    title: str,
    scope: str,
    unit: str,
    caption: str = "",
    points: bool = True,
) -> Chart:
    """A row for each entry, in the given order, and the table of the same numbers.

    Args:
        names: what the first mark (a circle) and the second one (a square) stand for.
        unit: what the scale measures.
        points: whether the scale is the whole one from 0 to 100; else it fits the values.
    """
    values = [value for row in rows for value in (row.first, row.second) if value is not None]
    axis = POINTS if points else linear_axis(values or [0.0], least_span=1e-9, wanted_ticks=4)
    empty = Markup('<p class="hm-chart__empty">There is nothing to show.</p>')
    drawings = Markup("").join(dumbbell_svg(rows, axis, kind, title, unit) for kind in ("wide", "narrow"))
    keys = [Key(name, series_class(place), symbol_for(place)) for place, name in enumerate(names)]
    return Chart(
        slug=slug,
        kind="dumbbell",
        title=title,
        scope=scope,
        figure={},
        static=drawings if values else empty,
        legend=legend(keys) if values else Markup(""),
        table=_table(rows, names, f"{title}: {scope}"),
        notes=(text(caption),) if caption else (),
        interactive=False,
    )


def dumbbell_svg(rows: Sequence[Dumbbell], axis: Axis, kind: str, title: str, unit: str) -> Markup:
    """The drawing, ``wide`` or ``narrow``."""
    width, left = (720.0, 232.0) if kind == "wide" else (360.0, 118.0)
    frame = Frame(width, ROW_HEIGHT * len(rows) + 50, left, 18, 6, 44)
    plot = frame.plot
    grid, marks, labels = [], [], []
    for tick in axis.ticks:
        x = short(frame.x(axis, tick))
        grid.append(f"M{x} {short(plot.top)}V{short(plot.bottom)}")
        labels.append(text_at(x, short(plot.bottom + 16), "hm-x", f"{tick:g}"))
    for place, row in enumerate(rows):
        y = plot.top + ROW_HEIGHT * (place + 0.5)
        labels.append(
            text_at(short(left - 10), short(y + 4), "hm-y", shortened(row.label, LABEL_LIMIT[kind]))
        )
        ends = [None if value is None else frame.x(axis, value) for value in (row.first, row.second)]
        if ends[0] is not None and ends[1] is not None:
            line = f"M{short(ends[0])} {short(y)}H{short(ends[1])}"
            marks.append(Markup('<path class="hm-neutral hm-line" d="{}"/>').format(line))
        for index, x_of in enumerate(ends):
            if x_of is not None:
                mark = path(symbol_for(index), x_of, y, RADIUS)
                marks.append(Markup('<path class="{}" d="{}"/>').format(series_class(index), mark))
    across = text_at(short((plot.left + plot.right) / 2), short(frame.height - 6), "hm-x hm-axis", unit)
    spoken = f"{title}: {len(rows)} rows of two values; the table below has the numbers"
    return rows_drawing(kind, frame, spoken, grid, marks, [*labels, across])


def _table(rows: Sequence[Dumbbell], names: tuple[str, str], caption: str) -> Markup:
    columns = [Column("What"), *(Column(name, numeric=True) for name in names)]
    return data_table(
        columns,
        [
            [
                Entry(row.label),
                Entry(row.first_text or _plain(row.first), row.first),
                Entry(row.second_text or _plain(row.second), row.second),
            ]
            for row in rows
        ],
        caption=caption,
    )


def _plain(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3g}"
