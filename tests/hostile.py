"""Hostile text: the corpus that no page may let become markup."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "data" / "hostile.json"
LONG = 10_000


@dataclass(frozen=True)
class Hostile:
    """One string and what it tries."""

    name: str
    text: str

    @property
    def long(self) -> bool:
        """Whether its size is what it tries."""
        return len(self.text) > LONG


def corpus() -> list[Hostile]:
    """Every string; long ones are written as a part and how often it is repeated."""
    entries = json.loads(CORPUS.read_text(encoding="utf-8"))
    return [
        Hostile(entry["name"], entry["text"] if "text" in entry else entry["repeat"] * entry["times"])
        for entry in entries
    ]
