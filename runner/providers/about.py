"""About: what a user must know of a hosting path before the first run, as its page shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """A hosting path in a user's words."""

    summary: str
    """One sentence: whose machines, reached how."""
    flags: str
    """What to add to ``invoke run``; words in capitals stand for values of the user's own."""
    credentials: str
    """Where its credentials come from, half a sentence."""
    notes: tuple[str, ...] = ()
    """Oddities, a sentence or two each."""
