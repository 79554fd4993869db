"""The trajectory file of ``mini-swe-agent``, read into usage, turns and stop reason.

The file is written anew after every step. It holds each response of the model as the library under the agent
gave it back, whatever the protocol was: inside a message, beside a message that complains of its form, or,
over Responses, as the message itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.counts import (
    Counts,
    as_usage,
    gaps,
    lower_bound,
    nothing_used,
    stopped_early,
    total,
    totals,
    usages,
)
from runner.harnesses.litellm_counts import counts_of, sources
from runner.harnesses.stream import MAX_DOCUMENT_BYTES, Event, document, items, mapping, opened, text
from runner.records import DataWarning, Usage

ENDED_WELL = "Submitted"
LIMITS = {"LimitsExceeded": "turns", "TimeExceeded": "time"}
REFUSED = re.compile(r"Error code: [45]\d\d|BadRequest|Authentication|RateLimit|NotFound|PermissionDenied")
"""In the reason of an end by failure: the server turned the last request away, so that it used no tokens."""
WHERE = "sum over the responses in the trajectory of usage"
SOURCES = {
    **sources(WHERE),
    "input_tokens": f"{WHERE}: input less what was read from a cache or written to one",
    "output_tokens": f"{WHERE}: completion_tokens or output_tokens",
}


@dataclass(frozen=True)
class _Answer:
    """One response of the model."""

    model: str
    counts: Counts


@dataclass(frozen=True)
class _Run:
    """What the file says."""

    answers: tuple[_Answer, ...]
    status: str
    """How it ended; empty while it runs."""
    reason: str
    whole: bool = True
    """Whether the file was written to its end."""


def read_trajectory(path: Path, warnings: Sequence[DataWarning] = ()) -> Reading:
    """The reading of the trajectory at ``path``. Never raises on a broken, cut or missing file.

    Args:
        warnings: what the caller knows already.
    """
    run = _load(path)
    if run is None:
        return Reading(
            "no-end", is_error=True, error="the agent left no trajectory", warnings=tuple(warnings)
        )
    silent = sum(answer.counts.all_zero for answer in run.answers)
    known = bool(run.answers) and not silent
    by_model = totals((answer.model, answer.counts) for answer in run.answers if answer.model)
    return Reading(
        stop_reason=run.status or "no-end",
        is_error=run.status != ENDED_WELL,
        error=_error(run),
        usage=_usage(run, silent),
        usage_by_model=usages(by_model, SOURCES) if known else {},
        turns=len(run.answers),
        limit_hit=LIMITS.get(run.status),
        warnings=(*_warnings(run), *warnings),
    )


def _load(path: Path) -> _Run | None:
    stream = opened(path)
    if stream is None:
        return None
    with stream:
        data = stream.read(MAX_DOCUMENT_BYTES)
    found = document(data)
    if found is None:
        answers = tuple(_salvaged(data.decode("utf-8", "replace")))
        return _Run(answers, "", "", whole=False) if answers else None
    messages = [mapping(each) for each in items(found.get("messages"))]
    if not messages:
        return None
    status = text(mapping(found.get("info")).get("exit_status"), 100)
    reason = text(messages[-1].get("content"))
    return _Run(tuple(_answers(messages)), status, reason)


def _answers(messages: Sequence[Event]) -> Iterator[_Answer]:
    for message in messages:
        said = mapping(message.get("extra")).get("response")
        response = message if message.get("object") == "response" else mapping(said)
        if response or isinstance(said, str):
            # A response that could only be kept as a text has counts that nobody can read.
            yield _Answer(text(response.get("model"), 300), counts_of(mapping(response.get("usage"))))


def _salvaged(data: str) -> Iterator[_Answer]:
    """The answers in a file that was cut while it was written: all that say their usage in full."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r'"usage": (?=\{)', data):
        try:
            usage, _ = decoder.raw_decode(data, match.end())
        except (ValueError, RecursionError):
            return
        yield _Answer("", counts_of(mapping(usage)))


def _usage(run: _Run, silent: int) -> Usage | None:
    """The sums; unknown where an answer came without counts.

    Where the only request was turned away, nothing was used, which is known.
    """
    if silent:
        return None
    if run.answers:
        return as_usage(total(answer.counts for answer in run.answers), SOURCES)
    if run.status and REFUSED.search(run.reason):
        return nothing_used(SOURCES)
    return None


def _error(run: _Run) -> str | None:
    if run.status == ENDED_WELL:
        return None
    if not run.status:
        return "the trajectory has no end: the agent was stopped or crashed"
    if run.status in LIMITS:
        return f"the agent stopped at its limit of {LIMITS[run.status]}"
    return f"{run.status}: {run.reason}" if run.reason else run.status


def _warnings(run: _Run) -> Iterator[DataWarning]:
    yield from gaps([answer.counts for answer in run.answers])
    if not run.whole:
        yield lower_bound("the agent was stopped while it wrote its trajectory")
    elif not run.status:
        yield stopped_early()
    elif run.status not in {ENDED_WELL, *LIMITS} and not REFUSED.search(run.reason):
        yield lower_bound("the last request failed after the server may have begun to work on it")
