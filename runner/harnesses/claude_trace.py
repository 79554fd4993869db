"""Trace of ``claude-code``: one line of its stream as a short line for a reader."""

from __future__ import annotations

from runner.harnesses.stream import Event, items, mapping, parsed
from runner.harnesses.trace import plain, tool_line


def trace_event(line: str) -> str | None:
    """An answer, a tool call, a retry or the result in a few words; None for the rest."""
    event = parsed(line)
    if event is None:
        return None
    kind, subtype = event.get("type"), event.get("subtype")
    if kind == "assistant":
        return _answer(event)
    if kind == "system" and subtype == "api_retry":
        return (
            f"retry {plain(event.get('attempt'))}: {plain(event.get('error_status') or event.get('error'))}"
        )
    if kind == "system" and subtype == "task_started":
        return f"subagent: {plain(event.get('description'))}"
    if kind == "result":
        return f"end: {plain(event.get('terminal_reason') or subtype)}"
    return None


def _answer(event: Event) -> str | None:
    """One block of an answer; blocks of subagents are set in."""
    inset = "  " if event.get("parent_tool_use_id") else ""
    for block in items(mapping(event.get("message")).get("content")):
        part = mapping(block)
        if part.get("type") == "text" and plain(part.get("text")):
            return f"{inset}answer: {plain(part.get('text'))}"
        if part.get("type") == "tool_use":
            return inset + tool_line(part.get("name"), part.get("input"))
    return None
