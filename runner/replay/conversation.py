"""Conversation and answer: one request and its reply, free of any wire protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from runner.replay.turns import Tokens

ARTIFACTS_LINE = re.compile(r"^\s*artifacts_dir:\s*(\S.*?)\s*$", re.MULTILINE)
PRESENT_LINE = re.compile(r"^\s*artifacts_present:", re.MULTILINE)
WORKSPACE_LINE = re.compile(r"^\s*workspace:\s*(\S.*?)\s*$", re.MULTILINE)


class RequestFault(ValueError):
    """The request cannot be served. The text goes back to the client."""

    def __init__(self, message: str, *, status: int = 400, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class OfferedTool:
    """A tool as the agent describes it; ``schema`` is the JSON Schema of its arguments."""

    name: str
    schema: Mapping[str, object]


@dataclass(frozen=True)
class Conversation:
    """What a request says, whichever protocol it came by."""

    model: str
    stream: bool
    wants_usage: bool
    tools: tuple[OfferedTool, ...]
    tool_results: int
    prompt: str
    """Text of the first user message."""

    @property
    def artifacts(self) -> str | None:
        """Folder on the prompt's line ``artifacts_dir:``."""
        match = ARTIFACTS_LINE.search(self.prompt)
        return match[1] if match else None

    @property
    def invocation(self) -> str:
        """``top-up`` when the prompt has a line ``artifacts_present:``, else ``first``."""
        return "top-up" if PRESENT_LINE.search(self.prompt) else "first"

    @property
    def workspace(self) -> str | None:
        """Folder on the prompt's line ``workspace:``."""
        match = WORKSPACE_LINE.search(self.prompt)
        return match[1] if match else None


@dataclass(frozen=True)
class ToolCall:
    """One call of an offered tool; ``arguments`` is the text sent, normally JSON."""

    identifier: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """What the scripted model answers. ``usage`` is None when the server keeps it to itself."""

    identifier: str
    model: str
    text: str
    calls: tuple[ToolCall, ...]
    usage: Tokens | None
    cache_detail: bool = True
