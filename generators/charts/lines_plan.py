"""Lines plan: the lines, their places and axes, which every form of the chart shares."""

from __future__ import annotations

from dataclasses import dataclass

from generators.charts.axis import Axis, linear_axis
from generators.charts.wording import UNKNOWN


@dataclass(frozen=True)
class Line:
    """One line: its value at each place of the common axis; None where it is unknown, which breaks it."""

    label: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class LinesPlan:
    """What all forms of the chart draw: the places, the lines, and both axes.

    ``prefix`` stands before each value, as a dollar sign does; ``marked`` are places to point out, by what
    is to be said of them. ``names`` are what the places are called where their numbers only order them, such
    as days of runs.
    """

    places: tuple[float, ...]
    lines: tuple[Line, ...]
    across: str
    up: str
    prefix: str = ""
    marked: tuple[tuple[float, str], ...] = ()
    names: tuple[str, ...] = ()
    rests_on: str = ""
    """What values in dollars rest on, and the day of their prices."""

    @property
    def x_axis(self) -> Axis:
        """The axis of the places."""
        return linear_axis(self.places, floor=0.0)

    @property
    def y_axis(self) -> Axis:
        """The axis of the values, from 0 where none is negative."""
        known = [value for line in self.lines for value in line.values if value is not None]
        floor = 0.0 if min(known) >= 0 else None
        return linear_axis([*known, 0.0], floor=floor, least_span=1e-9)

    def place_text(self, index: int) -> str:
        """What the place with this index is called."""
        return self.names[index] if self.names else f"{self.places[index]:g}"

    def named_ticks(self, most: int) -> list[int]:
        """Indices of at most ``most`` named places, evenly spread, the first and the last among them."""
        last = len(self.names) - 1
        if last < most:
            return list(range(last + 1))
        return sorted({round(number * last / (most - 1)) for number in range(most)})

    def shown(self, value: float | None) -> str:
        """A value as the table and the hover box write it: four significant digits."""
        if value is None:
            return UNKNOWN
        digits = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        return f"{self.prefix}{digits}"
