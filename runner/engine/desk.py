"""Desk: everything one trial needs that the whole run shares or that was resolved for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from runner.datasets import Task
from runner.engine.isolation import Isolation
from runner.engine.masking import Mask
from runner.engine.pricing import Listed
from runner.engine.server_window import Crowd, Read, ReadGauges
from runner.engine.settings import RunSettings
from runner.harnesses.base import Harness
from runner.harnesses.endpoint import Endpoint
from runner.records import DataWarning, Hosting, PlannedTrial
from runner.secrets import Scanner
from runner.skills import Skill


@dataclass(frozen=True)
class Desk:
    """One trial's place of work."""

    planned: PlannedTrial
    position: int
    plan_id: str
    demonstration: bool
    hosting: Hosting
    settings: RunSettings
    task: Task
    dataset_path: Path
    harness: Harness
    skill: Skill
    endpoint: Endpoint
    folder: Path
    """Scratch folder of this trial: unique to plan and position, removed at the end."""
    repositories: Path
    streams: Path
    installed: Path
    isolation: Isolation
    cancelled: threading.Event
    on_line: Callable[[str], None] | None = None
    on_traffic: Callable[[], None] | None = None
    """Called when the agent has talked to its model."""
    scanner: Scanner = field(default_factory=Scanner)
    slot: AbstractContextManager[object] = field(default_factory=nullcontext)
    """Held while an agent is at work: only so many are at a time."""
    may_start: Callable[[], bool] = lambda: True
    """Asked once, when a slot is free and before the first agent starts."""
    replaced: Path | None = None
    """Where artifacts of earlier invocations are kept, outside the store."""
    crowd: Crowd = field(default_factory=Crowd)
    """The agents of this run that are at work."""
    counters: Read = lambda: None
    """Reads what the model's server counted over all its clients."""
    gauges: ReadGauges = lambda _begun, _ended: {}
    """Reads what was seen of the gauges of the model's server."""
    warnings: tuple[DataWarning, ...] = ()
    """What is known of the token counts before anything runs."""
    listed: Listed | None = None
    """Where the price book is asked; None where nobody bills for tokens."""
    project: Path | None = None
    """Folder of the project, which no record names."""

    def mask(self) -> Mask:
        """What must not appear in the records of this trial."""
        return Mask(
            secret=self.endpoint.api_key,
            folder=str(self.folder),
            project=None if self.project is None else str(self.project),
            scanner=self.scanner,
        )
