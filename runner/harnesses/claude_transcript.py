"""Transcripts of ``claude-code``: what each answer used, for runs that ended before they could say it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from runner.harnesses.counts import Counts, total
from runner.harnesses.stream import Event, count, mapping, objects, text

SYNTHETIC = "<synthetic>"


def read_transcripts(configuration: Path) -> dict[str, Counts]:
    """By model, the sum over the answers in every transcript below ``configuration``, subagents included.

    An answer takes a line for each of its blocks, all with the same id and with counts that can only grow, so
    the largest of an id counts.
    """
    answers: dict[str, tuple[str, Counts]] = {}
    for path in _files(configuration):
        for line in objects(path):
            if line.get("type") == "assistant":
                _take(mapping(line.get("message")), answers)
    by_model: dict[str, list[Counts]] = {}
    for model, counts in answers.values():
        by_model.setdefault(model, []).append(counts)
    return {model: total(each) for model, each in by_model.items()}


def _files(configuration: Path) -> Iterator[Path]:
    """Main conversations, then those of subagents in a folder beside."""
    projects = configuration / "projects"
    yield from sorted(projects.glob("*/*.jsonl"))
    yield from sorted(projects.glob("*/*/subagents/**/*.jsonl"))


def _take(message: Event, answers: dict[str, tuple[str, Counts]]) -> None:
    identifier, model = text(message.get("id"), 200), text(message.get("model"), 300)
    if not identifier or model == SYNTHETIC:
        return
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
