"""The log that :mod:`runner.harnesses.aider_inside` keeps, read into usage, turns and stop reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.counts import (
    ZERO,
    Counts,
    as_usage,
    lower_bound,
    not_reported,
    reasoning_not_reported,
    total,
)
from runner.harnesses.litellm_counts import counts_of
from runner.harnesses.stream import Event, mapping, objects, text
from runner.records import DataWarning, Usage

ENDED_WELL = "stop"
REFUSED = re.compile(
    r"^(?:BadRequest|Authentication|RateLimit|NotFound|PermissionDenied|InternalServer)\w*:"
    r"|^RuntimeError: cannot schedule new futures"
)
"""A request that the server turned away, or that was not sent as the agent had ended: it used no tokens."""
WHERE = "sum over the answers to aider's library of usage"
SOURCES = {
    "input_tokens": f"{WHERE}: prompt_tokens less what was read from a cache or written to one",
    "output_tokens": f"{WHERE}.completion_tokens",
    "cache_read_tokens": f"{WHERE}: cached_tokens",
    "cache_write_tokens": f"{WHERE}: cache_creation_input_tokens",
    "reasoning_tokens": f"{WHERE}: reasoning_tokens",
}


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
        usage_by_model={} if silent else _by_model(heard),
        turns=len(heard.answers) if heard.started else None,
        warnings=(*_warnings(heard, silent), *warnings),
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
        return as_usage(ZERO, dict.fromkeys(SOURCES, "every request was turned away"))
    return None


def _by_model(heard: _Heard) -> dict[str, Usage]:
    names = dict.fromkeys(name for name, _ in heard.answers if name)
    return {
        name: as_usage(total(counts for other, counts in heard.answers if other == name), SOURCES)
        for name in names
    }


def _error(heard: _Heard) -> str | None:
    if not heard.ended:
        return "the log has no end: the agent was stopped or crashed"
    if heard.failure:
        return heard.failure
    if not heard.answers:
        return "the agent ended without a request"
    return None if heard.reason == ENDED_WELL else f"the last answer ended by {heard.reason or 'no reason'}"


def _warnings(heard: _Heard, silent: int) -> Iterator[DataWarning]:
    if silent:
        yield not_reported(silent)
    elif any(counts.reasoning is None for _, counts in heard.answers):
        yield reasoning_not_reported()
    lost = heard.lost + heard.in_flight
    if lost:
        yield lower_bound(f"{lost} requests were broken off, perhaps with an answer under way")
