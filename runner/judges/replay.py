"""ReplayJudge: the direct judge for the built-in model server, whose scripted answers are a demonstration."""

from __future__ import annotations

from dataclasses import dataclass

from runner.judges.direct import Direct

SCRIPTED_MODEL = "replay-judge"
"""Answers at once."""
SCRIPTED_READER = "replay-reader"
"""Reads files first: for agentic judges."""


@dataclass(frozen=True)
class ReplayJudge(Direct):
    """The judge ``replay``."""

    name: str = "replay"
    title: str = "Scripted answers of the built-in model server"
    demonstration: bool = True
