"""Tally: the server's own exact count of what it served, per run, protocol and thread."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from runner.replay.turns import Tokens


@dataclass(frozen=True)
class RunCount:
    """Requests and tokens of one run, or of a part of it.

    ``reported`` holds the tokens whose usage reached the client, in their true classes; ``told`` the same
    tokens as the client's protocol can say them (see ``Wire.told``), which is what a correct client adds up.
    ``unreported`` holds the tokens of answers that were produced but whose usage was not sent whole (cut,
    malformed or stalled answers, and usage left out), and ``told_partly`` what of those was told before the
    answer broke off.
    """

    requests: int = 0
    answered: int = 0
    broken: int = 0
    errors: dict[int, int] = field(default_factory=dict)
    reported: Tokens = field(default_factory=Tokens)
    told: Tokens = field(default_factory=Tokens)
    unreported: Tokens = field(default_factory=Tokens)
    told_partly: Tokens = field(default_factory=Tokens)
    unreported_answers: int = 0

    def __add__(self, other: RunCount) -> RunCount:
        errors = dict(self.errors)
        for status, number in other.errors.items():
            errors[status] = errors.get(status, 0) + number
        return RunCount(
            requests=self.requests + other.requests,
            answered=self.answered + other.answered,
            broken=self.broken + other.broken,
            errors=errors,
            reported=self.reported + other.reported,
            told=self.told + other.told,
            unreported=self.unreported + other.unreported,
            told_partly=self.told_partly + other.told_partly,
            unreported_answers=self.unreported_answers + other.unreported_answers,
        )

    def document(self) -> dict[str, object]:
        """The count as the server tells it over HTTP."""
        classes = ("reported", "told", "unreported", "told_partly")
        return {
            **vars(self),
            "errors": {str(status): number for status, number in self.errors.items()},
            **{name: getattr(self, name).model_dump() for name in classes},
        }


class Part(NamedTuple):
    """What is counted for itself: a thread of a run, over one protocol."""

    run: str
    protocol: str
    thread: str


@dataclass(frozen=True)
class Served:
    """Tokens of one answer: in truth, as the protocol tells them, and as told before the answer's end."""

    tokens: Tokens
    told: Tokens
    told_at_start: Tokens


class Tally:
    """Counts by part. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: dict[Part, RunCount] = {}

    def count(self, run: str, *, protocol: str | None = None, thread: str | None = None) -> RunCount:
        """The count of ``run`` so far, or of a part of it; all zeros for what was never seen."""
        total = RunCount()
        for part, count in self.parts(run).items():
            if protocol in {None, part.protocol} and thread in {None, part.thread}:
                total += count
        return total

    def parts(self, run: str) -> dict[Part, RunCount]:
        """The counts of ``run`` by part, in the order of their first request."""
        with self._lock:
            return {part: count for part, count in self._parts.items() if part.run == run}

    def runs(self) -> tuple[str, ...]:
        """Every run seen, in the order of their first request."""
        with self._lock:
            return tuple(dict.fromkeys(part.run for part in self._parts))

    def begin(self, part: Part) -> int:
        """Note a request; returns how many came before it in the run."""
        with self._lock:
            number = sum(count.requests for known, count in self._parts.items() if known.run == part.run)
            before = self._parts.get(part, RunCount())
            self._parts[part] = replace(before, requests=before.requests + 1)
            return number

    def error(self, part: Part, status: int) -> None:
        """Note that a request was refused with ``status``."""
        self._add(part, RunCount(errors={status: 1}))

    def answer(self, part: Part, served: Served, *, reported: bool, whole: bool) -> None:
        """Note an answer, before its last byte is sent so that no reader can be faster than the count."""
        if reported:
            self._add(part, RunCount(answered=1, reported=served.tokens, told=served.told))
            return
        self._add(
            part,
            RunCount(
                answered=int(whole),
                broken=int(not whole),
                unreported=served.tokens,
                told_partly=served.told_at_start,
                unreported_answers=1,
            ),
        )

    def take_back(self, part: Part, served: Served) -> None:
        """Note that an answer counted as reported was not: the client left before its end."""
        with self._lock:
            before = self._parts[part]
            self._parts[part] = replace(
                before,
                answered=before.answered - 1,
                broken=before.broken + 1,
                reported=before.reported - served.tokens,
                told=before.told - served.told,
                unreported=before.unreported + served.tokens,
                unreported_answers=before.unreported_answers + 1,
            )

    def _add(self, part: Part, more: RunCount) -> None:
        with self._lock:
            self._parts[part] = self._parts.get(part, RunCount()) + more
