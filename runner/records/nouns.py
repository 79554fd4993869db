"""Nouns: a count and its noun in the right number, for everything that is read by people."""

from __future__ import annotations


def counted(number: int, singular: str, plural: str = "") -> str:
    """``1 cell``, ``2 cells``; ``plural`` where it is not made with an s."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
