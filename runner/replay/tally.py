"""Tally: the server's own exact count of what it served, per run."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from runner.replay.turns import Tokens


@dataclass(frozen=True)
class RunCount:
    """Requests and tokens of one run.

    ``reported`` holds the tokens whose usage reached the client; ``unreported`` the tokens of answers that
    were produced but whose usage was not sent (cut, malformed or stalled answers, and usage left out).
    """

    requests: int = 0
    answered: int = 0
    broken: int = 0
    errors: dict[int, int] = field(default_factory=dict)
    reported: Tokens = field(default_factory=Tokens)
    unreported: Tokens = field(default_factory=Tokens)
    unreported_answers: int = 0


class Tally:
    """Counts by run. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, RunCount] = {}

    def count(self, run: str) -> RunCount:
        """The count of ``run`` so far; all zeros for a run never seen."""
        with self._lock:
            return self._runs.get(run, RunCount())

    def runs(self) -> tuple[str, ...]:
        """Every run seen, in the order of their first request."""
        with self._lock:
            return tuple(self._runs)

    def begin(self, run: str) -> int:
        """Note a request; returns how many came before it in the run."""
        with self._lock:
            before = self._runs.get(run, RunCount())
            self._runs[run] = replace(before, requests=before.requests + 1)
            return before.requests

    def error(self, run: str, status: int) -> None:
        """Note that a request was refused with ``status``."""
        with self._lock:
            before = self._runs.get(run, RunCount())
            errors = {**before.errors, status: before.errors.get(status, 0) + 1}
            self._runs[run] = replace(before, errors=errors)

    def answer(self, run: str, tokens: Tokens, *, reported: bool, whole: bool) -> None:
        """Note an answer, before its last byte is sent so that no reader can be faster than the count."""
        with self._lock:
            before = self._runs.get(run, RunCount())
            self._runs[run] = replace(
                before,
                answered=before.answered + whole,
                broken=before.broken + (not whole),
                reported=before.reported + tokens if reported else before.reported,
                unreported=before.unreported if reported else before.unreported + tokens,
                unreported_answers=before.unreported_answers + (not reported),
            )

    def take_back(self, run: str, tokens: Tokens) -> None:
        """Note that an answer counted as reported was not: the client left before its end."""
        with self._lock:
            before = self._runs.get(run, RunCount())
            self._runs[run] = replace(
                before,
                answered=before.answered - 1,
                broken=before.broken + 1,
                reported=before.reported - tokens,
                unreported=before.unreported + tokens,
                unreported_answers=before.unreported_answers + 1,
            )
