"""Trace of ``codex``: one line of its stream as a short line for a reader."""

from __future__ import annotations

from runner.harnesses.stream import mapping, parsed
from runner.harnesses.trace import plain, tool_line


def trace_event(line: str) -> str | None:
    """A message, a command, a delegation or a failure in a few words; None for the rest."""
    event = parsed(line)
    if event is None:
        return None
    kind, item = event.get("type"), mapping(event.get("item"))
    if kind == "item.completed" and item.get("type") == "agent_message":
        return f"answer: {plain(item.get('text'))}"
    if kind == "item.completed" and item.get("type") == "command_execution":
        return (
            tool_line("command", {"command": item.get("command")}) + f": exit {plain(item.get('exit_code'))}"
        )
    if kind == "item.completed" and item.get("type") == "collab_tool_call":
        return f"subagent: {plain(item.get('tool'))} {plain(item.get('status'))}"
    if kind == "error":
        return f"error: {plain(event.get('message'))}"
    if kind == "turn.failed":
        return f"end: failed: {plain(mapping(event.get('error')).get('message'))}"
    if kind == "turn.completed":
        return "end: completed"
    return None
