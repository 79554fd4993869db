"""Transcripts of ``qwen-code``: every request of a run, subagents included, and what it used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.counts import Counts, totals
from runner.harnesses.stream import Event, count, mapping, objects, text

ANSWERED = "qwen-code.api_response"
FAILED = "qwen-code.api_error"


@dataclass
class Transcripts:
    """Every request in the transcripts of a run."""

    turns: int = 0
    """Answers in the main conversation."""
    answers: list[tuple[str, Counts]] = field(default_factory=list)
    """Model and counts; all zero where the server told none."""
    failures: list[tuple[int | None, str]] = field(default_factory=list)
    """Status, where the server gave one, and message."""
    failed_last: bool = False
    """Whether the last request is one of the failures."""

    @property
    def silent(self) -> int:
        """Answers that came without counts."""
        return sum(counts.all_zero for _, counts in self.answers)

    def by_model(self) -> dict[str, Counts]:
        """The sums by model."""
        return totals(self.answers)


def read_transcripts(configuration: Path) -> Transcripts:
    """What every transcript below ``configuration`` holds. Those of subagents only repeat their messages."""
    found = Transcripts()
    for path in sorted(configuration.glob("projects/*/chats/*.jsonl")):
        for line in objects(path):
            if line.get("type") == "assistant":
                found.turns += 1
            for happening in _happenings(line):
                _take(happening, found)
    return found


def _happenings(line: Event) -> Iterator[Event]:
    if line.get("subtype") == "ui_telemetry":
        yield mapping(mapping(line.get("systemPayload")).get("uiEvent"))


def _take(happening: Event, found: Transcripts) -> None:
    kind = happening.get("event.name")
    if kind == ANSWERED:
        found.failed_last = False
        counts = counts_of(
            happening.get("input_token_count"),
            happening.get("cached_content_token_count"),
            happening.get("output_token_count"),
            happening.get("thoughts_token_count"),
        )
        found.answers.append((text(happening.get("model"), 300), counts))
    elif kind == FAILED:
        found.failed_last = True
        found.failures.append((count(happening.get("status_code")), text(happening.get("error_message"))))


def counts_of(whole: object, cached: object, output: object, thoughts: object) -> Counts:
    """Counts without overlap, from input with the cache in it.

    Tokens written to a cache are never told apart: they are part of the fresh input.
    """
    known, read = count(whole), count(cached)
    return Counts(
        fresh=None if known is None or read is None or read > known else known - read,
        output=count(output),
        read=read,
        write=None if known is None else 0,
        reasoning=count(thoughts),
    )
