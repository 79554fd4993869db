"""Frame: the size of a drawing and the plot area inside it."""

from __future__ import annotations

from dataclasses import dataclass

from generators.charts.axis import Axis
from generators.charts.label import Box


@dataclass(frozen=True)
class Frame:
    """Width and height of a drawing and its margins, in drawing units."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    @property
    def plot(self) -> Box:
        """The plot area."""
        return Box(self.left, self.top, self.width - self.right, self.height - self.bottom)

    def x(self, axis: Axis, value: float) -> float:
        """Where a value of the horizontal axis is drawn."""
        return self.plot.left + axis.at(value) * (self.plot.right - self.plot.left)

    def y(self, axis: Axis, value: float) -> float:
        """Where a value of the vertical axis is drawn."""
        return self.plot.bottom - axis.at(value) * (self.plot.bottom - self.plot.top)


WIDE = Frame(width=720, height=430, left=50, right=16, top=12, bottom=50)
NARROW = Frame(width=360, height=330, left=38, right=10, top=10, bottom=46)
