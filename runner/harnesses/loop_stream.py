"""The event stream of ``loop``, read into usage, turns and stop reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.counts import NOT_A_CLASS, nothing_used
from runner.harnesses.stream import NO_END, Event, objects
from runner.records import CacheSemantics, DataWarning, SemanticsDecision, Usage

COUNTED = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
LIMITS = {"turns", "tokens", "cost", "time"}


@dataclass
class _Heard:
    """What the lines of a stream add up to."""

    started: bool = False
    not_enforced: dict[str, str] = field(default_factory=dict)
    answers: list[dict[str, int | None] | None] = field(default_factory=list)
    retries: int = 0
    lost: int = 0
    in_flight: bool = False
    end: Event | None = None

    def hear(self, event: Event) -> None:
        """Add one line of the stream."""
        kind = str(event.get("event"))
        if kind == "start":
            self.started = True
            self._hear_not_enforced(event)
        elif kind == "request":
            self.in_flight = True
        elif kind == "turn":
            self.in_flight = False
            self.answers.append(_counts(event.get("usage")))
        elif kind in {"retry", "lost"}:
            self.in_flight = False
            self.retries += kind == "retry"
            self.lost += kind == "lost" or event.get("usage_lost") is True
        elif kind == "end":
            self.in_flight = self.in_flight and event.get("stop_reason") == "terminated"
            self.end = event
            self._hear_not_enforced(event)

    @property
    def used_nothing(self) -> bool:
        """Whether it came to its end without an answer, and no answer broke off on the way."""
        return self.end is not None and not (self.answers or self.lost or self.in_flight)

    def _hear_not_enforced(self, event: Event) -> None:
        reasons = event.get("not_enforced")
        if isinstance(reasons, dict):
            self.not_enforced |= {str(name)[:40]: str(reason)[:400] for name, reason in reasons.items()}


def read_stream(stdout: Path) -> Reading:
    """The reading of the events in ``stdout``. Never raises on broken, cut or missing output."""
    heard = _Heard()
    for event in objects(stdout):
        heard.hear(event)
    end = heard.end or {}
    limit = end.get("limit_hit")
    error = end.get("error")
    usage = nothing_used(COUNTED) if heard.used_nothing else _usage(heard.answers)
    return Reading(
        stop_reason=str(end.get("stop_reason") or "no-end")[:100],
        is_error=end.get("is_error") is True or heard.end is None,
        error=NO_END if heard.end is None else (str(error)[:1000] if error else None),
        usage=usage,
        turns=len(heard.answers) if heard.started else None,
        retries=heard.retries if heard.started else None,
        limit_hit=str(limit) if str(limit) in LIMITS else None,
        warnings=tuple(_warnings(heard, usage)),
    )


def _warnings(heard: _Heard, usage: Usage | None) -> Iterator[DataWarning]:
    lost = heard.lost + heard.in_flight
    if lost:
        yield DataWarning(
            code="usage-is-lower-bound",
            text=f"{lost} of {lost + len(heard.answers)} answers broke off before their token counts "
            "arrived; the sums hold the others only",
        )
    if heard.answers and usage is None:
        yield DataWarning(code="usage-not-reported", text="the server sent no token counts with its answers")
    for name, reason in heard.not_enforced.items():
        yield DataWarning(code="limit-not-enforced", text=f"the {name} limit could not be kept: {reason}")


def _usage(answers: list[dict[str, int | None] | None]) -> Usage | None:
    """Sums over the answers; a class that one answer left out is unknown.

    Chat Completions counts cached tokens inside ``prompt_tokens``. Where every answer tells them apart, they
    are taken out, which makes the classes disjoint. Where one does not, the whole prompt is reported as it
    was told (partition), with an unknown part read from the cache.
    """
    if not answers or all(counts is None for counts in answers):
        return None
    fresh: int | None
    prompt, cached = _total(answers, "prompt"), _total(answers, "cached")
    output, reasoning = _total(answers, "completion"), _total(answers, "reasoning")
    sources = {
        "output_tokens": "sum of completion_tokens",
        "cache_read_tokens": "sum of prompt_tokens_details.cached_tokens",
        "reasoning_tokens": "sum of completion_tokens_details.reasoning_tokens",
        "cache_write_tokens": NOT_A_CLASS,
    }
    if prompt is not None and cached is not None and cached <= prompt:
        semantics, fresh = CacheSemantics.DISJOINT, prompt - cached
        sources["input_tokens"] = "sum of prompt_tokens less cached_tokens"
    else:
        semantics, fresh, cached = CacheSemantics.PARTITION, prompt, None
        sources["input_tokens"] = "sum of prompt_tokens; the server does not tell the cached part"
    counts = {
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_read_tokens": cached,
        "cache_write_tokens": None if prompt is None else 0,
        "reasoning_tokens": reasoning,
    }
    return Usage(
        **counts,
        cache_semantics=semantics,
        semantics_decided_by=SemanticsDecision.ADAPTER,
        sources={name: text for name, text in sources.items() if counts[name] is not None},
    )


def _total(answers: list[dict[str, int | None] | None], name: str) -> int | None:
    counts = [None if answer is None else answer[name] for answer in answers]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _counts(usage: object) -> dict[str, int | None] | None:
    if not isinstance(usage, dict):
        return None
    counts: dict[str, int | None] = {}
    for name in ("prompt", "cached", "completion", "reasoning"):
        value = usage.get(name)
        fine = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        counts[name] = value if fine else None
    return counts
