"""Radar: the quality profile of up to four series, by criterion or by artifact."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from generators.charts.chart import Chart
from generators.charts.legend import Key, legend
from generators.charts.radar_figure import radar_figure
from generators.charts.radar_svg import radar_svg
from generators.charts.series import MAX_SERIES, RadarSeries, series_class
from generators.charts.symbol import symbol_for
from generators.charts.table import Column, Entry, data_table
from generators.charts.wording import UNKNOWN, n_of_m
from generators.escape.html import text
from runner.errors import PublishError

__all__ = ["RadarSeries", "radar_chart"]


def radar_chart(
    series: Sequence[RadarSeries],
    *,
    axes: tuple[str, ...],
    maximum: float,
    slug: str,
    title: str,
    scope: str,
    caption: str = "",
    subset: str = "",
) -> Chart:
    """A profile over three or more axes, each from 0 to `maximum`; a missing value is a gap in the outline.

    The first four series are drawn, all of them stand in the table. Rings are percent of the maximum.
    """
    _check(series, axes, maximum, slug)
    drawn = [each for each in series if any(value is not None for value in each.values)][:MAX_SERIES]
    shown = bool(drawn)
    figure = radar_figure(
        drawn, axes=axes, maximum=maximum, slug=slug, title=title, scope=scope, subset=subset
    )
    empty = Markup('<p class="hm-chart__empty">No series of this chart has a value.</p>')
    return Chart(
        slug=slug,
        kind="radar",
        title=title,
        scope=scope,
        subset=subset,
        figure=figure,
        static=radar_svg(drawn, axes=axes, maximum=maximum, title=title) if shown else empty,
        legend=_legend(drawn) if shown else Markup(""),
        table=_table(series, axes, maximum, f"{title}: {scope}"),
        notes=tuple(_notes(series, drawn, maximum, caption)),
        interactive=shown,
    )


def _check(series: Sequence[RadarSeries], axes: tuple[str, ...], maximum: float, slug: str) -> None:
    if len(axes) < 3:
        raise PublishError("a radar needs at least three axes", where=slug)
    for each in series:
        if len(each.values) != len(axes):
            raise PublishError(
                f"a radar series has {len(each.values)} values for {len(axes)} axes",
                where=f"{slug}: {each.label}",
            )
        for value in each.values:
            if value is not None and not 0 <= value <= maximum:
                raise PublishError(
                    f"a radar value lies outside 0 to {maximum:g}: {value}",
                    where=f"{slug}: {each.label}",
                    remedy="pass None for what is unknown",
                )


def _legend(drawn: Sequence[RadarSeries]) -> Markup:
    return legend(
        [
            Key(
                f"{each.name} ({n_of_m(each.n_scored, each.n_planned)})",
                f"{series_class(index)} hm-line hm-dash-{index}",
                symbol_for(index),
                each.href,
            )
            for index, each in enumerate(drawn)
        ]
    )


def _notes(
    series: Sequence[RadarSeries],
    drawn: Sequence[RadarSeries],
    maximum: float,
    caption: str,
) -> list[Markup]:
    notes = [text(caption)] if caption else []
    parts = [f"Every axis runs from 0 in the centre to {maximum:g}; rings are percent of {maximum:g}."]
    if len(drawn) < len(series):
        parts.append(f"The drawing shows {len(drawn)} of {len(series)} series; the table has all.")
    if any(value is None for each in drawn for value in each.values):
        parts.append("A gap in an outline is a value that is missing, not zero.")
    if any(not each.complete for each in series):
        parts.append("* Not every planned task was scored.")
    return [*notes, text(" ".join(parts))]


def _table(series: Sequence[RadarSeries], axes: tuple[str, ...], maximum: float, caption: str) -> Markup:
    columns = [
        Column("Cell"),
        Column("Scored", numeric=True),
        *(Column(f"{axis} (of {maximum:g})", numeric=True) for axis in axes),
    ]
    rows = [
        [
            Entry(each.name, href=each.href),
            Entry(n_of_m(each.n_scored, each.n_planned), float(each.n_scored)),
            *(
                Entry(_shown(value, each.sure[place] if each.sure else ""), value)
                for place, value in enumerate(each.values)
            ),
        ]
        for each in series
    ]
    return data_table(columns, rows, caption=caption)


def _shown(value: float | None, sure: str) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.2f} ({sure})" if sure else f"{value:.2f}"
