"""Pareto figure: the interactive form of a cost-quality chart, as plain Plotly JSON."""

from __future__ import annotations

from generators.charts.axis import Scale
from generators.charts.palette import LIGHT
from generators.charts.pareto_svg import labels_at
from generators.charts.point import Mark, ParetoPlan
from generators.charts.wording import basis_colour, basis_name
from generators.escape.html import Json, plotly_text
from generators.escape.link import url


def pareto_figure(plan: ParetoPlan, *, slug: str, title: str, scope: str, subset: str) -> dict[str, Json]:
    """Traces and layout. What the script needs besides Plotly stands in the `meta` of trace and layout.

    Colours are those of the light scheme; `meta.colour` names the CSS variable the script replaces them by.
    """
    scales: list[Scale] = ["linear", "log"] if plan.log_possible else ["linear"]
    lines = [_combined(plan)] + [_frontier(plan, basis) for basis in plan.bases]
    points = [_points(plan, basis, scales) for basis in plan.bases]
    return {
        "data": [trace for trace in [*lines, *points] if trace],
        "layout": {
            "showlegend": False,
            "hovermode": "closest",
            "margin": {"l": 50, "r": 16, "t": 12, "b": 50},
            "xaxis": {
                "title": {"text": "Mean cost per task, USD"},
                "type": plan.scale,
                "range": plan.cost_axis(plan.scale).plotly_range(),
                "tickprefix": "$",
                "tickformat": "~f",
                "zeroline": False,
            },
            "yaxis": {
                "title": {"text": "Mean score"},
                "range": plan.score_axis().plotly_range(),
                "zeroline": False,
            },
            "meta": {
                "kind": "pareto",
                "slug": slug,
                "title": plotly_text(title),
                "scope": plotly_text(scope),
                "subset": plotly_text(subset),
                "ranges": {scale: plan.cost_axis(scale).plotly_range() for scale in scales},
            },
        },
    }


def _points(plan: ParetoPlan, basis: str, scales: list[Scale]) -> dict[str, Json]:
    marks = plan.of_basis(basis)
    variable = basis_colour(basis)
    colour = LIGHT[variable]
    labels = {scale: _labels(plan, marks, scale, named=True) for scale in scales}
    numbers = {scale: _labels(plan, marks, scale, named=False) for scale in scales}
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": plotly_text(basis_name(basis)),
        "x": [mark.cost for mark in marks],
        "y": [mark.score for mark in marks],
        "text": [text for text, _ in labels[plan.scale]],
        "textposition": [position for _, position in labels[plan.scale]],
        "hovertext": [_hover(mark) for mark in marks],
        "hoverinfo": "text",
        "customdata": [str(url(mark.point.href).unescape()) for mark in marks],
        "marker": {
            "size": 11,
            "symbol": [_symbol(mark) for mark in marks],
            "color": colour,
            "line": {"width": 2, "color": colour},
        },
        "meta": {
            "colour": variable,
            "wide": {scale: _sparse(labels[scale]) for scale in scales},
            "narrow": {scale: _sparse(numbers[scale]) for scale in scales},
        },
    }


def _labels(plan: ParetoPlan, marks: list[Mark], scale: Scale, *, named: bool) -> list[tuple[str, str]]:
    placed = dict(zip([mark.number for mark in plan.marks], labels_at(plan, scale, named=named), strict=True))
    return [(plotly_text(placed[mark.number].text), placed[mark.number].position) for mark in marks]


def _sparse(labels: list[tuple[str, str]]) -> dict[str, Json]:
    return {str(index): [text, where] for index, (text, where) in enumerate(labels) if text}


def _symbol(mark: Mark) -> str:
    return mark.symbol if mark.point.on_basis_frontier else f"{mark.symbol}-open"


def _hover(mark: Mark) -> str:
    facts = [plotly_text(fact) for fact in mark.point.facts()]
    name = f"<b>{mark.number}. {plotly_text(mark.point.name, 80)}</b>"
    return "<br>".join([name, plotly_text(f"harness {mark.point.harness}"), *facts])


def _frontier(plan: ParetoPlan, basis: str) -> dict[str, Json]:
    variable = basis_colour(basis)
    return _line(plan.basis_frontier(basis), f"frontier, {basis_name(basis)}", variable, "solid")


def _combined(plan: ParetoPlan) -> dict[str, Json]:
    return _line(
        plan.combined_frontier(), "across cost bases, directional", "--hm-combined", "5px,4px", width=6
    )


def _line(marks: list[Mark], name: str, variable: str, dash: str, width: int = 2) -> dict[str, Json]:
    if len(marks) < 2:
        return {}
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plotly_text(name),
        "x": [mark.cost for mark in marks],
        "y": [mark.score for mark in marks],
        "hoverinfo": "skip",
        "line": {"shape": "hv", "width": width, "dash": dash, "color": LIGHT[variable]},
        "meta": {"colour": variable},
    }
