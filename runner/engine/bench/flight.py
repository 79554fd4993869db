"""Flight: the requests that were sent, noted as they are: what was in flight when a runner was killed."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from runner.endpoint.ask import Note
from runner.engine.bench.ledger import counts
from runner.engine.places import Places
from runner.records.bench_trial import BenchTrial

SENT, NOT_SENT = "+", "-"


class Flight:
    """A file with a line for each request that was sent, by the key of its trial.

    Nothing is flushed, so that no stream waits for the disk: the kernel keeps it where we are killed, and
    only a power cut can lose it. It is advisory: a full disk stops the run elsewhere, and is told there.
    """

    def __init__(self, places: Places, run_id: str) -> None:
        path = _path(places, run_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._sent = _read(path)

    def noting(self, key: str) -> Note:
        """What takes word of each request of a trial."""
        return partial(self._note, key)

    def cut(self, trials: Iterable[BenchTrial]) -> Mapping[str, int]:
        """Requests of trials that are not over and were sent by earlier runners, by the trials' keys.

        Those of a trial that is over came back, or its line tells of them.
        """
        known = {trial.key: trial for trial in trials}
        over = {key for key, trial in known.items() if counts(trial)}
        found = {key: trial.cut_requests for key, trial in known.items() if key not in over}
        for key, number in self._sent.items():
            if key not in over:
                found[key] = max(number, found.get(key, 0))
        return {key: number for key, number in found.items() if number > 0}

    def close(self) -> None:
        """Let go of the file; a second time does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _note(self, key: str, *, sent: bool) -> None:
        with contextlib.suppress(OSError):
            os.write(self._descriptor, f"{SENT if sent else NOT_SENT}{key}\n".encode())


def forget_flight(places: Places, run_id: str) -> None:
    """Nothing of the run is left to ask."""
    _path(places, run_id).unlink(missing_ok=True)


def _path(places: Places, run_id: str) -> Path:
    return places.artifacts / "bench" / f"{run_id}.sent"


def _read(path: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        found[line[1:]] += {SENT: 1, NOT_SENT: -1}.get(line[:1], 0)
    return found
