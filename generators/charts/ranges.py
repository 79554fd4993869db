"""Ranges: estimates with their intervals, one row each, on one common scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from generators.charts.axis import linear_axis
from generators.charts.chart import Chart
from generators.charts.frame import Frame
from generators.charts.svg import rows_drawing, text_at
from generators.charts.symbol import path, short
from generators.charts.table import Column, Entry, data_table
from generators.charts.wording import UNKNOWN
from generators.escape.characters import shortened
from generators.escape.html import text

ROW_HEIGHT = 30.0
LABEL_LIMIT = {"wide": 30, "narrow": 17}
RADIUS = 5.0


@dataclass(frozen=True)
class Range:
    """One estimate. An end that the data cannot carry is None, and is not drawn."""

    label: str
    estimate: float
    lower: float | None
    upper: float | None
    count: int
    expected: float | None = None
    """What it would be if all were well, drawn as an open mark."""
    single: bool = False
    """One result and no estimate: drawn as a small open mark, which needs no line."""


def ranges_chart(
    ranges: Sequence[Range],
    *,
    slug: str,
    title: str,
    scope: str,
    unit: str,
    counted: str,
    caption: str = "",
    at: float | None = None,
) -> Chart:
    """A row for each range, in the given order, and the table of the same numbers.

    Args:
        unit: what the scale measures, such as ``share of trials that passed``.
        counted: what ``count`` counts, in the plural.
        at: value of a line drawn through all rows, such as 0 for a difference.
    """
    empty = Markup('<p class="hm-chart__empty">There is nothing to show.</p>')
    drawings = Markup("").join(_drawing(ranges, kind, title, unit, at) for kind in ("wide", "narrow"))
    return Chart(
        slug=slug,
        kind="ranges",
        title=title,
        scope=scope,
        figure={},
        static=drawings if ranges else empty,
        legend=Markup(""),
        table=_table(ranges, unit, counted, f"{title}: {scope}"),
        notes=tuple(text(part) for part in (caption, *_notes(ranges)) if part),
        interactive=False,
    )


def _notes(ranges: Sequence[Range]) -> list[str]:
    notes = []
    if any(each.lower is not None for each in ranges):
        notes.append("Lines are 95 % intervals.")
    if any(each.expected is not None for each in ranges):
        notes.append("Open marks are what would be expected.")
    if any(each.single for each in ranges):
        notes.append("Small open marks are single results.")
    if any(each.lower is None and not each.single for each in ranges):
        notes.append(
            "A mark without a line rests on too few values, or on values all alike, for an interval."
        )
    return notes


def _drawing(ranges: Sequence[Range], kind: str, title: str, unit: str, at: float | None) -> Markup:
    wide = kind == "wide"
    width, left = (720.0, 210.0) if wide else (360.0, 118.0)
    frame = Frame(width, ROW_HEIGHT * len(ranges) + 54, left, 18, 8, 46)
    values = [
        value
        for each in ranges
        for value in (each.estimate, each.lower, each.upper, each.expected)
        if value is not None
    ] + ([] if at is None else [at])
    # Values that are all alike have no scale of their own: ticks of a ten-millionth would tell nothing.
    least = 1.0 if not values or max(values) == min(values) else 1e-6
    axis = linear_axis(values or [0.0], least_span=least, wanted_ticks=6 if wide else 4)
    plot = frame.plot
    grid, marks, labels = [], [], []
    for tick in axis.ticks:
        x = short(frame.x(axis, tick))
        grid.append(f"M{x} {short(plot.top)}V{short(plot.bottom)}")
        labels.append(text_at(x, short(plot.bottom + 16), "hm-x", f"{tick:g}"))
    if at is not None:
        grid.append(f"M{short(frame.x(axis, at) + 0.7)} {short(plot.top)}V{short(plot.bottom)}")
    for row, each in enumerate(ranges):
        y = plot.top + ROW_HEIGHT * (row + 0.5)
        labels.append(
            text_at(short(left - 10), short(y + 4), "hm-y", shortened(each.label, LABEL_LIMIT[kind]))
        )
        if each.lower is not None and each.upper is not None:
            ends = short(frame.x(axis, each.lower)), short(frame.x(axis, each.upper))
            line = "".join(f"M{end} {short(y - 5)}V{short(y + 5)}" for end in ends)
            line += f"M{ends[0]} {short(y)}H{ends[1]}"
            marks.append(Markup('<path class="hm-series-0 hm-line" d="{}"/>').format(line))
        if each.expected is not None:
            outline = path("diamond", frame.x(axis, each.expected), y, RADIUS)
            marks.append(Markup('<path class="hm-neutral hm-off" d="{}"/>').format(outline))
        size = RADIUS - 1.5 if each.single else RADIUS
        dot = path("circle", frame.x(axis, each.estimate), y, size)
        css = "hm-series-0 hm-off" if each.single else "hm-series-0"
        marks.append(Markup('<path class="{}" d="{}"/>').format(css, dot))
    across = text_at(short((plot.left + plot.right) / 2), short(frame.height - 6), "hm-x hm-axis", unit)
    spoken = f"{title}: {len(ranges)} estimates with intervals; the table below has the numbers"
    return rows_drawing(kind, frame, spoken, grid, marks, [*labels, across])


def _table(ranges: Sequence[Range], unit: str, counted: str, caption: str) -> Markup:
    columns = [
        Column("What"),
        Column(unit[:1].upper() + unit[1:], numeric=True),
        Column("Lower end", numeric=True),
        Column("Upper end", numeric=True),
        Column(counted[:1].upper() + counted[1:], numeric=True),
    ]
    rows = [
        [
            Entry(each.label),
            *(
                Entry(UNKNOWN if value is None else f"{value:.3g}", value)
                for value in (each.estimate, each.lower, each.upper)
            ),
            Entry(f"{each.count:,}", float(each.count)),
        ]
        for each in ranges
    ]
    return data_table(columns, rows, caption=caption)
