"""Interval words: an estimate with its interval and count, as pages say it."""

from __future__ import annotations

from generators.pages import words
from generators.statistics.bounds import Bounds
from generators.statistics.intervals import Interval
from generators.tables.sample import Unit, Value
from generators.tables.spread import Kind

USED_UP = frozenset({Unit.DOLLARS, Unit.MINUTES, Unit.TOKENS, Unit.TURNS})
"""Units of which every run takes some."""
NOTHING = 0.01
"""Up to this share of its mean the lower end of an amount says no more than that there is none."""


def interval_text(found: Interval | None, decimals: int = 2, *, missing: str) -> str:
    """An estimate with its interval and count, or why there is none."""
    if found is None:
        return missing
    if found.lower is None or found.upper is None:
        return f"{found.estimate:.{decimals}f} (n = {found.count}, too few or too alike for an interval)"
    return (
        f"{found.estimate:.{decimals}f} ({found.lower:.{decimals}f} to {found.upper:.{decimals}f}, "
        f"n = {found.count})"
    )


def sureness(value: Value, unit: Unit) -> str:
    """How sure a mean is: its 95 % interval or why there is none, and bounds where trials are open.

    Empty for what is no mean, such as a sum, and for what is unknown. Every page and chart that shows a mean
    gets these words from here.
    """
    if value.spread is None or value.amount is None:
        return ""
    parts = [span(value.spread.interval, unit) or f"no interval: {value.spread.reason}"]
    bounds = value.spread.bounds
    if bounds is not None and bounds.open:
        graded = "graded" if value.spread.kind is Kind.SHARE else "scored"
        zeros = ", failures as 0" if value.spread.zeros else ""
        parts.append(f"{_bounded(bounds, unit)} if all were {graded}{zeros}")
    return "; ".join(parts)


def span(interval: Interval | None, unit: Unit) -> str:
    """``95 %: 66.1 to 75.5``; empty where there is no interval.

    The lower end of an amount is left out where it is nothing beside the mean, ``95 %: at most $0.89``: no
    run is free, and digits of such an end would be made up.
    """
    if interval is None or interval.lower is None or interval.upper is None:
        return ""
    lower, upper = words.amount(interval.lower, unit), words.amount(interval.upper, unit)
    nothing = unit in USED_UP and interval.lower <= NOTHING * interval.estimate
    ends = f"at most {upper}" if nothing else f"{lower} to {upper}"
    return f"{100 * interval.level:.0f} %: {ends}"


def _bounded(bounds: Bounds, unit: Unit) -> str:
    return f"between {words.amount(bounds.lower, unit)} and {words.amount(bounds.upper, unit)}"
