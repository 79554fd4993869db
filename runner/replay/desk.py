"""Desk: what all request threads of a replay server share."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import ConfigurationError
from runner.replay.improvising import Improviser
from runner.replay.library import Library
from runner.replay.meter import Meter
from runner.replay.scenario import FaultRule
from runner.replay.service import Service
from runner.replay.tally import Tally


class Log:
    """One JSON line per request, where a file is given."""

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.Lock()
        try:
            self._stream = path.open("a", encoding="utf-8") if path else None
        except OSError as error:
            raise ConfigurationError(
                f"the request log cannot be written: {error.strerror}", where=str(path)
            ) from None

    def write(self, entry: dict[str, object]) -> None:
        """Append ``entry``."""
        with self._lock:
            if self._stream is not None:
                self._stream.write(json.dumps(entry, ensure_ascii=False) + "\n")
                self._stream.flush()

    def close(self) -> None:
        """Close the file; later entries are dropped."""
        with self._lock:
            if self._stream is not None:
                self._stream.close()
                self._stream = None


@dataclass(frozen=True)
class Desk:
    """Cassettes, counts, log, and the faults and times that hold for every request."""

    library: Library
    log: Log
    rules: tuple[FaultRule, ...] = ()
    tally: Tally = field(default_factory=Tally)
    meter: Meter = field(default_factory=Meter)
    stopping: threading.Event = field(default_factory=threading.Event)
    service: Service | None = None
    """Injected service times; None answers at once."""
    improviser: Improviser | None = None
    """Answers before the cassettes do."""
    numbers: Iterator[int] = field(default_factory=itertools.count)
    """For ids of requests."""
