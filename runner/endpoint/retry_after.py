"""Retry-After: how long a server asks to be left alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_SECONDS = 24 * 3600.0


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """The wait that ``headers`` (names in lower case) ask for, counted from ``now``; None: none, or nonsense.

    ``retry-after-ms`` is more exact where it is given. ``retry-after`` holds seconds or a date, which is
    counted from the server's own ``date`` where there is one, as its clock may differ from ours.
    """
    exact = _number(headers.get("retry-after-ms"))
    if exact is not None:
        return min(exact / 1000, LONGEST_SECONDS)
    told = headers.get("retry-after")
    seconds = _number(told)
    if seconds is not None:
        return min(seconds, LONGEST_SECONDS)
    until = _date(told)
    if until is None:
        return None
    since = _date(headers.get("date")) or now
    return min(max(0.0, (until - since).total_seconds()), LONGEST_SECONDS)


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
