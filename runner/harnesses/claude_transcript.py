"""Transcripts of ``claude-code``: what each answer used, for runs that ended before they could say it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.counts import Counts, totals
from runner.harnesses.stream import Event, count, mapping, objects, text

SYNTHETIC = "<synthetic>"


@dataclass
class Transcripts:
    """Every answer in the transcripts of a run, subagents included."""

    answers: dict[str, tuple[str, Counts]] = field(default_factory=dict)
    """Model and counts by id. An answer takes a line for each of its blocks, all with the same id and with
    counts that can only grow, so the largest counts."""
    requests: dict[str, bool] = field(default_factory=dict)
    """Whether the answer to a request came to its end."""

    def by_model(self) -> dict[str, Counts]:
        """The sums by model."""
        return totals(self.answers.values())

    @property
    def broken(self) -> int:
        """Answers that broke off; of these only what was told at their start is counted."""
        return sum(not ended for ended in self.requests.values())


def read_transcripts(configuration: Path) -> Transcripts:
    """What every transcript below ``configuration`` holds."""
    found = Transcripts()
    for path in _files(configuration):
        for line in objects(path):
            if line.get("type") == "assistant":
                _take(line, found)
    return found


def _files(configuration: Path) -> Iterator[Path]:
    """Main conversations, then those of subagents in a folder beside."""
    projects = configuration / "projects"
    yield from sorted(projects.glob("*/*.jsonl"))
    yield from sorted(projects.glob("*/*/subagents/**/*.jsonl"))


def _take(line: Event, found: Transcripts) -> None:
    message, answers = mapping(line.get("message")), found.answers
    identifier, model = text(message.get("id"), 200), text(message.get("model"), 300)
    if not identifier or model == SYNTHETIC:
        return
    request = text(line.get("requestRef"), 200) or identifier
    ended = isinstance(message.get("stop_reason"), str)
    found.requests[request] = found.requests.get(request, False) or ended
    counts = _counts(mapping(message.get("usage")))
    before = answers.get(identifier)
    if before is None or (counts.output or 0) >= (before[1].output or 0):
        answers[identifier] = (model, counts)


def _counts(usage: Event) -> Counts:
    details = mapping(usage.get("output_tokens_details"))
    return Counts(
        fresh=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        read=count(usage.get("cache_read_input_tokens")),
        write=count(usage.get("cache_creation_input_tokens")),
        reasoning=count(details.get("thinking_tokens")) or None,
    )
