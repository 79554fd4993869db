"""Site: where a sweep works and how it is heard and stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from runner.engine.places import Places
from runner.secrets import Scanner


@dataclass(frozen=True)
class SweepSite:
    """Everything of this machine that a sweep needs."""

    places: Places
    console: Console
    say: Callable[[str], None]
    environment: Mapping[str, str]
    scanner: Scanner
    folder: Path
    """Of this sweep, outside git."""
    stop: threading.Event

    @property
    def sweep_id(self) -> str:
        """Name of the sweep."""
        return self.folder.name
