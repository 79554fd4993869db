"""Masking: what is written about a child names no secret and no folder of this machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from runner.secrets import MASK, Scanner

SHORTEST_SECRET = 6


@dataclass(frozen=True)
class Mask:
    """What must not appear in a record: secrets, the trial's folder, the interpreter's path."""

    secret: str = field(repr=False)
    """The key of the model's endpoint."""
    folder: str
    scanner: Scanner = field(default_factory=Scanner)

    def text(self, text: str, limit: int = 1000) -> str:
        """``text`` with each of them replaced by a word, cut at ``limit`` characters."""
        if len(self.secret) >= SHORTEST_SECRET:
            text = text.replace(self.secret, MASK)
        text = self.scanner.mask(text)
        return text.replace(self.folder, "<trial>").replace(sys.executable, "python")[:limit]
