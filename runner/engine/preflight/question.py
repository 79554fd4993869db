"""Question: one thing to find out before a run, how long that may take, and what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from runner.providers.checks import Check

SECONDS = 15.0


@dataclass(frozen=True)
class Line:
    """One line of the table: a check and what it is about."""

    subject: str
    """The thing looked at, such as a harness, or a model and where it is served."""
    check: Check


@dataclass(frozen=True)
class Question:
    """Something to ask, alone or beside others."""

    subject: str
    ask: Callable[[], Iterable[Check]]
    """Gives what it finds one by one, so that nothing found is lost when it does not come to an end."""
    seconds: float = SECONDS
    """After so long the asking is given up, and what was not found counts as failed."""
