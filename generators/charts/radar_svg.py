"""Radar SVG: the static drawing of a quality profile."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from markupsafe import Markup

from generators.charts.series import RadarSeries, series_class
from generators.charts.symbol import path, short, symbol_for
from generators.escape.characters import shortened
from generators.escape.html import attribute, text
from generators.escape.link import url

WIDTH, HEIGHT = 400.0, 280.0
CENTRE = (200.0, 140.0)
RADIUS = 98.0
RINGS = (0.25, 0.5, 0.75, 1.0)
_LINE_HEIGHT = 13.0
_CHARACTER_WIDTH = 6.4


def radar_svg(series: Sequence[RadarSeries], *, axes: tuple[str, ...], maximum: float, title: str) -> Markup:
    """Rings, spokes and one outline per series; each outline is a link."""
    outlines = Markup("").join(_outline(index, each, axes, maximum) for index, each in enumerate(series))
    return Markup(
        '<svg class="hm-svg hm-svg--radar" viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}</svg>'
    ).format(short(WIDTH), short(HEIGHT), attribute(f"{title}: {len(series)} profiles"), _web(axes), outlines)


def corner(index: int, count: int, share: float) -> tuple[float, float]:
    """Where a share of the maximum lies on the n-th of `count` spokes, clockwise from the top."""
    angle = 2 * math.pi * index / count - math.pi / 2
    return CENTRE[0] + RADIUS * share * math.cos(angle), CENTRE[1] + RADIUS * share * math.sin(angle)


def runs(values: Sequence[float | None]) -> list[list[int]]:
    """Unbroken stretches of known values around the circle, as indices; a full circle ends at its start."""
    count = len(values)
    missing = [index for index, value in enumerate(values) if value is None]
    if not missing:
        return [[*range(count), 0]]
    found: list[list[int]] = [[]]
    for step in range(1, count + 1):
        index = (missing[0] + step) % count
        if values[index] is None:
            found.append([])
        else:
            found[-1].append(index)
    return [stretch for stretch in found if stretch]


def _web(axes: tuple[str, ...]) -> Markup:
    count = len(axes)
    lines = [path("circle", *CENTRE, RADIUS * share) for share in RINGS]
    lines += [_polygon([CENTRE, corner(index, count, 1.0)]) for index in range(count)]
    names = Markup("").join(_axis_name(index, count, name) for index, name in enumerate(axes))
    # Between the last spoke and the first one, where no outline has a corner.
    beside = [corner(2 * count - 1, 2 * count, share) for share in RINGS]
    rings = Markup("").join(
        Markup('<text class="hm-ring hm-x" x="{}" y="{}">{}</text>').format(
            short(x), short(y + 3), f"{share:.0%}"
        )
        for share, (x, y) in zip(RINGS, beside, strict=True)
    )
    return Markup('<path class="hm-grid" d="{}"/>').format("".join(lines)) + names + rings


def _axis_name(index: int, count: int, name: str) -> Markup:
    x, y = corner(index, count, 1.0 + 10 / RADIUS)
    across = x - CENTRE[0]
    room = min(x, WIDTH - x) if abs(across) > 8 else CENTRE[0]
    lines = textwrap.wrap(shortened(name, 40), max(int(room / _CHARACTER_WIDTH), 4))[:3] or [""]
    css = "hm-x" if abs(across) < 8 else ("hm-y" if across < 0 else "")
    height = _LINE_HEIGHT * len(lines)
    above_or_below = y - height + 10 if y < CENTRE[1] else y + 6
    top = above_or_below if abs(across) < 8 else y - height / 2 + 10
    spans = Markup("").join(
        Markup('<tspan x="{}" y="{}">{}</tspan>').format(
            short(x), short(top + number * _LINE_HEIGHT), text(line)
        )
        for number, line in enumerate(lines)
    )
    return Markup('<text class="hm-axis {}">{}</text>').format(css, spans)


def _outline(index: int, series: RadarSeries, axes: tuple[str, ...], maximum: float) -> Markup:
    count = len(axes)
    corners = [corner(number, count, (value or 0.0) / maximum) for number, value in enumerate(series.values)]
    lines = "".join(
        _polygon([corners[number] for number in stretch]) for stretch in runs(series.values) if stretch[1:]
    )
    marks = "".join(
        path(symbol_for(index), *corners[number], 3.5)
        for number, value in enumerate(series.values)
        if value is not None
    )
    css = series_class(index)
    return Markup(
        '<a xlink:href="{}" role="link" aria-label="{}"><path class="hm-line hm-dash-{} {}" d="{}"/>'
        '<path class="{}" d="{}"/></a>'
    ).format(
        url(series.href),
        attribute(shortened(series.spoken(axes, maximum), 400)),
        index,
        css,
        lines,
        css,
        marks,
    )


def _polygon(corners: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{short(x)} {short(y)}" for x, y in corners)
