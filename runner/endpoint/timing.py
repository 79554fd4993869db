"""Timing: the figures of one request, each from its milestones by one formula."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from runner.records.base import Count, Part

if TYPE_CHECKING:
    from runner.endpoint.result import StreamResult

NS_PER_MS = 1_000_000
BUFFERED_FROM_TOKENS = 32
BUFFERED_SHARE = 0.8
LAST_PART = 0.1
SPEED_FROM_MS = 1.0
"""Shorter spans are within the error of the client, and come of fragments that travelled together."""

Ms = Annotated[float, Field(description="milliseconds")]


class Gaps(Part):
    """Times between the arrivals of consecutive fragments of any kind. A fragment is no token."""

    count: Count
    p50: Ms | None = None
    p95: Ms | None = None
    max: Ms | None = None


class Timing(Part):
    """All figures of one request; each is None where it was not measured."""

    queue_ms: Ms | None
    slot_ms: Ms | None
    connect_ms: Ms | None
    tls_ms: Ms | None
    headers_ms: Ms | None
    first_byte_ms: Ms | None
    first_event_ms: Ms | None
    ttft_ms: Ms | None
    first_reasoning_ms: Ms | None
    first_visible_ms: Ms | None
    first_tool_ms: Ms | None
    ttfo_ms: Ms | None
    last_visible_ms: Ms | None
    latency_ms: Ms | None
    scheduled_latency_ms: Ms | None
    done_ms: Ms | None
    total_ms: Ms | None
    tpot_ms: Ms | None
    output_tps: float | None
    visible_tps: float | None
    e2e_tps: float | None
    prefill_tps: float | None
    tokens_per_chunk: float | None
    gaps: Gaps
    burst_ratio: float | None
    buffered: bool | None


def between(begin: int | None, end: int | None) -> float | None:
    """``(end - begin) / 10^6``: milliseconds between two stamps in nanoseconds; None with either missing."""
    return None if begin is None or end is None else (end - begin) / NS_PER_MS


def timing(result: StreamResult) -> Timing:
    """Every figure of ``result``."""
    at = result.milestones
    return Timing(
        queue_ms=between(at.scheduled, at.sent),
        slot_ms=between(at.scheduled, at.released),
        connect_ms=between(at.connect_begun, at.connected),
        tls_ms=between(at.connected, at.secured),
        headers_ms=between(at.sent, at.headers),
        first_byte_ms=between(at.sent, at.first_byte),
        first_event_ms=between(at.sent, at.first_event),
        ttft_ms=ttft(result),
        first_reasoning_ms=between(at.sent, at.first_reasoning),
        first_visible_ms=between(at.sent, at.first_visible),
        first_tool_ms=between(at.sent, at.first_tool),
        ttfo_ms=ttfo(result),
        last_visible_ms=between(at.sent, at.last_visible),
        latency_ms=latency(result),
        scheduled_latency_ms=between(at.scheduled, at.last_any),
        done_ms=between(at.sent, at.done),
        total_ms=between(at.sent, at.ended),
        tpot_ms=tpot(result),
        output_tps=output_tps(result),
        visible_tps=visible_tps(result),
        e2e_tps=e2e_tps(result),
        prefill_tps=prefill_tps(result),
        tokens_per_chunk=tokens_per_chunk(result),
        gaps=gaps([fragment.at_ns for fragment in result.fragments]),
        burst_ratio=burst_ratio(result),
        buffered=buffered(result),
    )


def ttft(result: StreamResult) -> float | None:
    """Time to the first token of any kind: ``first_any - sent`` (reasoning, content, refusal, tool call)."""
    return between(result.milestones.sent, result.milestones.first_any)


def ttfo(result: StreamResult) -> float | None:
    """Time to the first output that is no reasoning: ``min(first_visible, first_tool) - sent``."""
    firsts = [at for at in (result.milestones.first_visible, result.milestones.first_tool) if at is not None]
    return between(result.milestones.sent, min(firsts)) if firsts else None


def latency(result: StreamResult) -> float | None:
    """``last_any - sent``: until the last fragment, not until the connection's end."""
    return between(result.milestones.sent, result.milestones.last_any)


