"""ClaudeCodeJudge: Claude Code with tools that only read, and a strict form for its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.harnesses.base import Harness, Launch
from runner.harnesses.registry import harness
from runner.harnesses.stream import items, mapping, objects, text
from runner.judges.agentic import MAX_ANSWER, AgenticJudge
from runner.judges.base import Question
from runner.judges.grounding import ToolUse

READING_TOOLS = "Read,Grep,Glob"
ANSWER_TOOL = "StructuredOutput"
"""Tool that the program adds for an answer with a form."""


@dataclass(frozen=True)
class ClaudeCodeJudge(AgenticJudge):
    """The judge ``claude-code``. It has no tool that runs or changes anything.

    Settings and instruction files of the repository are not read.
    """

    name: str = "claude-code"
    title: str = "Claude Code reading the repository"
    harness: Harness = field(default_factory=lambda: harness("claude-code"))

    def launch(self, launch: Launch, question: Question) -> Launch:
        """``launch`` with the answer form and the tools of a reader."""
        words = ["--json-schema", json.dumps(question.schema), "--tools", READING_TOOLS]
        words += ["--setting-sources", "user", "--disable-slash-commands"]
        if question.effort:
            words += ["--effort", question.effort]
        return replace(launch, command=(*launch.command, *words))

    def answer(self, stdout: Path) -> str | None:
        """The answer in the given form, or else the last text."""
        found = None
        for event in objects(stdout):
            if event.get("type") == "result":
                formed = event.get("structured_output")
                found = json.dumps(formed, ensure_ascii=False) if formed is not None else event.get("result")
        return text(found, MAX_ANSWER) or None

    def uses(self, stdout: Path) -> Iterator[ToolUse]:
        """Uses of its reading tools whose result is no error."""
        asked: dict[str, str] = {}
        for event in objects(stdout):
            for block in map(mapping, items(mapping(event.get("message")).get("content"))):
                if block.get("type") == "tool_use" and block.get("name") != ANSWER_TOOL:
                    asked[text(block.get("id"))] = _words(mapping(block.get("input")))
                elif block.get("type") == "tool_result" and block.get("is_error") is not True:
                    use = asked.pop(text(block.get("tool_use_id")), None)
                    if use is not None:
                        yield ToolUse(use, _content(block.get("content")))


def _words(arguments: object) -> str:
    return "\n".join(text(value, 4000) for value in mapping(arguments).values() if isinstance(value, str))


def _content(content: object) -> str:
    if isinstance(content, str):
        return content[:MAX_ANSWER]
    return "\n".join(text(mapping(part).get("text"), MAX_ANSWER) for part in items(content))
