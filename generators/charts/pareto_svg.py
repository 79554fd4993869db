"""Pareto SVG: the static drawing of a cost-quality chart, one for wide and one for narrow pages."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from markupsafe import Markup

from generators.charts.axis import Axis, Scale
from generators.charts.frame import NARROW, WIDE, Frame
from generators.charts.label import Anchor, Box, PlacedLabel, place
from generators.charts.point import Mark, ParetoPlan
from generators.charts.svg import text_at
from generators.charts.symbol import path, short
from generators.charts.wording import basis_colour, tick_dollars
from generators.escape.characters import shortened
from generators.escape.html import attribute, text
from generators.escape.link import url

MAX_LINKED_POINTS = 24
LABEL_LIMIT = 28
FONT_SIZE = 12.0
RADIUS = 5.0
ARC_RADIUS = 8.5
FULL = 0.995
"""From this probability on the arc is a closed ring; below half a percent there is none."""


def pareto_svg(plan: ParetoPlan, *, title: str) -> Markup:
    """Both drawings; a style sheet shows the one that fits.

    In the wide one every point is a link with its name, unless there are more than 24: then the links are
    left to the table and only points on a frontier are named. The narrow one shows the numbers of the table.
    """
    linked = len(plan.marks) <= MAX_LINKED_POINTS
    return _drawing(plan, WIDE, title, linked=linked, named=True) + _drawing(
        plan, NARROW, title, linked=False, named=False
    )


def named_marks(plan: ParetoPlan) -> list[Mark]:
    """The marks that get a name or a number: all, or those on a frontier when there are more than 24."""
    if len(plan.marks) <= MAX_LINKED_POINTS:
        return list(plan.marks)
    return [mark for mark in plan.marks if _on_frontier(mark)]


def labels_at(plan: ParetoPlan, scale: Scale, *, named: bool) -> list[PlacedLabel]:
    """The labels of the wide (named) or narrow drawing at a scale; the interactive chart has the same."""
    return _labels(plan, WIDE if named else NARROW, plan.cost_axis(scale), named=named)


def _drawing(plan: ParetoPlan, frame: Frame, title: str, *, linked: bool, named: bool) -> Markup:
    cost = plan.cost_axis(plan.scale, 7 if named else 5)
    score = plan.score_axis()
    labels = _labels(plan, frame, cost, named=named)
    places = [(frame.x(cost, mark.cost), frame.y(score, mark.score)) for mark in plan.marks]
    marks = _links(plan, labels, places) if linked else _picture(plan, labels, places)
    role = "group" if linked else "img"
    return Markup(
        '<svg class="hm-svg hm-svg--{}" viewBox="0 0 {} {}" role="{}" aria-label="{}">{}{}{}</svg>'
    ).format(
        "wide" if named else "narrow",
        short(frame.width),
        short(frame.height),
        role,
        attribute(f"{title}: {len(plan.marks)} cells by cost and score"),
        _axes(frame, cost, score),
        _frontiers(plan, frame, cost, score) + _arcs(plan, places),
        marks,
    )


def _axes(frame: Frame, cost: Axis, score: Axis) -> Markup:
    plot = frame.plot
    lines, labels = [], []
    for tick in cost.ticks:
        x = short(frame.x(cost, tick))
        lines.append(f"M{x} {short(plot.top)}V{short(plot.bottom)}")
        labels.append(text_at(x, short(plot.bottom + 16), "hm-x", tick_dollars(tick)))
    for tick in score.ticks:
        y = frame.y(score, tick)
        lines.append(f"M{short(plot.left)} {short(y)}H{short(plot.right)}")
        labels.append(text_at(short(plot.left - 6), short(y + 4), "hm-y", f"{tick:g}"))
    scale = "log scale" if cost.scale == "log" else "linear scale"
    across = text_at(
        short((plot.left + plot.right) / 2),
        short(frame.height - 6),
        "hm-x hm-axis",
        f"Mean cost per task, USD ({scale})",
    )
    middle = short((plot.top + plot.bottom) / 2)
    up = Markup('<text class="hm-x hm-axis" transform="translate(12 {})rotate(-90)">Mean score</text>')
    return (
        Markup('<path class="hm-grid" d="{}"/>').format("".join(lines))
        + Markup("").join(labels)
        + across
        + up.format(middle)
    )


def _frontiers(plan: ParetoPlan, frame: Frame, cost: Axis, score: Axis) -> Markup:
    drawn = []
    combined = plan.combined_frontier()
    if len(combined) > 1:
        steps = _steps(combined, frame, cost, score)
        drawn.append(Markup('<path class="hm-combined" d="{}"/>').format(steps))
    for basis in plan.bases:
        frontier = plan.basis_frontier(basis)
        if len(frontier) > 1:
            css = basis_colour(basis).removeprefix("--")
            steps = _steps(frontier, frame, cost, score)
            drawn.append(Markup('<path class="hm-frontier {}" d="{}"/>').format(css, steps))
    return Markup("").join(drawn)


def _steps(marks: list[Mark], frame: Frame, cost: Axis, score: Axis) -> str:
    first, *rest = marks
    start = f"M{short(frame.x(cost, first.cost))} {short(frame.y(score, first.score))}"
    return start + "".join(
        f"H{short(frame.x(cost, mark.cost))}V{short(frame.y(score, mark.score))}" for mark in rest
    )


def _labels(plan: ParetoPlan, frame: Frame, cost: Axis, *, named: bool) -> list[PlacedLabel]:
    score = plan.score_axis()
    anchors = []
    for mark in plan.marks:
        name = shortened(mark.point.label, LABEL_LIMIT) + ("" if mark.point.complete else "*")
        number = str(mark.number)
        x, y = frame.x(cost, mark.cost), frame.y(score, mark.score)
        anchors.append(Anchor(x, y, name, number) if named else Anchor(x, y, number, number))
    order = sorted(range(len(anchors)), key=lambda index: not _on_frontier(plan.marks[index]))
    plot = frame.plot
    area = Box(plot.left + 2, plot.top - 6, frame.width - 2, plot.bottom - 2)
    named_numbers = {mark.number for mark in named_marks(plan)}
    anchors = [
        anchor if mark.number in named_numbers else replace(anchor, text="", fallback="")
        for mark, anchor in zip(plan.marks, anchors, strict=True)
    ]
    placed = place(
        [anchors[index] for index in order],
        area=area,
        font_size=FONT_SIZE,
        radius=ARC_RADIUS + 1 if _has_arcs(plan) else RADIUS + 1,
        lines=_line_boxes(plan, frame, cost, score),
    )
    by_index = dict(zip(order, placed, strict=True))
    return [by_index[index] for index in range(len(anchors))]


def _on_frontier(mark: Mark) -> bool:
    return mark.point.on_basis_frontier or mark.point.on_combined_frontier


def _line_boxes(plan: ParetoPlan, frame: Frame, cost: Axis, score: Axis) -> list[Box]:
    boxes = []
    for frontier in [plan.combined_frontier(), *(plan.basis_frontier(basis) for basis in plan.bases)]:
        for left, right in pairwise(frontier):
            x0, x1 = frame.x(cost, left.cost), frame.x(cost, right.cost)
            y0, y1 = frame.y(score, left.score), frame.y(score, right.score)
            boxes += [Box(x0, y0 - 1, x1, y0 + 1), Box(x1 - 1, min(y0, y1), x1 + 1, max(y0, y1))]
    return boxes


def _links(plan: ParetoPlan, labels: list[PlacedLabel], places: list[tuple[float, float]]) -> Markup:
    return Markup("").join(
        Markup('<a xlink:href="{}" role="link" aria-label="{}"><path class="{}" d="{}"/>{}</a>').format(
            url(mark.point.href),
            attribute(shortened(", ".join([mark.point.name, *mark.point.facts()]), 240)),
            _mark_class(mark),
            path(mark.symbol, x, y, RADIUS),
            _label(label),
        )
        for mark, label, (x, y) in zip(plan.marks, labels, places, strict=True)
    )


def _picture(plan: ParetoPlan, labels: list[PlacedLabel], places: list[tuple[float, float]]) -> Markup:
    outlines: dict[str, str] = {}
    for mark, (x, y) in zip(plan.marks, places, strict=True):
        css = _mark_class(mark)
        outlines[css] = outlines.get(css, "") + path(mark.symbol, x, y, RADIUS)
    drawn = [Markup('<path class="{}" d="{}"/>').format(css, data) for css, data in _frontier_last(outlines)]
    return Markup("").join([*drawn, *(_label(label) for label in labels)])


def _has_arcs(plan: ParetoPlan) -> bool:
    return any(mark.point.membership for mark in plan.marks)


def _arcs(plan: ParetoPlan, places: list[tuple[float, float]]) -> Markup:
    """Around each mark an arc from twelve o'clock, as long as its probability of being on the frontier."""
    outlines: dict[str, str] = {}
    for mark, (x, y) in zip(plan.marks, places, strict=True):
        css = basis_colour(mark.point.basis).removeprefix("--")
        outlines[css] = outlines.get(css, "") + _arc(x, y, mark.point.membership or 0.0)
    return Markup("").join(
        Markup('<path class="{} hm-arc" d="{}"/>').format(css, data) for css, data in outlines.items() if data
    )


