"""Masking: what is written about a child names no secret and no folder of this machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from runner.secrets import MASK, Scanner

SHORTEST_SECRET = 6


@dataclass(frozen=True)
class Mask:
    """What must not appear in a record: secrets and folders of this machine."""

    secret: str = field(repr=False)
    """The key of the model's endpoint."""
    folder: str
    """Scratch folder of the trial."""
    project: str | None = None
    scanner: Scanner = field(default_factory=Scanner)

    def text(self, text: str, limit: int = 1000) -> str:
        """``text`` with each of them replaced by a word, cut at ``limit`` characters."""
        if len(self.secret) >= SHORTEST_SECRET:
            text = text.replace(self.secret, MASK)
        text = self.scanner.mask(text)
        for path, word in self._words():
            text = text.replace(path, word)
        return text[:limit]

    def _words(self) -> list[tuple[str, str]]:
        """Folders with the words that stand for them, inner ones before those around them."""
        words = [(self.folder, "<trial>"), (sys.executable, "python")]
        # A system's own Python lives in /usr, which says nothing about the machine and much else lives in.
        words += [(sys.prefix, "<python>")] if sys.prefix != sys.base_prefix else []
        words += [(self.project, "<project>")] if self.project else []
        home = str(Path.home())
        return words + ([(home, "~")] if len(home) > 1 else [])
