"""Pareto: the cost-quality chart of a set of cells."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from generators.charts.chart import Chart
from generators.charts.legend import Key, legend
from generators.charts.pareto_figure import pareto_figure
from generators.charts.pareto_svg import named_marks, pareto_svg
from generators.charts.point import ParetoPlan, ParetoPoint, plan
from generators.charts.symbol import symbol_for
from generators.charts.table import Column, Entry, data_table
from generators.charts.wording import basis_colour, basis_name, dollars, n_of_m, probability, score_text
from generators.escape.characters import shortened
from generators.escape.html import text
from generators.escape.link import url

__all__ = ["ParetoPoint", "pareto_chart"]

_COLUMNS = (
    Column("No.", numeric=True),
    Column("Cell"),
    Column("Harness"),
    Column("Mean score", numeric=True),
    Column("Scored", numeric=True),
    Column("How sure the score is"),
    Column("Mean cost per task, USD", numeric=True),
    Column("How sure the cost is"),
    Column("Cost basis"),
    Column("Hosting"),
    Column("Frontier of its basis"),
    Column("P(frontier)", numeric=True),
)


def pareto_chart(
    points: Sequence[ParetoPoint], *, slug: str, title: str, scope: str, caption: str = "", subset: str = ""
) -> Chart:
    """Cost against quality, with a frontier inside each cost basis.

    Args:
        points: the cells; those without a known cost or score are listed, not drawn.
        slug: file name and anchor of the chart; it must hold harness, skill and dataset.
        scope: harness, skill and dataset in words.
        subset: what was left out, when the chart does not show all cells of its scope.
    """
    drawn = plan(points, slug=slug)
    shown = bool(drawn.marks)
    figure = pareto_figure(drawn, slug=slug, title=title, scope=scope, subset=subset) if shown else {}
    static = pareto_svg(drawn, title=title) if shown else _nothing()
    return Chart(
        slug=slug,
        kind="pareto",
        title=title,
        scope=scope,
        subset=subset,
        figure=figure or {"data": [], "layout": {}},
        static=static,
        legend=_legend(drawn) + _number_key(drawn) if shown else Markup(""),
        table=_table(drawn, f"{title}: {scope}"),
        notes=tuple(_notes(drawn, caption)),
        interactive=shown,
        scale=drawn.scale if drawn.log_possible else "",
    )


def _nothing() -> Markup:
    return Markup('<p class="hm-chart__empty">No cell of this chart has both a score and a cost.</p>')


def _legend(drawn: ParetoPlan) -> Markup:
    several = len(drawn.harnesses) > 1
    keys = []
    for index, basis in enumerate(drawn.bases):
        hostings = sorted({mark.point.hosting for mark in drawn.of_basis(basis) if mark.point.hosting})
        meaning = f"{basis_name(basis)} ({', '.join(hostings)})" if hostings else basis_name(basis)
        css = basis_colour(basis).removeprefix("--")
        keys.append(Key(meaning, css, "circle" if several else symbol_for(index)))
    if several:
        for index, harness in enumerate(drawn.harnesses):
            keys.append(Key(harness, "hm-neutral", symbol_for(index)))
    if any(not mark.point.on_basis_frontier for mark in drawn.marks):
        keys.append(Key("hollow: not on the frontier of its basis", "hm-neutral hm-off", "circle"))
    if any(mark.point.membership for mark in drawn.marks):
        keys.append(
            Key("arc: probability of being on that frontier, a full ring is certain", "hm-neutral hm-arc")
        )
    if any(len(drawn.basis_frontier(basis)) > 1 for basis in drawn.bases):
        keys.append(Key("frontier within one cost basis", "hm-neutral hm-frontier"))
    if len(drawn.combined_frontier()) > 1:
        keys.append(Key("across cost bases: directional only", "hm-combined"))
    return legend(keys)


def _number_key(drawn: ParetoPlan) -> Markup:
    items = Markup("").join(
        Markup('<li value="{}"><a href="{}">{}</a></li>').format(
            mark.number, url(mark.point.href), text(shortened(mark.point.name, 60))
        )
        for mark in named_marks(drawn)
    )
    return Markup('<ol class="hm-numbers">{}</ol>').format(items)


def _notes(drawn: ParetoPlan, caption: str) -> list[Markup]:
    notes = [text(caption)] if caption else []
    if drawn.marks:
        first = drawn.score_axis().low
        says = f"The score axis starts at {first:.0f}, not at 0. " if first > 0 else ""
        star = (
            "* Not every planned task was scored." if any(not m.point.complete for m in drawn.marks) else ""
        )
        if says or star:
            notes.append(text((says + star).strip()))
    if drawn.left_out:
        links = Markup(", ").join(
            Markup('<a href="{}">{}</a> ({})').format(
                url(point.href), text(point.name), text(_missing(point))
            )
            for _, point in drawn.left_out
        )
        notes.append(Markup("Not on the chart: {}.").format(links))
    return notes


def _missing(point: ParetoPoint) -> str:
    unknown = [name for name, value in (("cost", point.cost_usd), ("score", point.score)) if value is None]
    return " and ".join(unknown) + " unknown"


def _table(drawn: ParetoPlan, caption: str) -> Markup:
    numbered = [(mark.number, mark.point) for mark in drawn.marks] + list(drawn.left_out)
    return data_table(_COLUMNS, [_row(number, point) for number, point in numbered], caption=caption)


def _row(number: int, point: ParetoPoint) -> list[Entry]:
    return [
        Entry(str(number), float(number)),
        Entry(point.name, href=point.href),
        Entry(point.harness),
        Entry(score_text(point.score), point.score),
        Entry(n_of_m(point.n_scored, point.n_planned), float(point.n_scored)),
        Entry(point.score_sure),
        Entry(dollars(point.cost_usd), point.cost_usd),
        Entry(point.cost_sure),
        Entry(basis_name(point.basis)),
        Entry(point.hosting or "unknown"),
        Entry("yes" if point.on_basis_frontier else "no"),
        Entry(probability(point.membership), point.membership),
    ]
