"""Window: the steady part of a load stage, when the level that is reported was really held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.endpoint.statistics.outcomes import is_answered
from runner.records.bench_trial import BenchRequest, BenchTrial, LoadPlace


@dataclass(frozen=True)
class Sent:
    """One request of a stage: when it began and ended, in ms of the stage's clock."""

    place: LoadPlace
    request: BenchRequest
    sent_ms: float
    ended_ms: float
    turn: int = 0
    """Of a session: which of its requests, from 0. Only the first of them can be planned ahead."""

    @property
    def scheduled_ms(self) -> float:
        """When it was meant to be sent; in a closed loop when it was."""
        planned = self.place.scheduled_ms if self.turn == 0 else None
        return self.sent_ms if planned is None else planned


@dataclass(frozen=True)
class Window:
    """From when to when the level was held, in ms of the stage's clock."""

    begins_ms: float
    ends_ms: float

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.ends_ms - self.begins_ms) / 1000

    def holds(self, at_ms: float) -> bool:
        """Whether ``at_ms`` is inside; the end is not."""
        return self.begins_ms <= at_ms < self.ends_ms


def sent_of(trials: Sequence[BenchTrial]) -> list[Sent]:
    """The requests of a stage that were sent, in the order of their sending."""
    found = [
        Sent(trial.load, request, request.offset_ms, request.offset_ms + (request.timing.total_ms or 0.0), at)
        for trial in trials
        if trial.load is not None
        for at, request in enumerate(trial.requests)
        if request.offset_ms is not None
    ]
    return sorted(found, key=lambda each: each.sent_ms)


@dataclass(frozen=True, order=True)
class Span:
    """One request, or one session from its first request to its last, in ms of the stage's clock."""

    begins_ms: float
    ends_ms: float
    warm_up: bool = False


def spans_of(sent: Sequence[Sent]) -> list[Span]:
    """The requests as what occupies a place of a closed loop, in the order of their beginnings."""
    places: dict[int, list[Sent]] = {}
    for each in sent:
        places.setdefault(each.place.number, []).append(each)
    return sorted(
        Span(min(e.sent_ms for e in group), max(e.ended_ms for e in group), group[0].place.warm_up)
        for group in places.values()
    )


def closed_window(spans: Sequence[Span], level: int) -> Window | None:
    """The steady window of a closed loop with ``level`` at once; None where the level was never held.

    It begins when as many as the level have begun and no warm-up is in flight any more, and ends with the
    first end after the last one began: from then on nobody takes its place.
    """
    if len(spans) < level or level < 1:
        return None
    begins = max([spans[level - 1].begins_ms, *(span.ends_ms for span in spans if span.warm_up)])
    last = spans[-1].begins_ms
    ends = min((span.ends_ms for span in spans if span.ends_ms > last), default=last)
    return Window(begins, ends) if ends > begins else None


def open_window(sent: Sequence[Sent]) -> Window | None:
    """The steady window of an open loop: from the first planned send that is no warm-up to the last one.

    Planned times, not real ones: a client or server that falls behind does not shorten what it is held to.
    """
    planned = sorted(each.scheduled_ms for each in sent if not each.place.warm_up)
    return Window(planned[0], planned[-1]) if len(planned) > 1 and planned[-1] > planned[0] else None


def in_flight(sent: Sequence[Sent], window: Window) -> tuple[float, int]:
    """Mean over time, and peak, of the requests in flight inside the window."""
    busy = 0.0
    steps: list[tuple[float, int]] = []
    for each in sent:
        begin, end = max(each.sent_ms, window.begins_ms), min(each.ended_ms, window.ends_ms)
        if end > begin:
            busy += end - begin
            steps += [(begin, 1), (end, -1)]
    now = peak = 0
    for _, step in sorted(steps):
        now += step
        peak = max(peak, now)
    return busy / (window.ends_ms - window.begins_ms), peak


def output_tokens(sent: Sequence[Sent], window: Window) -> float | None:
    """Output tokens that arrived inside the window; None where an answer does not tell its tokens.

    The tokens of an answer are spread evenly over its fragments, and each fragment counts when it came.
    """
    found = 0.0
    for each in sent:
        request = each.request
        if not request.fragments or not _touches(each, window):
            continue
        tokens = None if request.usage is None else request.usage.output_tokens
        if tokens is None:
            if is_answered(request):
                return None
            continue
        inside = sum(window.holds(each.sent_ms + at) for at, *_ in request.fragments)
        found += tokens * inside / len(request.fragments)
    return found


def _touches(each: Sent, window: Window) -> bool:
    return each.sent_ms < window.ends_ms and each.ended_ms > window.begins_ms
