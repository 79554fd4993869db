"""SVG: what static drawings share: a text at a place, and the frame around grid, marks and labels."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from generators.charts.frame import Frame
from generators.charts.symbol import short
from generators.escape.html import attribute, text


def text_at(x: str, y: str, css: str, content: str) -> Markup:
    """A text of a class of the style sheet; ``x`` and ``y`` are coordinates as written."""
    return Markup('<text class="{}" x="{}" y="{}">{}</text>').format(css, x, y, text(content))


def rows_drawing(
    kind: str,
    frame: Frame,
    spoken: str,
    grid: Sequence[str],
    marks: Sequence[Markup],
    labels: Sequence[Markup],
) -> Markup:
    """A drawing of rows: its grid as path data, its marks, and its labels on top.

    Args:
        kind: ``wide`` or ``narrow``, for the page width that it serves.
        spoken: what a screen reader says of it.
    """
    return Markup(
        '<svg class="hm-svg hm-svg--{}" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<path class="hm-grid" d="{}"/>{}{}</svg>'
    ).format(
        kind,
        short(frame.width),
        short(frame.height),
        attribute(spoken),
        "".join(grid),
        Markup("").join(marks),
        Markup("").join(labels),
    )
