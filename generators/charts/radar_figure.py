"""Radar figure: the interactive form of a quality profile, as plain Plotly JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from generators.charts.palette import LIGHT
from generators.charts.series import DASHES, RadarSeries, series_variable, value_text
from generators.charts.symbol import symbol_for
from generators.charts.wording import n_of_m
from generators.escape.html import Json, plotly_text
from generators.escape.link import url


def radar_figure(
    series: Sequence[RadarSeries],
    *,
    axes: tuple[str, ...],
    maximum: float,
    slug: str,
    title: str,
    scope: str,
    subset: str,
) -> dict[str, Json]:
    """Traces and layout. Axes are angles with names as ticks, so that two axes of one name stay apart."""
    angles = [round(360 * index / len(axes), 4) for index in range(len(axes))]
    rings = [maximum * share for share in (0.25, 0.5, 0.75, 1.0)]
    return {
        "data": [_outline(index, each, axes, angles, maximum) for index, each in enumerate(series)],
        "layout": {
            "showlegend": False,
            "hovermode": "closest",
            "margin": {"l": 82, "r": 82, "t": 42, "b": 42},
            "polar": {
                "angularaxis": {
                    "direction": "clockwise",
                    "rotation": 90,
                    "tickmode": "array",
                    "tickvals": angles,
                    "ticktext": [_wrapped(axis) for axis in axes],
                },
                "radialaxis": {
                    "range": [0, maximum],
                    "angle": round(90 + 180 / len(axes), 4),
                    "tickangle": round(90 + 180 / len(axes), 4),
                    "tickfont": {"size": 10},
                    "tickmode": "array",
                    "tickvals": rings,
                    "ticktext": ["25%", "50%", "75%", "100%"],
                    "showline": False,
                },
            },
            "meta": {
                "kind": "radar",
                "slug": slug,
                "title": plotly_text(title),
                "scope": plotly_text(scope),
                "subset": plotly_text(subset),
                "axes": [plotly_text(axis) for axis in axes],
                "maximum": maximum,
            },
        },
    }


def _outline(
    index: int, series: RadarSeries, axes: tuple[str, ...], angles: list[float], maximum: float
) -> dict[str, Json]:
    variable = series_variable(index)
    around = [*range(len(axes)), 0]
    scored = n_of_m(series.n_scored, series.n_planned)
    return {
        "type": "scatterpolar",
        "mode": "lines+markers",
        "name": plotly_text(series.name, 80),
        "r": [series.values[number] for number in around],
        "theta": [angles[number] for number in around],
        "connectgaps": False,
        "fill": "none",
        "hoverinfo": "text",
        "hovertext": [
            f"<b>{plotly_text(series.name, 80)}</b><br>{plotly_text(axes[number], 80)}: "
            f"{value_text(series.values[number], maximum)}<br>{scored}"
            for number in around
        ],
        "customdata": [str(url(series.href).unescape())] * len(around),
        "line": {"width": 2, "dash": DASHES[index], "color": LIGHT[variable]},
        "marker": {"size": 7, "symbol": symbol_for(index), "color": LIGHT[variable]},
        "meta": {"colour": variable},
    }


def _wrapped(axis: str) -> str:
    lines = textwrap.wrap(axis, 14)[:3] or [""]
    return "<br>".join(plotly_text(line) for line in lines)
