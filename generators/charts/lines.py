"""Lines: figures that change along one axis, such as throughput over concurrency; up to four of them."""

from __future__ import annotations

from markupsafe import Markup

from generators.charts.chart import Chart
from generators.charts.legend import Key, legend
from generators.charts.lines_figure import lines_figure
from generators.charts.lines_plan import Line, LinesPlan
from generators.charts.lines_svg import lines_svg
from generators.charts.series import MAX_SERIES, series_class
from generators.charts.symbol import symbol_for
from generators.charts.table import Column, Entry, data_table
from generators.escape.html import text

__all__ = ["Line", "LinesPlan", "lines_chart"]


def lines_chart(
    plan: LinesPlan, *, slug: str, title: str, scope: str, caption: str = "", place_name: str = ""
) -> Chart:
    """The chart and the table of the same numbers.

    Args:
        plan: at most four lines, each with a value or None for every place.
        place_name: heading of the table's first column; the axis title where it is empty.

    Raises:
        ValueError: too many lines, or one with another number of values than there are places.
    """
    if len(plan.lines) > MAX_SERIES:
        raise ValueError(f"{len(plan.lines)} lines cannot be told apart; show {MAX_SERIES} at most")
    for line in plan.lines:
        if len(line.values) != len(plan.places) or len(plan.names) not in {0, len(plan.places)}:
            raise ValueError(
                f"line {line.label!r} has {len(line.values)} values for {len(plan.places)} places"
            )
    known = any(value is not None for line in plan.lines for value in line.values)
    figure = lines_figure(plan, slug=slug, title=title, scope=scope) if known else {"data": [], "layout": {}}
    empty = Markup('<p class="hm-chart__empty">None of these figures is known.</p>')
    return Chart(
        slug=slug,
        kind="lines",
        title=title,
        scope=scope,
        figure=figure,
        static=lines_svg(plan, title=title) if known else empty,
        legend=_legend(plan) if known and len(plan.lines) > 1 else Markup(""),
        table=_table(plan, f"{title}: {scope}", place_name or plan.across),
        notes=tuple(text(note) for note in _notes(plan, caption)),
        interactive=known,
    )


def _legend(plan: LinesPlan) -> Markup:
    keys = []
    for index, line in enumerate(plan.lines):
        css = f"{series_class(index)} hm-line hm-dash-{index}"
        keys.append(Key(line.label, css, symbol_for(index)))
    return legend(keys)


def _notes(plan: LinesPlan, caption: str) -> list[str]:
    notes = [caption] if caption else []
    marked = [f"{says[:1].upper()}{says[1:]}: {place:g}." for place, says in plan.marked]
    notes += [" ".join(marked)] if marked else []
    if any(value is None for line in plan.lines for value in line.values):
        notes.append("A line is broken where its figure is unknown.")
    return notes


def _table(plan: LinesPlan, caption: str, place_name: str) -> Markup:
    columns = [Column(place_name, numeric=True)]
    columns += [Column(f"{line.label}, {plan.up}", numeric=True) for line in plan.lines]
    rows = [
        [
            Entry(plan.place_text(row), place),
            *(Entry(plan.shown(line.values[row]), line.values[row]) for line in plan.lines),
        ]
        for row, place in enumerate(plan.places)
    ]
    return data_table(columns, rows, caption=caption)
