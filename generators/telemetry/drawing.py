"""Drawing: a panel as inline SVG that stretches with the page, its labels as text beside it.

The drawing is 1000 wide and 1000 high whatever the panel measures, so that showing a part of the time is
showing a part of the drawing; lines keep their width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from generators.charts.axis import Axis, linear_axis
from generators.escape.html import attribute, text
from generators.telemetry.bins import Points
from generators.telemetry.panels import Panel

SIDE = 1000.0
TIME_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
TIME_TICKS = 5


@dataclass(frozen=True)
class Label:
    """A text beside an axis, and its place on it: 0 to 100 from the left or from the top."""

    words: str
    place: float


@dataclass(frozen=True)
class Drawing:
    """A drawn panel."""

    svg: Markup
    values: tuple[Label, ...]
    times: tuple[Label, ...]
    low: float
    high: float


def draw(panel: Panel, middles: Sequence[float], span: float) -> Drawing | None:
    """``panel`` over the times ``middles`` (seconds after the begin); None where nothing is known."""
    known = [value for line in panel.lines for value in line.points if value is not None]
    if not known:
        return None
    axis = _axis(known, panel.ceiling)
    grid = Markup("").join(
        Markup('<path class="grid" d="M0 {0}H1000"/>').format(_short(_height(tick, axis)))
        for tick in axis.ticks
    )
    times = _time_labels(span)
    grid += Markup("").join(
        Markup('<path class="grid" d="M{0} 0V1000"/>').format(_short(label.place * 10)) for label in times
    )
    lines = Markup("").join(
        Markup('<path class="line line-{0}" d="{1}"/>').format(index, _path(line.points, middles, span, axis))
        for index, line in enumerate(panel.lines)
    )
    names = ", ".join(line.name for line in panel.lines)
    svg = Markup(
        '<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img" aria-label="{0}">{1}{2}</svg>'
    ).format(attribute(f"{panel.title} in {panel.unit} over time: {names}"), grid, lines)
    values = tuple(Label(number(tick), _height(tick, axis) / 10) for tick in axis.ticks)
    return Drawing(svg, values, times, axis.low, axis.high)


def number(value: float, digits: int | None = None) -> str:
    """A value as people read it, with commas; few digits where none are asked for."""
    if digits is not None:
        return f"{value:,.{digits}f}"
    if value and abs(value) < 1:
        return f"{value:.3g}"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def moment(seconds: float) -> str:
    """Time since the begin: ``40 s``, ``3:20`` or ``2:03:20``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def legend(panel: Panel) -> Markup:
    """Names of the lines where there are several."""
    if len(panel.lines) < 2:
        return Markup("")
    return Markup("").join(
        Markup('<span class="key key-{0}">{1}</span>').format(index, text(line.name))
        for index, line in enumerate(panel.lines)
    )


def _axis(known: Sequence[float], ceiling: float | None) -> Axis:
    highest = max(known)
    top = highest if highest > 0 else 1.0
    axis = linear_axis([0.0, top], floor=0.0, ceiling=ceiling, least_span=top * 1e-6, wanted_ticks=4)
    return Axis("linear", 0.0, axis.high, tuple(tick for tick in axis.ticks if tick >= 0))


def _height(value: float, axis: Axis) -> float:
    return SIDE * (1 - axis.at(value))


def _path(points: Points, middles: Sequence[float], span: float, axis: Axis) -> str:
    return "".join(_strokes(points, middles, span, axis))


def _strokes(points: Points, middles: Sequence[float], span: float, axis: Axis) -> Iterator[str]:
    pen_is_down = False
    padded = [*zip(middles, points, strict=True), (0.0, None)]
    for (at, value), (_, following) in pairwise(padded):
        if value is None:
            pen_is_down = False
            continue
        place = f"{_short(at / span * SIDE)} {_short(_height(value, axis))}"
        yield f"{'L' if pen_is_down else 'M'}{place}"
        if not pen_is_down and following is None:
            # A point alone is a line of no length, drawn as a dot by its round ends.
            yield f"L{place}"
        pen_is_down = True


def _time_labels(span: float) -> tuple[Label, ...]:
    step = next((each for each in TIME_STEPS if span / each <= TIME_TICKS), TIME_STEPS[-1])
    step *= max(1, math.ceil(span / step / TIME_TICKS))
    return tuple(
        Label(moment(index * step), index * step / span * 100) for index in range(math.floor(span / step) + 1)
    )


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
