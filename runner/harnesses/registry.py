"""Registry of harnesses: one line per coding agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from runner.errors import ConfigurationError
from runner.harnesses.base import Harness
from runner.registry import made_by_name

HARNESSES: Mapping[str, str] = {
    "aider": "runner.harnesses.aider:Aider",
    "claude-code": "runner.harnesses.claude_code:ClaudeCode",
    "codex": "runner.harnesses.codex:Codex",
    "copilot": "runner.harnesses.copilot:Copilot",
    "gemini-cli": "runner.harnesses.gemini_cli:GeminiCli",
    "kiro-cli": "runner.harnesses.kiro_cli:KiroCli",
    "loop": "runner.harnesses.loop:Loop",
    "mini-swe-agent": "runner.harnesses.mini_swe_agent:MiniSweAgent",
    "omp": "runner.harnesses.omp:Omp",
    "opencode": "runner.harnesses.opencode:OpenCode",
    "openhands": "runner.harnesses.openhands:OpenHands",
    "pi": "runner.harnesses.pi:Pi",
    "qwen-code": "runner.harnesses.qwen_code:QwenCode",
    "strands": "runner.harnesses.strands:Strands",
}
SLUG = re.compile(r"[a-z0-9][a-z0-9.-]*")
MEMBERS = tuple(each for each in (*Harness.__annotations__, *vars(Harness)) if not each.startswith("_"))
"""What a harness must have: all that the seam says."""


def harness(name: str) -> Harness:
    """The harness called ``name``, or the one an import path ``package.module:Name`` leads to.

    Raises:
        UsageError: no such name; the nearest one is offered.
        ConfigurationError: the import path leads nowhere, or to something that is no harness.
    """
    made = made_by_name("harness", name, HARNESSES, MEMBERS)
    own = cast(Harness, made)
    if not SLUG.fullmatch(own.name):
        raise ConfigurationError(
            f"{own.name!r} is no name for a harness", where=name, remedy="use a-z, 0-9, dots and hyphens"
        )
    kind = type(made)
    if own.name in HARNESSES and HARNESSES[own.name] not in {name, f"{kind.__module__}:{kind.__qualname__}"}:
        raise ConfigurationError(
            f"{own.name!r} is the name of another harness, whose results would be mixed with these",
            where=name,
            remedy="give it a name of its own",
        )
    return own


def asked_as(found: object, name: str) -> str:
    """What a user asks for to get ``found``, whose own name is ``name``: that, or its import path.

    Only the registered harnesses are found by their names.
    """
    kind = type(found)
    return name if name in HARNESSES else f"{kind.__module__}:{kind.__qualname__}"
