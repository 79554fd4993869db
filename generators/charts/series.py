"""Series of a radar: one cell's profile."""

from __future__ import annotations

from dataclasses import dataclass

from generators.charts.wording import UNKNOWN, n_of_m

MAX_SERIES = 4

DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True)
class RadarSeries:
    """One outline: a value per axis (None: unknown) and how many of the planned tasks it rests on."""

    label: str
    href: str
    values: tuple[float | None, ...]
    n_scored: int
    n_planned: int
    sure: tuple[str, ...] = ()
    """How sure each value is; empty where nothing is said of it."""

    @property
    def complete(self) -> bool:
        """Whether every planned task was scored."""
        return self.n_scored >= self.n_planned

    @property
    def name(self) -> str:
        """The label, with a star when tasks are missing."""
        return self.label if self.complete else f"{self.label}*"

    def spoken(self, axes: tuple[str, ...], maximum: float) -> str:
        """The series as a screen reader says it."""
        values = (
            f"{axis} {value_text(value, maximum)}" for axis, value in zip(axes, self.values, strict=True)
        )
        return f"{self.name} ({n_of_m(self.n_scored, self.n_planned)}): {', '.join(values)}"


def value_text(value: float | None, maximum: float) -> str:
    """A value with its maximum, and as a percentage unless the maximum is 100."""
    if value is None:
        return UNKNOWN
    share = "" if maximum == 100 else f" ({100 * value / maximum:.1f} %)"
    return f"{value:.2f} of {maximum:g}{share}"


def series_variable(index: int) -> str:
    """The CSS variable that colours the n-th series."""
    return f"--hm-series-{index % MAX_SERIES}"


def series_class(index: int) -> str:
    """The CSS class that colours the n-th series."""
    return series_variable(index).removeprefix("--")
