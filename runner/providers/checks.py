"""Checks: what a hosting path can say of itself before a run, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    """How a check ended."""

    PASS = "pass"  # noqa: S105 - a state, no password
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One line of the pre-flight."""

    name: str
    """What was looked at, two or three words: ``credentials``, ``endpoint``, ``served model``."""
    state: CheckState
    found: str
    """What was found, one sentence without any secret."""
    fix: str = ""
    """The command, or the sentence, that puts it right; empty for one that passed."""
    window: int | None = None
    """Tokens of the context window, in the one check that found it; the engine holds its gates to it."""


CREDENTIALS = "credentials"
ENDPOINT = "endpoint"
SERVED_MODEL = "served model"
CONTEXT_WINDOW = "context window"
PROTOCOL = "protocol"
"""Names that the checks of all hosting paths share."""
