"""The log that :mod:`runner.harnesses.aider_inside` keeps, read into usage, turns and stop reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.counts import Counts, as_usage, gaps, nothing_used, total, totals, usages
from runner.harnesses.litellm_counts import counts_of, sources
from runner.harnesses.stream import Event, mapping, objects, text
from runner.records import DataWarning, Usage

ENDED_WELL = "stop"
REFUSED = re.compile(
    r"^(?:BadRequest|Authentication|RateLimit|NotFound|PermissionDenied|InternalServer)\w*:"
    r"|^RuntimeError: cannot schedule new futures"
)
"""A request that the server turned away, or that was not sent as the agent had ended: it used no tokens."""
SOURCES = sources("sum over the answers to aider's library of usage")


@dataclass
class _Heard:
    """What the lines of a log add up to."""

    tells_reasoning: bool = True
    started: bool = False
    ended: bool = False
    in_flight: int = 0
    failure: str = ""
    """Of the last request but those for summaries, if it failed."""
    lost: int = 0
    reason: str = ""
    answers: list[tuple[str, Counts]] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        """Add one line of the log."""
        kind, beside = event.get("event"), event.get("beside") is True
        if kind == "request":
            self.started, self.in_flight = True, self.in_flight + 1
        elif kind == "answer":
            self.started, self.in_flight = True, max(self.in_flight - 1, 0)
            if not beside:
                self.failure, self.reason = "", text(event.get("finish_reason"), 100)
            counts = counts_of(mapping(event.get("usage")))
            if not self.tells_reasoning and not counts.all_zero:
                counts = replace(counts, reasoning=None)
            self.answers.append((text(event.get("model"), 300), counts))
        elif kind == "failure":
            self.started, self.in_flight = True, max(self.in_flight - 1, 0)
            error = text(event.get("error")) or "a request failed"
            self.failure = self.failure if beside else error
            self.lost += not REFUSED.match(error)
        elif kind == "end":
            self.started, self.ended = True, True


def read_log(path: Path, warnings: Sequence[DataWarning] = (), *, tells_reasoning: bool = True) -> Reading:
    """The reading of the log at ``path``. Never raises on a broken, cut or missing file.

    Args:
        warnings: what the caller knows already.
        tells_reasoning: whether the library passes on how much of the output was reasoning.
    """
    heard = _Heard(tells_reasoning)
    for event in objects(path):
        heard.hear(event)
    silent = sum(counts.all_zero for _, counts in heard.answers)
    error = _error(heard)
    return Reading(
        stop_reason="no-end" if not heard.ended else "error" if heard.failure else heard.reason or "unknown",
        is_error=error is not None,
        error=error,
        usage=_usage(heard, silent),
        usage_by_model={} if silent else usages(totals(each for each in heard.answers if each[0]), SOURCES),
        turns=len(heard.answers) if heard.started else None,
        warnings=(*gaps([counts for _, counts in heard.answers], heard.lost + heard.in_flight), *warnings),
    )


def _usage(heard: _Heard, silent: int) -> Usage | None:
    """The sums; unknown where an answer came without counts.

    Where every request was turned away, nothing was used, which is known.
    """
    if silent:
        return None
    if heard.answers:
        return as_usage(total(counts for _, counts in heard.answers), SOURCES)
    if heard.failure and not heard.lost and not heard.in_flight:
        return nothing_used(SOURCES)
    return None


def _error(heard: _Heard) -> str | None:
    if not heard.ended:
        return "the log has no end: the agent was stopped or crashed"
    if heard.failure:
        return heard.failure
    if not heard.answers:
        return "the agent ended without a request"
    return None if heard.reason == ENDED_WELL else f"the last answer ended by {heard.reason or 'no reason'}"
