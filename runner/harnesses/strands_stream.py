"""Strands stream: the JSON lines of the Strands driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.counts import Counts, as_usage, gaps, nothing_used, total
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.stream import Event, count, mapping, objects, parsed, text
from runner.harnesses.trace import plain, tool_line
from runner.records import DataWarning, Usage

DONE = "end_turn"
LIMITS: Mapping[str, str] = {"limit_turns": "turns"}
SHOWN = 200
WHERE = "sum over model_call.usage"
SOURCES = {
    "input_tokens": f"{WHERE}: inputTokens, over Chat Completions less what came from a cache or went to one",
    "output_tokens": f"{WHERE}.outputTokens",
    "cache_read_tokens": f"{WHERE}.cacheReadInputTokens",
    "cache_write_tokens": f"{WHERE}.cacheWriteInputTokens",
    "reasoning_tokens": f"{WHERE}.reasoningTokens",
}


@dataclass
class Heard:
    """What the events say."""

    calls: list[Counts] = field(default_factory=list)
    """Of each answer that came to its end; all unknown where its server told nothing."""
    requests: int = 0
    refused: int = 0
    """Requests that the server turned away: they used no tokens."""
    broken: int = 0
    retries: int = 0
    result: Event = field(default_factory=dict)
    """The last event; empty where the driver was stopped."""

    def hear(self, event: Event, protocol: WireProtocol) -> None:
        """Take one event in."""
        kind = event.get("type")
        if kind == "request":
            self.requests += 1
        elif kind == "model_call" and event.get("error") is None:
            self.calls.append(counts_of(mapping(event.get("usage")), protocol))
        elif kind == "model_call":
            turned_away = event.get("refused") is True
            self.refused, self.broken = self.refused + turned_away, self.broken + (not turned_away)
        elif kind == "retry":
            self.retries += 1
        elif kind == "result":
            self.result = event

    @property
    def started(self) -> bool:
        """Whether there was anything to hear."""
        return bool(self.requests or self.calls or self.result)

    @property
    def lost(self) -> int:
        """Requests that broke off, or were under way at the end."""
        return self.broken + max(self.requests - len(self.calls) - self.refused - self.broken, 0)

    @property
    def silent(self) -> int:
        """Answers without counts."""
        return sum(counts.all_zero for counts in self.calls)

    @property
    def usage(self) -> Usage | None:
        """The sums; unknown where an answer came without counts, and nothing where all was turned away."""
        if self.calls:
            return None if self.silent else as_usage(total(self.calls), SOURCES)
        if self.requests and self.requests == self.refused:
            return nothing_used(SOURCES)
        return None

    @property
    def finished(self) -> bool:
        """Whether the model ended its work by itself."""
        return self.stop_reason == DONE and self.result.get("is_error") is False

    @property
    def stop_reason(self) -> str:
        """As the library names it."""
        return text(self.result.get("stop_reason"), 100) or ("stopped" if self.started else "no-output")

    @property
    def error(self) -> str | None:
        """Why it is no success."""
        if self.finished:
            return None
        if not self.result:
            return "the driver wrote no last line: it was stopped or crashed"
        return text(self.result.get("error")) or f"it ended by {self.stop_reason}"

    @property
    def turns(self) -> int | None:
        """Cycles, or where the driver was stopped the answers so far."""
        if self.result:
            return count(self.result.get("cycle_count"))
        return len(self.calls) if self.started else None

    @property
    def limit_hit(self) -> str | None:
        """The limit that ended it."""
        return LIMITS.get(self.stop_reason)


def read_run(stdout: Path, endpoint: Endpoint, warnings: Sequence[DataWarning] = ()) -> Reading:
    """The reading of a run, whatever is cut, broken or missing.

    Args:
        endpoint: what the requests went to; every one of them names its model.
        warnings: what the caller knows already.
    """
    heard = hear(stdout, endpoint.protocol)
    usage = heard.usage
    return Reading(
        stop_reason=heard.stop_reason,
        is_error=not heard.finished,
        error=heard.error,
        usage=usage,
        usage_by_model={endpoint.model: usage} if usage and heard.calls else {},
        turns=heard.turns,
        retries=heard.retries if heard.started else None,
        limit_hit=heard.limit_hit,
        warnings=(*gaps(heard.calls, heard.lost), *warnings),
    )


def hear(stdout: Path, protocol: WireProtocol) -> Heard:
    """What the events in ``stdout`` say; broken lines are passed over."""
    heard = Heard()
    for event in objects(stdout):
        heard.hear(event, protocol)
    return heard


def counts_of(usage: Event, protocol: WireProtocol) -> Counts:
    """One answer's counts. Over Chat Completions the input holds what came from a cache and went to one."""
    sent, output = count(usage.get("inputTokens")), count(usage.get("outputTokens"))
    if not sent and not output:
        return Counts()
    # The library leaves these two out where they are zero, or not told.
    read = count(usage.get("cacheReadInputTokens", 0))
    write = count(usage.get("cacheWriteInputTokens", 0))
    fresh = sent
    if protocol is WireProtocol.CHAT_COMPLETIONS:
        fresh = None if sent is None or read is None or write is None else max(sent - read - write, 0)
    return Counts(fresh, output, read, write, count(usage.get("reasoningTokens")))


def show(line: str) -> str | None:
    """A line of output as a short line for a reader, or None."""
    event = parsed(line)
    if event is None:
        return None
    kind = event.get("type")
    if kind == "tool_call":
        return tool_line(text(event.get("name")), mapping(event.get("input")))
    if kind == "answer":
        words = plain(text(event.get("text"), SHOWN))
        return f"answer: {words}" if words else None
    if kind == "retry" or (kind == "result" and event.get("is_error") is True):
        wrong = text(event.get("error"), SHOWN) or text(event.get("stop_reason"), SHOWN)
        return f"{'again after' if kind == 'retry' else 'error'}: {plain(wrong)}"
    return None
