"""The log that :mod:`runner.harnesses.openhands_inside` keeps, read into counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.counts import Counts, as_usage, nothing_used, total, totals, usages
from runner.harnesses.litellm_counts import counts_of, sources
from runner.harnesses.stream import mapping, objects, text
from runner.records import Usage

REFUSED = re.compile(
    r"^(?:BadRequest|ContextWindowExceeded|Authentication|RateLimit|NotFound|PermissionDenied"
    r"|InternalServer|ServiceUnavailable|BadGateway)\w*:"
)
"""A request that the server turned away: it used no tokens."""
NOT_ANSWERED = "Connection error"
"""In an error that the library calls one of the server all the same."""
SOURCES = sources("sum over the answers to OpenHands' library of usage")


@dataclass(frozen=True)
class Log:
    """What the lines of a log add up to."""

    answers: tuple[tuple[str, Counts], ...] = ()
    """Model and counts of each; all zero where its server told nothing."""
    requests: int = 0
    refused: int = 0
    lost: int = 0
    """Requests that broke off, or were under way at the end."""
    retries: int = 0
    """Requests that came after one that failed."""
    ended: bool = False

    @property
    def silent(self) -> int:
        """Answers without counts."""
        return sum(counts.all_zero for _, counts in self.answers)

    @property
    def usage(self) -> Usage | None:
        """The sums; unknown where an answer came without counts, and nothing where all was turned away."""
        if self.answers:
            return None if self.silent else as_usage(total(counts for _, counts in self.answers), SOURCES)
        if self.requests and self.requests == self.refused:
            return nothing_used(SOURCES)
        return None

    @property
    def by_model(self) -> dict[str, Usage]:
        """The sums of each model; nothing where they are unknown."""
        if self.silent:
            return {}
        return usages(totals(each for each in self.answers if each[0]), SOURCES)


def read_log(path: Path) -> Log:
    """The log at ``path``. Never raises on a broken, cut or missing file."""
    answers: list[tuple[str, Counts]] = []
    requests = refused = broken = retries = 0
    failed = ended = False
    for event in objects(path):
        kind = event.get("event")
        if kind == "request":
            requests, retries, failed = requests + 1, retries + failed, False
        elif kind == "answer":
            answers.append((text(event.get("model"), 300), counts_of(mapping(event.get("usage")))))
        elif kind == "failure":
            failed = True
            error = text(event.get("error"))
            turned_away = REFUSED.match(error) is not None and NOT_ANSWERED not in error
            refused, broken = refused + turned_away, broken + (not turned_away)
        elif kind == "end":
            ended = True
    under_way = max(requests - len(answers) - refused - broken, 0)
    return Log(tuple(answers), requests, refused, broken + under_way, retries, ended)
