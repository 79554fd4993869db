"""Closed loop: what talks on a server of known speed come to, worked out event by event, without a clock.

It is the truth that a sweep of a server with injected service times is held against, and knows nothing of how
the sweep measures: neither of scrapes nor of histograms.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from runner.serving.talks import Talk

ROLE_TOKENS = 1
"""Each message has one more token than words; so has the place where the answer begins."""


@dataclass(frozen=True)
class ServerSpeed:
    """What the server does, in seconds per token, and how many requests at once."""

    capacity: int
    prefill_seconds_per_token: float
    output_seconds_per_token: float
    block_tokens: int
    """The prefix cache finds whole blocks of so many tokens only."""


@dataclass(frozen=True)
class Request:
    """One request: when it came, when work began, when its first and its last token were there."""

    arrived: float
    begun: float
    first: float
    ended: float
    prompt: int
    cached: int
    output: int


@dataclass(frozen=True)
class Truth:
    """What a measurement of the window should find. Rates are per second, times in milliseconds."""

    prompt_tokens_per_second: float
    output_tokens_per_second: float
    requests_per_second: float
    ttft_ms_mean: float | None
    queue_ms_mean: float | None
    prefill_ms_mean: float | None
    e2e_ms_mean: float | None
    tpot_ms_mean: float
    running_mean: float
    waiting_mean: float
    prefix_cache_hit_rate: float | None


@dataclass(frozen=True)
class _Wanted:
    slot: int
    arrived: float
    prompt: int
    cached: int
    output: int


def requests_of(talk: Talk, block_tokens: int) -> Iterator[tuple[int, int, int]]:
    """Prompt, cached and output tokens of each turn; what all talks begin with is in the cache already."""
    prompt = ROLE_TOKENS + talk.shared + ROLE_TOKENS
    known = prompt
    for number, turn in enumerate(talk.turns):
        if number:
            prompt += ROLE_TOKENS
        prompt += turn.words + ROLE_TOKENS
        cached = min(known, prompt - 1) // block_tokens * block_tokens
        yield prompt, cached, turn.output
        prompt += turn.output
        known = prompt


def run_loop(
    supply: Iterator[Talk],
    speed: ServerSpeed,
    *,
    slots: int,
    until: float,
    think_seconds: float = 0.0,
    stagger_seconds: float = 0.0,
) -> list[Request]:
    """Every request that came before ``until``; a slot takes the next talk when its own is done."""
    order, served, queue = count(), [], deque[_Wanted]()
    events: list[tuple[float, int, _Wanted | None, int]] = []
    lines: list[Iterator[tuple[int, int, int]]] = [iter(()) for _ in range(slots)]
    running = 0

    def arrive(slot: int, at: float, *, first: bool) -> None:
        """Put the slot's next request in line: of the talk it is in, or of a new one."""
        following = next(lines[slot], None)
        if following is None:
            lines[slot] = requests_of(next(supply), speed.block_tokens)
            following, first = next(lines[slot]), True
        moment = at if first else at + think_seconds
        heapq.heappush(events, (moment, next(order), _Wanted(slot, moment, *following), slot))

    for slot in range(slots):
        arrive(slot, slot * stagger_seconds, first=True)
    while events and events[0][0] < until:
        now, _, wanted, slot = heapq.heappop(events)
        if wanted is None:
            running -= 1
            arrive(slot, now, first=False)
        else:
            queue.append(wanted)
        while queue and running < speed.capacity:
            each = queue.popleft()
            running += 1
            first_token = now + (each.prompt - each.cached) * speed.prefill_seconds_per_token
            end = first_token + (each.output - 1) * speed.output_seconds_per_token
            served.append(Request(each.arrived, now, first_token, end, each.prompt, each.cached, each.output))
            heapq.heappush(events, (end, next(order), None, each.slot))
    # Those that still wait are seen as waiting.
    never = float("inf")
    left = [Request(w.arrived, never, never, never, w.prompt, w.cached, w.output) for w in queue]
    return [*served, *left]


def truth_of(requests: Sequence[Request], speed: ServerSpeed, seconds: float) -> Truth:
    """What the requests come to in the first ``seconds``, counted as vLLM counts.

    A prompt counts when its first token is there, and so does the time to it; an output token when it is due;
    queue, prefill and whole time of a request when it ends.
    """
    flowing = [each for each in requests if each.first <= seconds]
    ended = [each for each in requests if each.ended <= seconds]
    prompt = sum(each.prompt for each in flowing)
    output = sum(_due(each, speed, seconds) for each in flowing)
    return Truth(
        prompt_tokens_per_second=prompt / seconds,
        output_tokens_per_second=output / seconds,
        requests_per_second=len(ended) / seconds,
        ttft_ms_mean=_mean([each.first - each.arrived for each in flowing]),
        queue_ms_mean=_mean([each.begun - each.arrived for each in ended]),
        prefill_ms_mean=_mean([each.first - each.begun for each in ended]),
        e2e_ms_mean=_mean([each.ended - each.arrived for each in ended]),
        tpot_ms_mean=speed.output_seconds_per_token * 1000,
        running_mean=sum(_inside(each.begun, each.ended, seconds) for each in requests) / seconds,
        waiting_mean=sum(_inside(each.arrived, each.begun, seconds) for each in requests) / seconds,
        prefix_cache_hit_rate=sum(each.cached for each in flowing) / prompt if prompt else None,
    )


def _due(request: Request, speed: ServerSpeed, seconds: float) -> int:
    if request.ended <= seconds or speed.output_seconds_per_token <= 0:
        return request.output
    return min(request.output, 1 + int((seconds - request.first) / speed.output_seconds_per_token))


def _inside(start: float, end: float, seconds: float) -> float:
    return max(0.0, min(end, seconds) - min(start, seconds))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) * 1000 if values else None
