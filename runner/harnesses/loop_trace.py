"""Trace of ``loop``: one event as a short line for a reader."""

from __future__ import annotations

import json
from collections.abc import Mapping


def trace_event(line: str) -> str | None:
    """What an event tells in one line, or None for one that is no news, or is no event."""
    try:
        event = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        return None
    if not isinstance(event, dict):
        return None
    kind = event.get("event")
    if kind == "turn":
        return f"turn {event.get('turn')}: {_first_line(event.get('text')) or _calls(event)}"
    if kind == "tool":
        state = "ok" if event.get("ok") else "failed"
        return f"  {event.get('name')} {_first_line(event.get('arguments'))}: {state}"
    if kind in {"retry", "lost"}:
        return f"{kind}: {_first_line(event.get('reason'))}"
    if kind == "end":
        return f"end: {event.get('stop_reason')}"
    return None


def _calls(event: Mapping[str, object]) -> str:
    calls = event.get("calls")
    return f"{len(calls) if isinstance(calls, list) else calls} tool calls"


def _first_line(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return text.strip().partition("\n")[0]
