"""Interval words: an estimate with its interval and count, as pages say it."""

from __future__ import annotations

from generators.statistics.intervals import Interval


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