def tpot(result: StreamResult) -> float | None:
    """Time per output token after the first chunk, in ms.

    ``(last_any - first_any) / (output_tokens - n_first)``. ``output_tokens`` includes reasoning;
    ``n_first`` is what the server counted in the first chunk where it counts each chunk, else 1. None with
    fewer than 2 output tokens, with one chunk, and where nothing is left to divide by.
    """
    tokens = _output_tokens(result)
    span = between(result.milestones.first_any, result.milestones.last_any)
    if tokens is None or tokens < 2 or span is None or len(result.fragments) < 2:
        return None
    first = result.fragments[0].tokens
    rest = tokens - (1 if first is None else first)
    return span / rest if rest > 0 and span > 0 else None


def output_tps(result: StreamResult) -> float | None:
    """Output speed after the first chunk, tokens per second: ``1000 / tpot``.

    None for a buffered answer and where all fragments came within 1 ms: what was held back and then sent at
    once shows the speed of the network, not of the model.
    """
    each, span = tpot(result), between(result.milestones.first_any, result.milestones.last_any)
    return None if each is None or _came_at_once(result, span) else 1000 / each


def visible_tps(result: StreamResult) -> float | None:
    """``(visible - 1) / (last_visible - first_visible)`` per second.

    None with one visible chunk, with fewer than 2 visible tokens, where 0 would be no speed, and where the
    output speed is None because the answer came at once.
    """
    tokens = None if result.usage is None else result.usage.visible_tokens
    span = between(result.milestones.first_visible, result.milestones.last_visible)
    if tokens is None or tokens < 2 or not span or _came_at_once(result, span):
        return None
    return (tokens - 1) / (span / 1000)


def e2e_tps(result: StreamResult) -> float | None:
    """``output_tokens / latency`` per second: the wait for the first token counts."""
    tokens, spent = _output_tokens(result), latency(result)
    return tokens / (spent / 1000) if tokens is not None and spent else None


def prefill_tps(result: StreamResult) -> float | None:
    """``uncached prompt tokens / TTFT`` per second: an upper bound by proxy; queues and network are in it."""
    tokens = None if result.usage is None else result.usage.uncached_prompt_tokens
    spent = ttft(result)
    return tokens / (spent / 1000) if tokens is not None and spent else None


def tokens_per_chunk(result: StreamResult) -> float | None:
    """``output_tokens / fragments``."""
    tokens = _output_tokens(result)
    return tokens / len(result.fragments) if tokens is not None and result.fragments else None


def gaps(stamps: Sequence[int]) -> Gaps:
    """Between consecutive stamps: how many, and their nearest-rank p50, p95 and largest, in ms."""
    waits = sorted((after - before) / NS_PER_MS for before, after in itertools.pairwise(stamps))
    if not waits:
        return Gaps(count=0)
    return Gaps(count=len(waits), p50=nearest_rank(waits, 0.5), p95=nearest_rank(waits, 0.95), max=waits[-1])


def nearest_rank(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of the sorted ``ordered`` does not exceed."""
    rank = -int(-len(ordered) * share // 1)
    return ordered[min(max(rank, 1), len(ordered)) - 1]


def burst_ratio(result: StreamResult) -> float | None:
    """Share of the fragments of any kind that arrived in the last tenth of the time from sent to done."""
    begin, end = result.milestones.sent, result.milestones.done or result.milestones.ended
    if begin is None or end is None or not result.fragments:
        return None
    late = end - (end - begin) * LAST_PART
    return sum(fragment.at_ns >= late for fragment in result.fragments) / len(result.fragments)


def buffered(result: StreamResult) -> bool | None:
    """Whether at least 80 % of the fragments came in the last 10 % of the time.

    None below 32 output tokens, where a short answer says nothing, and where the tokens are not told.
    """
    tokens, ratio = _output_tokens(result), burst_ratio(result)
    if tokens is None or tokens < BUFFERED_FROM_TOKENS or ratio is None:
        return None
    return ratio >= BUFFERED_SHARE


def _came_at_once(result: StreamResult, span: float | None) -> bool:
    return buffered(result) is True or span is None or span < SPEED_FROM_MS


def _output_tokens(result: StreamResult) -> int | None:
    return None if result.usage is None else result.usage.output_tokens
