"""WrappedLaunch: a launch whose first process is ours and stays until everything below it has ended."""

from __future__ import annotations

from dataclasses import dataclass

from runner.harnesses.base import Launch


@dataclass(frozen=True)
class WrappedLaunch(Launch):
    """A launch inside an isolation. The polite signal spares its first process, which would take the rest
    down at once; the hard one is for it."""
