"""Agents: the real coding agents that the tests run, installed at their pinned versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from runner.harnesses.installer import install

RUN_FOR_REAL = ("claude-code", "codex", "pi")


def ensure_agents(installed: Path, progress: Callable[[str], None]) -> None:
    """Install what is missing below ``installed``; what is there is only asked for its version.

    Raises:
        ConfigurationError: one cannot be had; the remedy says what to do.
    """
    for program in install(RUN_FOR_REAL, installed, progress):
        progress(program.line())
