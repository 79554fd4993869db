"""Bins: values of single scrapes as points of a line that a page can draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
MOST = 240
"""Points of a line: about one for each pixel that a column of the page has."""
SCRAPES = 2
"""In each bin at least, so that a scrape that came late leaves none empty."""
Points = tuple[float | None, ...]


@dataclass(frozen=True)
class Bins:
    """Equal spans of time between the first and the last answered scrape.

    Args:
        times: seconds since 1970 of each answered scrape.
        longest_step: a longer time between two scrapes is a hole, in which nothing is known.
    """

    times: Numbers
    longest_step: float

    @property
    def count(self) -> int:
        """How many; 0 where there are fewer than two scrapes."""
        return int(min(max(self.span // (SCRAPES * self.step), 1), MOST)) if self.span > 0 else 0

    @property
    def step(self) -> float:
        """The usual time between two scrapes."""
        return float(np.median(np.diff(self.times)))

    @property
    def span(self) -> float:
        """Seconds from the first to the last scrape."""
        return float(self.times[-1] - self.times[0]) if self.times.size > 1 else 0.0

    @property
    def middles(self) -> tuple[float, ...]:
        """Seconds after the first scrape, of the middle of each."""
        width = self.span / self.count if self.count else 0.0
        return tuple(width * (index + 0.5) for index in range(self.count))

    def rates(self, growth: Numbers | None) -> Points:
        """Growth per second; a hole is nowhere."""
        steps = np.concatenate(([np.nan], np.diff(self.times)))
        return self.ratios(growth, np.where(steps <= self.longest_step, steps, np.nan))

    def ratios(self, above: Numbers | None, below: Numbers | None, factor: float = 1.0) -> Points:
        """Sum of ``above`` over sum of ``below`` in each bin, times ``factor``; None where below is 0."""
        if above is None or below is None or not self.count:
            return (None,) * self.count
        known = np.isfinite(above) & np.isfinite(below)
        tops, bottoms = self._sums(above, known), self._sums(below, known)
        return tuple(
            float(top / bottom * factor) if bottom > 0 else None
            for top, bottom in zip(tops, bottoms, strict=True)
        )

    def means(self, level: Numbers | None, factor: float = 1.0) -> Points:
        """Mean of a gauge in each bin."""
        if level is None:
            return (None,) * self.count
        return self.ratios(level, np.ones_like(level), factor)

    def _sums(self, values: Numbers, known: npt.NDArray[np.bool_]) -> Numbers:
        """Sum in each bin; a scrape belongs to the bin that ends with it."""
        share = (self.times - self.times[0]) / self.span * self.count
        index = np.clip(np.ceil(share) - 1, 0, self.count - 1).astype(int)
        return np.bincount(index[known], weights=values[known], minlength=self.count).astype(np.float64)
