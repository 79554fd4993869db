"""Trace of ``loop``: one event as a short line for a reader."""

from __future__ import annotations

from runner.harnesses.stream import Event, parsed, text
from runner.harnesses.trace import plain


def trace_event(line: str) -> str | None:
    """What an event tells in one line, or None for one that is no news, or is no event."""
    event = parsed(line)
    kind = text(event.get("event"), 100) if event else ""
    if event is None:
        return None
    if kind == "turn":
        return f"turn {plain(event.get('turn'))}: {_first_line(event.get('text')) or _calls(event)}"
    if kind == "tool":
        state = "ok" if event.get("ok") else "failed"
        return f"  {plain(event.get('name'))} {_first_line(event.get('arguments'))}: {state}"
    if kind in {"retry", "lost"}:
        return f"{kind}: {_first_line(event.get('reason'))}"
    if kind == "end":
        return f"end: {plain(event.get('stop_reason'))}"
    return None


def _calls(event: Event) -> str:
    calls = event.get("calls")
    return f"{len(calls) if isinstance(calls, list) else plain(calls)} tool calls"


def _first_line(value: object) -> str:
    return plain(value.strip().partition("\n")[0] if isinstance(value, str) else value)
