"""QwenCode: Alibaba's coding agent, driven in its streaming JSON mode against Chat, Responses or Messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.gemini_settings import NO_GUESTS, UNATTENDED, program_variables
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import write_json
from runner.harnesses.qwen_settings import AUTHENTICATION, settings_for, variables
from runner.harnesses.qwen_stream import read_run, trace_event

REACHES_OUT = "web_fetch,web_search"
"""Tools that could look the answer up; a search runs at the vendor, where no sandbox of ours holds it."""

PINNED = Installation(
    source=Source.NPM,
    package="@qwen-code/qwen-code",
    version="0.24.4",
    executable="node_modules/@qwen-code/qwen-code/cli.js",
    runtime=Runtime.NODE,
    note="Needs Node 22 or newer, which is installed with it.",
)


@dataclass(frozen=True)
class QwenCode(InstalledProgram):
    """The harness ``qwen-code``."""

    name: str = "qwen-code"
    title: str = "Qwen Code"
    homepage: str | None = "https://github.com/QwenLM/qwen-code"
    protocols: tuple[WireProtocol, ...] = tuple(AUTHENTICATION)
    turns_definition: str = "answers of the model in the main conversation; not those of subagents"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_turns", "max_output_tokens", "timeout_seconds"})
    delegates: bool = True
    memory_mb: int = 300
    notes: tuple[str, ...] = (
        "Its input has the cache in it, although the field is called as in a program where it has not.",
        "It never tells tokens written to a cache: over Messages they are part of its input, with a warning.",
        "At its turn limit it ends without a result line; its transcript holds the usage then.",
        "Five identical tool calls in a row stop it.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is on its stdin, the key in its environment."""
        home, endpoint = assignment.home.absolute(), assignment.endpoint
        file = write_json(home / "settings.json", settings_for(assignment))
        return self.child(
            assignment,
            (
                *("--auth-type", AUTHENTICATION[endpoint.protocol], "--model", endpoint.model),
                *(*UNATTENDED, "--chat-recording"),
                *("--include-directories", str(assignment.artifacts.absolute())),
                *("--exclude-tools", REACHES_OUT, *NO_GUESTS),
            ),
            {
                **variables(endpoint, assignment.limits),
                **program_variables("QWEN_CODE", settings=file, defaults=home / "no-defaults.json"),
                "QWEN_HOME": str(home / ".qwen"),
            },
            files=[file],
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the result line says, or, where there is none, what the transcripts below ``home`` hold."""
        return read_run(
            stdout,
            assignment.home / ".qwen",
            self.unkept(assignment),
            max_turns=assignment.limits.max_turns,
            tells_writes=assignment.endpoint.protocol is not WireProtocol.MESSAGES,
        )

    def trace(self, line: str) -> str | None:
        """An answer, a tool call or the result in a few words."""
        return trace_event(line)
