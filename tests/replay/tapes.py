"""Cassettes for tests, and plain requests to a replay server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

HEADER: Mapping[str, object] = {
    "kind": "cassette",
    "schema_version": 1,
    "dataset": "demo",
    "model": "m",
    "context_window": 4096,
    "note": "scripted for a test",
}
USAGE = {"uncached": 101, "cache_read": 2003, "cache_write": 307, "output": 41, "reasoning": 5}


def turn(step: int, *actions: Mapping[str, object], **more: object) -> dict[str, object]:
    """One line of a cassette."""
    return {"task": "t", "step": step, "say": "hello", "actions": list(actions), "usage": USAGE, **more}


THREE = (
    turn(0, {"do": "read", "path": "a.py"}, {"do": "shell", "command": "ls"}),
    turn(1, {"do": "write", "path": "{artifacts}/n.md", "content": "see {workspace}"}),
    turn(2, say="done"),
)


def text_of(*lines: object) -> str:
    """Lines of a cassette as text; strings are taken as they are."""
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


def tape(folder: Path, lines: Sequence[object] = THREE, **header: object) -> Path:
    """A folder with one cassette."""
    head = {**HEADER, **header}
    path = folder / str(head["dataset"]) / f"{head['model']}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(head, *lines), encoding="utf-8")
    return folder


def tool(name: str, **properties: object) -> dict[str, object]:
    """A tool as an agent offers it; every property is required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


STRING = {"type": "string"}
TOOLS = (
    tool("read_file", path=STRING),
    tool("create_file", path=STRING, content=STRING),
    tool("run_command", command=STRING),
)
PROMPT = "Fix it.\nworkspace: /w\nartifacts_dir: /a\n"


def request(results: int = 0, **more: object) -> dict[str, object]:
    """A request whose conversation holds so many tool results."""
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": PROMPT},
    ]
    for number in range(results):
        messages.append({"role": "assistant", "content": None, "tool_calls": []})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": "r"})
    return {"model": "m", "messages": messages, "tools": list(TOOLS), **more}
