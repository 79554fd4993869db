"""Finding: one thing that is wrong in a store."""

from __future__ import annotations

from dataclasses import dataclass

RESTORE = "restore it from git"


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is wrong in a store."""

    path: str
    problem: str
    detail: str
    remedy: str

    def line(self) -> str:
        """The finding as one line: what is wrong, where, and what to do."""
        return f"{self.problem}: {self.path}: {self.detail}; {self.remedy}"
