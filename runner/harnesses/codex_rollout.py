"""Rollout files of ``codex``: one record of tokens for every answer of every thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.counts import Counts
from runner.harnesses.stream import Event, count, mapping, objects, text

KEY = ("thread_id", "turn_id", "response_id")


@dataclass
class Rollouts:
    """What the files of one session hold."""

    records: dict[tuple[str, str, str], tuple[str, Counts]] = field(default_factory=dict)
    """Model and counts by thread, turn and answer: a thread split off another repeats the records of it."""
    main_answers: int = 0
    """Answers of threads that no other thread started."""
    children: int = 0
    """Threads that another one started."""


def read_rollouts(configuration: Path, model: str) -> Rollouts:
    """Every record below ``configuration``; the folder serves one run, so all files belong to it.

    Args:
        model: stands for the model where a file names none.
    """
    found = Rollouts()
    for path in sorted((configuration / "sessions").rglob("rollout-*.jsonl")):
        _read_file(path, model, found)
    return found


def _read_file(path: Path, model: str, found: Rollouts) -> None:
    main = True
    for line in objects(path):
        payload = mapping(line.get("payload"))
        kind = line.get("type")
        if kind == "session_meta":
            main = payload.get("thread_source") != "subagent" and "parent_thread_id" not in payload
            found.children += not main
        elif kind == "turn_context":
            model = text(payload.get("model"), 300) or model
        elif kind == "token_usage_record":
            thread, turn, answer = (text(payload.get(name), 200) for name in KEY)
            key = (thread, turn, answer)
            if key not in found.records:
                found.main_answers += main
                found.records[key] = (model, counts_of(mapping(payload.get("usage"))))


def counts_of(usage: Event) -> Counts:
    """Counts of which no two overlap, from a block whose input holds the cached tokens."""
    whole, read = count(usage.get("input_tokens")), count(usage.get("cached_input_tokens"))
    write = count(usage.get("cache_write_input_tokens"))
    fresh = None if whole is None or read is None else max(whole - read - (write or 0), 0)
    return Counts(
        fresh=fresh,
        output=count(usage.get("output_tokens")),
        read=read,
        write=write,
        reasoning=count(usage.get("reasoning_output_tokens")),
    )