def _arc(x: float, y: float, share: float) -> str:
    if share < 1 - FULL:
        return ""
    radius, top = short(ARC_RADIUS), y - ARC_RADIUS
    if share >= FULL:
        half = f"A{radius} {radius} 0 1 1"
        return (
            f"M{short(x)} {short(top)}{half} {short(x)} {short(y + ARC_RADIUS)}{half} {short(x)} {short(top)}"
        )
    angle = 2 * math.pi * share
    end = f"{short(x + ARC_RADIUS * math.sin(angle))} {short(y - ARC_RADIUS * math.cos(angle))}"
    return f"M{short(x)} {short(top)}A{radius} {radius} 0 {int(share > 0.5)} 1 {end}"


def _frontier_last(outlines: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(outlines.items(), key=lambda outline: (not outline[0].endswith("hm-off"), outline[0]))


def _mark_class(mark: Mark) -> str:
    css = basis_colour(mark.point.basis).removeprefix("--")
    return css if mark.point.on_basis_frontier else f"{css} hm-off"


def _label(label: PlacedLabel) -> Markup:
    if not label.text:
        return Markup("")
    horizontal = label.position.split()[1]
    x = {"right": label.box.left, "left": label.box.right}.get(
        horizontal, (label.box.left + label.box.right) / 2
    )
    css = {"right": "", "left": " hm-y"}.get(horizontal, " hm-x")
    return Markup('<text class="hm-label{}" x="{}" y="{}">{}</text>').format(
        css, short(x), short(label.box.bottom - FONT_SIZE * 0.25), text(label.text)
    )
