"""Labels: places beside points where text covers neither points nor other text, and is not cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

POSITIONS = (
    "middle right",
    "top center",
    "bottom center",
    "middle left",
    "top right",
    "bottom right",
    "top left",
    "bottom left",
)
"""Names as Plotly knows them, the most readable first."""

_CHARACTER_WIDTH = 0.58
_CROSSING_COST = 3.0
_GAP = 4.0


@dataclass(frozen=True)
class Box:
    """A rectangle in drawing units; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share any area."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        """Whether this one lies wholly inside the other."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


@dataclass(frozen=True)
class Anchor:
    """A point to be labelled: where it lies, the wanted text and a shorter one to fall back on."""

    x: float
    y: float
    text: str
    fallback: str


@dataclass(frozen=True)
class PlacedLabel:
    """The text that fits, possibly none, and its position relative to the point."""

    text: str
    position: str
    box: Box


def place(
    anchors: Sequence[Anchor], *, area: Box, font_size: float, radius: float, lines: Sequence[Box] = ()
) -> list[PlacedLabel]:
    """One label per anchor, in the given order; earlier anchors choose first.

    `lines` are boxes of drawn line segments: a label may cross them when nothing better is free.
    """
    points = [Box(each.x - radius, each.y - radius, each.x + radius, each.y + radius) for each in anchors]
    taken: list[Box] = []
    placed: list[PlacedLabel] = []
    for index, anchor in enumerate(anchors):
        others = [box for number, box in enumerate(points) if number != index]
        label = _best(anchor, [*others, *taken], area, font_size, radius, lines)
        if label.text:
            taken.append(label.box)
        placed.append(label)
    return placed


def text_width(text: str, font_size: float) -> float:
    """A safe estimate of how wide a text is drawn, for fonts the page does not choose."""
    return len(text) * font_size * _CHARACTER_WIDTH


def _best(
    anchor: Anchor, blocked: list[Box], area: Box, font_size: float, radius: float, lines: Sequence[Box]
) -> PlacedLabel:
    for text in filter(None, (anchor.text, anchor.fallback)):
        best: tuple[float, str, Box] | None = None
        for rank, position in enumerate(POSITIONS):
            box = label_box(anchor.x, anchor.y, text, position, font_size, radius)
            if not box.within(area) or any(box.overlaps(other) for other in blocked):
                continue
            penalty = rank * 0.5 + _CROSSING_COST * sum(box.overlaps(line) for line in lines)
            if best is None or penalty < best[0]:
                best = (penalty, position, box)
        if best is not None:
            return PlacedLabel(text, best[1], best[2])
    return PlacedLabel("", POSITIONS[0], Box(anchor.x, anchor.y, anchor.x, anchor.y))


def label_box(x: float, y: float, text: str, position: str, font_size: float, radius: float) -> Box:
    """The rectangle a text takes in one of the eight positions around a point."""
    width, height = text_width(text, font_size), font_size * 1.1
    vertical, horizontal = position.split()
    beside = radius + (_GAP if vertical == "middle" else 1.0)
    left = {"right": x + beside, "left": x - beside - width, "center": x - width / 2}[horizontal]
    below = radius + (_GAP - 1.0 if horizontal == "center" else 0.0)
    top = {"top": y - below - height, "bottom": y + below, "middle": y - height / 2}[vertical]
    return Box(left, top, left + width, top + height)
