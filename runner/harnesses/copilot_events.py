"""Event files of ``copilot``: one record of tokens for every answer of every agent of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.counts import Counts
from runner.harnesses.stream import Event, count, mapping, objects, text

RECORD = "session.usage_record"


@dataclass(frozen=True)
class Answer:
    """One answer of the model."""

    counts: Counts
    main: bool
    """Whether it belongs to the agent that was started, not to a subagent."""
    model: str
    reason: str
    """Why it ended, in the words of the protocol."""


@dataclass
class Events:
    """What the files of a run hold."""

    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    """By session and number in it: a session that continues another one repeats its records."""

    @property
    def last_reason(self) -> str:
        """Why the main agent's last answer ended; nothing where there is none."""
        return next((each.reason for each in reversed(self.answers.values()) if each.main), "")


def read_events(configuration: Path) -> Events:
    """Every record below ``configuration``; the folder serves one run, so all files belong to it."""
    found = Events()
    for path in sorted((configuration / "session-state").glob("*/events.jsonl")):
        for event in objects(path):
            if event.get("type") == RECORD:
                _take(event, found)
    return found


def _take(event: Event, found: Events) -> None:
    usage = mapping(mapping(event.get("data")).get("usage"))
    accounting = mapping(usage.get("accounting"))
    session, number = text(accounting.get("sourceSessionId"), 200), count(accounting.get("sequence"))
    key = (session, str(number)) if session and number is not None else ("", text(event.get("id"), 200))
    found.answers[key if any(key) else ("", f"record {len(found.answers)}")] = Answer(
        counts=counts_of(usage),
        main="agentId" not in event,
        model=text(usage.get("model"), 300),
        reason=text(usage.get("finishReason"), 100),
    )


def counts_of(usage: Event) -> Counts:
    """Counts of which no two overlap, from a block whose input holds the cached tokens."""
    whole, read = count(usage.get("inputTokens")), count(usage.get("cacheReadTokens"))
    write = count(usage.get("cacheWriteTokens"))
    output = count(usage.get("outputTokens"))
    return Counts(
        fresh=None if whole is None or read is None or write is None else max(whole - read - write, 0),
        output=output,
        read=read,
        write=write,
        # Left out where the server does not tell it, as one does that has no reasoning.
        reasoning=count(usage.get("reasoningTokens", None if output is None else 0)),
    )
