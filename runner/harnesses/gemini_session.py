"""Session files of ``gemini-cli``: what each answer used, those of subagents in files of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.counts import Counts, totals
from runner.harnesses.stream import Event, count, mapping, objects, text

SUBAGENT = "subagent"


@dataclass
class Sessions:
    """Every answer in the session files of a run."""

    turns: dict[str, None] = field(default_factory=dict)
    """Ids of the answers in the main conversation."""
    told: dict[str, tuple[str, Counts]] = field(default_factory=dict)
    """Model and counts by id. An answer takes a line when it ends and another once its tools have run."""
    silent: dict[str, None] = field(default_factory=dict)
    """Ids of the answers that came without counts."""

    def by_model(self) -> dict[str, Counts]:
        """The sums by model."""
        return totals(self.told.values())


def read_sessions(configuration: Path) -> Sessions:
    """What every session file below ``configuration`` holds."""
    found = Sessions()
    for path in _files(configuration):
        main = True
        for line in objects(path):
            if "sessionId" in line and "type" not in line:
                main = line.get("kind") != SUBAGENT
            elif line.get("type") == "gemini":
                _take(line, found, main=main)
    return found


def _files(configuration: Path) -> Iterator[Path]:
    """Main conversations, then those of subagents in a folder named after them."""
    yield from sorted(configuration.glob("tmp/*/chats/*.jsonl"))
    yield from sorted(configuration.glob("tmp/*/chats/*/*.jsonl"))


def _take(line: Event, found: Sessions, *, main: bool) -> None:
    identifier, tokens = text(line.get("id"), 200), mapping(line.get("tokens"))
    if not identifier:
        return
    if main:
        found.turns[identifier] = None
    counts = counts_of(
        tokens.get("input"), tokens.get("cached"), tokens.get("output"), tokens.get("thoughts")
    )
    if tokens and not counts.all_zero:
        found.told[identifier] = (text(line.get("model"), 300), counts)
        found.silent.pop(identifier, None)
    elif identifier not in found.told:
        found.silent[identifier] = None


def counts_of(prompt: object, cached: object, answer: object, thoughts: object) -> Counts:
    """Counts without overlap, from input with the cache in it and output without the thinking.

    The protocol has no class for tokens written to a cache: these are part of the fresh input.
    """
    known, read = count(prompt), count(cached)
    said, thought = count(answer), count(thoughts)
    return Counts(
        fresh=None if known is None or read is None or read > known else known - read,
        read=read,
        write=0 if known is not None else None,
        output=None if said is None or thought is None else said + thought,
        reasoning=thought,
    )
