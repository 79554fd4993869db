"""Lines figure: the interactive form of lines along one axis, as plain Plotly JSON."""

from __future__ import annotations

from generators.charts.lines_plan import Line, LinesPlan
from generators.charts.palette import LIGHT
from generators.charts.series import DASHES, series_variable
from generators.charts.symbol import symbol_for
from generators.escape.html import Json, plotly_text

NAMED_TICKS = 5
BETWEEN = "#808080"
"""Grey that stands out from light and dark paper alike."""


def lines_figure(plan: LinesPlan, *, slug: str, title: str, scope: str) -> dict[str, Json]:
    """Traces and layout. What the script needs besides Plotly stands in the `meta` of trace and layout."""
    return {
        "data": [_trace(plan, index, line) for index, line in enumerate(plan.lines)],
        "layout": {
            "showlegend": False,
            "hovermode": "x",
            "shapes": [_line_at(place) for place, _ in plan.marked],
            "annotations": [_word_at(place, says) for place, says in plan.marked],
            "margin": {"l": 66, "r": 16, "t": 12, "b": 50},
            "xaxis": {
                "title": {"text": plotly_text(plan.across)},
                "range": plan.x_axis.plotly_range(),
                **_ticks(plan),
                "zeroline": False,
            },
            "yaxis": {
                "title": {"text": plotly_text(plan.up)},
                "range": plan.y_axis.plotly_range(),
                "tickprefix": plan.prefix,
                "zeroline": False,
            },
            "meta": {
                "kind": "lines",
                "slug": slug,
                "title": plotly_text(title),
                "scope": plotly_text(scope),
                "subset": "",
            },
        },
    }


def _line_at(place: float) -> dict[str, Json]:
    line: dict[str, Json] = {"color": BETWEEN, "width": 1.5, "dash": "dash"}
    return {"type": "line", "x0": place, "x1": place, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def _word_at(place: float, says: str) -> dict[str, Json]:
    return {
        "x": place,
        "yref": "paper",
        "y": 1,
        "yanchor": "top",
        "text": plotly_text(says),
        "showarrow": False,
    }


def _ticks(plan: LinesPlan) -> dict[str, Json]:
    if not plan.names:
        return {"tickvals": list(plan.x_axis.ticks)}
    chosen = plan.named_ticks(NAMED_TICKS)
    return {
        "tickvals": [plan.places[index] for index in chosen],
        "ticktext": [plotly_text(plan.names[index]) for index in chosen],
    }


def _trace(plan: LinesPlan, index: int, line: Line) -> dict[str, Json]:
    variable = series_variable(index)
    label = plotly_text(line.label, 80)
    rests_on = f" ({plan.rests_on})" if plan.rests_on else ""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label,
        "x": list(plan.places),
        "y": list(line.values),
        "connectgaps": False,
        "hoverinfo": "text",
        "hovertext": [
            f"<b>{label}</b><br>{plotly_text(plan.across)} {plotly_text(plan.place_text(place))}: "
            f"{plotly_text(plan.shown(value))}{plotly_text(rests_on)}"
            for place, value in enumerate(line.values)
        ],
        "line": {"width": 2, "dash": DASHES[index], "color": LIGHT[variable]},
        "marker": {"size": 8, "symbol": symbol_for(index), "color": LIGHT[variable]},
        "meta": {"colour": variable},
    }
