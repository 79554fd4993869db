"""Axis: a padded range with round ticks, linear or logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Scale = Literal["linear", "log"]

LOG_FROM_RATIO = 10.0
_PADDING = 0.09
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Axis:
    """A range of values in the data's own unit and the ticks inside it.

    `low` and `high` are data values, on a logarithmic axis too; `at` gives the share of the way between them.
    """

    scale: Scale
    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Where a value lies between low (0.0) and high (1.0)."""
        low, high, here = (self._measure(each) for each in (self.low, self.high, value))
        return (here - low) / (high - low)

    def value_at(self, share: float) -> float:
        """The value that lies at a share of the way: the inverse of `at`."""
        low, high = self._measure(self.low), self._measure(self.high)
        there = low + share * (high - low)
        return float(10**there) if self.scale == "log" else there

    def plotly_range(self) -> list[float]:
        """The range as Plotly wants it: exponents of ten on a logarithmic axis."""
        return [round(self._measure(self.low), 6), round(self._measure(self.high), 6)]

    def _measure(self, value: float) -> float:
        return math.log10(value) if self.scale == "log" else value


def linear_axis(
    values: Sequence[float],
    *,
    floor: float | None = None,
    ceiling: float | None = None,
    least_span: float = 1.0,
    wanted_ticks: int = 6,
) -> Axis:
    """An axis around the data, padded on both sides, not reaching beyond floor and ceiling."""
    lowest, highest = min(values), max(values)
    span = max(highest - lowest, least_span)
    middle = (lowest + highest) / 2
    low, high = middle - span * (0.5 + _PADDING), middle + span * (0.5 + _PADDING)
    if floor is not None and low < floor:
        low = floor - span * 0.02
    if ceiling is not None and high > ceiling:
        high = ceiling + span * 0.02
    step = _round_step((high - low) / wanted_ticks)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    ticks = tuple(round(index * step, 10) for index in range(first, last + 1))
    return Axis("linear", low, high, ticks)


def log_axis(values: Sequence[float], *, wanted_ticks: int = 7) -> Axis:
    """A logarithmic axis around positive data, with ticks at 1, 2 and 5 times powers of ten if they fit."""
    lowest, highest = math.log10(min(values)), math.log10(max(values))
    span = max(highest - lowest, 0.3)
    middle = (lowest + highest) / 2
    low, high = middle - span * (0.5 + _PADDING), middle + span * (0.5 + _PADDING)
    exponents = range(math.floor(low), math.ceil(high) + 1)
    ticks: tuple[float, ...] = ()
    for digits in ((1, 2, 5), (1, 3), (1,)):
        ticks = tuple(
            float(f"{digit}e{exponent}")
            for exponent in exponents
            for digit in digits
            if low <= math.log10(digit) + exponent <= high
        )
        if len(ticks) <= wanted_ticks:
            break
    return Axis("log", float(10**low), float(10**high), ticks)


def cost_scale(values: Sequence[float]) -> Scale:
    """Logarithmic when costs span more than a factor of ten and none is zero, else linear."""
    lowest, highest = min(values), max(values)
    return "log" if lowest > 0 and highest / lowest > LOG_FROM_RATIO else "linear"


def _round_step(raw: float) -> float:
    power = float(10 ** math.floor(math.log10(raw)))
    return next(step * power for step in _STEPS if step * power >= raw * 0.999)
