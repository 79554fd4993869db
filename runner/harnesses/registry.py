"""Registry of harnesses: one line per coding agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from runner.errors import ConfigurationError
from runner.harnesses.base import Harness
from runner.registry import load_by_name

HARNESSES: Mapping[str, str] = {
    "claude-code": "runner.harnesses.claude_code:ClaudeCode",
    "codex": "runner.harnesses.codex:Codex",
    "gemini-cli": "runner.harnesses.gemini_cli:GeminiCli",
    "loop": "runner.harnesses.loop:Loop",
    "pi": "runner.harnesses.pi:Pi",
    "qwen-code": "runner.harnesses.qwen_code:QwenCode",
}
MEMBERS = (
    "name",
    "title",
    "protocols",
    "cache_semantics",
    "turns_definition",
    "installation",
    "delegates",
    "memory_mb",
    "notes",
    "version",
    "launch",
    "read",
    "trace",
)


def harness(name: str) -> Harness:
    """The harness called ``name``, or the one an import path ``package.module:Name`` leads to.

    Raises:
        UsageError: no such name; the nearest one is offered.
        ConfigurationError: the import path leads nowhere, or to something that is no harness.
    """
    found = load_by_name("harness", name, HARNESSES)
    made = found() if isinstance(found, type) else found
    missing = [member for member in MEMBERS if not hasattr(made, member)]
    if missing:
        raise ConfigurationError(f"{name!r} is no harness: it has no {', '.join(missing)}")
    return cast(Harness, made)
