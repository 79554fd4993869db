"""CodexJudge: Codex in a read-only checkout, with a strict form for its last message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.harnesses.base import Harness, Launch
from runner.harnesses.registry import harness
from runner.harnesses.stream import mapping, objects, text
from runner.judges.agentic import MAX_ANSWER, AgenticJudge
from runner.judges.base import Question
from runner.judges.grounding import ToolUse

BYPASS = "--dangerously-bypass-approvals-and-sandbox"
SCHEMA_FILE = "answer-schema.json"
NO_INSTRUCTIONS = ("project_doc_max_bytes=0", "skills.include_instructions=false")
"""Leave out the instruction files and the skills that a repository brings along."""


@dataclass(frozen=True)
class CodexJudge(AgenticJudge):
    """The judge ``codex``.

    Where nobody confines it from outside, its own read-only sandbox does. Instruction files of the repository
    are not read: they are for whoever works on it.
    """

    name: str = "codex"
    title: str = "Codex CLI reading the repository"
    harness: Harness = field(default_factory=lambda: harness("codex"))

    def launch(self, launch: Launch, question: Question) -> Launch:
        """``launch`` with the answer form, and without the rights that a judge does not need."""
        schema = question.home / SCHEMA_FILE
        schema.write_text(json.dumps(question.schema), encoding="utf-8")
        *words, last = launch.command
        if not question.confined:
            place = words.index(BYPASS)
            words[place : place + 1] = ["--sandbox", "read-only"]
        words += [
            "--output-schema",
            str(schema),
            *(part for each in NO_INSTRUCTIONS for part in ("-c", each)),
        ]
        if question.effort:
            words += ["-c", f"model_reasoning_effort={json.dumps(question.effort)}"]
        return replace(launch, command=(*words, last), configuration=(*launch.configuration, schema))

    def answer(self, stdout: Path) -> str | None:
        """The last message."""
        last = None
        for event in objects(stdout):
            item = mapping(event.get("item"))
            if event.get("type") == "item.completed" and item.get("type") == "agent_message":
                last = text(item.get("text"), MAX_ANSWER)
        return last

    def uses(self, stdout: Path) -> Iterator[ToolUse]:
        """Commands that ended with exit code 0."""
        for event in objects(stdout):
            item = mapping(event.get("item"))
            done = event.get("type") == "item.completed" and item.get("type") == "command_execution"
            if done and item.get("exit_code") == 0:
                command, output = item.get("command"), item.get("aggregated_output")
                yield ToolUse(text(command, MAX_ANSWER), text(output, MAX_ANSWER))
