"""Difference: one mean difference with its interval, beside zero and the margin within which it is a tie.

The script compare.js draws the same in the browser; a test holds the two drawings together.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from generators.charts.axis import Axis
from generators.charts.frame import Frame
from generators.charts.svg import text_at
from generators.charts.symbol import path, short
from generators.escape.html import attribute

REACHES = (10.0, 20.0, 40.0, 60.0, 100.0)
RADIUS = 5.0
HEIGHT = 84.0
ACROSS = "the first minus the second, points; shaded: a tie"


@dataclass(frozen=True)
class Difference:
    """A mean difference; without ends there is no interval, without an estimate nothing to draw."""

    estimate: float | None
    lower: float | None
    upper: float | None
    margin: float


def difference_svg(difference: Difference) -> Markup:
    """The drawing, wide and narrow; zero lies in the middle. Empty without an estimate."""
    if difference.estimate is None:
        return Markup("")
    return Markup("").join(_drawing(difference, kind) for kind in ("wide", "narrow"))


def reach_of(difference: Difference) -> float:
    """How far the scale goes to either side: the nearest of a few round numbers that holds all."""
    values = (difference.estimate, difference.lower, difference.upper, difference.margin)
    farthest = max(abs(value) for value in values if value is not None)
    return next((reach for reach in REACHES if reach >= farthest), REACHES[-1])


def _drawing(difference: Difference, kind: str) -> Markup:
    width = 720.0 if kind == "wide" else 360.0
    frame = Frame(width, HEIGHT, 24, 24, 6, 46)
    reach = reach_of(difference)
    axis = Axis("linear", -reach, reach, (-reach, -reach / 2, 0.0, reach / 2, reach))
    plot, y = frame.plot, 22.0
    grid = "".join(
        f"M{short(frame.x(axis, tick))} {short(plot.top)}V{short(plot.bottom)}" for tick in axis.ticks
    )
    band = (
        f"M{short(frame.x(axis, -difference.margin))} {short(plot.top)}"
        f"H{short(frame.x(axis, difference.margin))}V{short(plot.bottom)}"
        f"H{short(frame.x(axis, -difference.margin))}z"
    )
    labels = [
        text_at(short(frame.x(axis, tick)), short(plot.bottom + 16), "hm-x", _signed(tick))
        for tick in axis.ticks
    ]
    line = ""
    if difference.lower is not None and difference.upper is not None:
        ends = [
            short(frame.x(axis, max(-reach, min(reach, end)))) for end in (difference.lower, difference.upper)
        ]
        line = "".join(f"M{end} {short(y - 6)}V{short(y + 6)}" for end in ends)
        line += f"M{ends[0]} {short(y)}H{ends[1]}"
    dot = path("diamond", frame.x(axis, difference.estimate or 0.0), y, RADIUS)
    return Markup(
        '<svg class="hm-svg hm-svg--{}" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<path class="hm-band" d="{}"/><path class="hm-grid" d="{}"/>'
        '<path class="hm-series-2 hm-line" d="{}"/><path class="hm-series-2" d="{}"/>{}{}</svg>'
    ).format(
        kind,
        short(frame.width),
        short(frame.height),
        attribute("Mean difference with its 95 % interval; the shaded stretch is a tie"),
        band,
        grid,
        line,
        dot,
        Markup("").join(labels),
        text_at(short(width / 2), short(HEIGHT - 6), "hm-x hm-axis", ACROSS),
    )


def _signed(tick: float) -> str:
    return f"{'+' if tick > 0 else '−' if tick < 0 else ''}{abs(tick):g}"
