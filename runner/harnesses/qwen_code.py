"""QwenCode: Alibaba's coding agent, driven in its streaming JSON mode against Chat, Responses or Messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.gemini_settings import NO_GUESTS, UNATTENDED, common_settings
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import write_json
from runner.harnesses.qwen_stream import read_run, trace_event
from runner.harnesses.window import DEFAULT_ANSWER
from runner.records import Limits

AUTHENTICATION = {
    WireProtocol.CHAT_COMPLETIONS: "openai",
    WireProtocol.RESPONSES: "openai-responses",
    WireProtocol.MESSAGES: "anthropic",
}
INSTRUCTIONS = ("QWEN.md", "AGENTS.md")
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
        file = write_json(home / "settings.json", settings(assignment))
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
                # Settings of the machine beat those of the workspace.
                "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(file),
                "QWEN_CODE_SYSTEM_DEFAULTS_PATH": str(home / "no-defaults.json"),
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


def variables(endpoint: Endpoint, limits: Limits) -> dict[str, str]:
    """Endpoint, key and output limit, and what keeps the agent from starting itself again."""
    vendor = "ANTHROPIC" if endpoint.protocol is WireProtocol.MESSAGES else "OPENAI"
    found = {
        f"{vendor}_BASE_URL": endpoint.base_url,
        f"{vendor}_API_KEY": endpoint.api_key,
        "QWEN_CODE_NO_RELAUNCH": "true",
        "QWEN_CODE_DISABLE_CRON": "1",
        "QWEN_DISABLE_AUTO_TITLE": "1",
        "QWEN_USAGE_STATISTICS_ENABLED": "false",
    }
    if limits.max_output_tokens is not None:
        found["QWEN_CODE_MAX_OUTPUT_TOKENS"] = str(limits.max_output_tokens)
    return found


def settings(assignment: Assignment) -> dict[str, object]:
    """The settings: the window, the turn limit, no telemetry, no updates, no requests beside the task.

    The agent looks for instructions in the workspace and in folders above it. Named as seen from the folder
    above, only the workspace has them.
    """
    endpoint, limits = assignment.endpoint, assignment.limits
    inside = assignment.workspace.resolve().name
    # All retries are made where they can be seen.
    generation: dict[str, object] = {"maxRetries": 0}
    if endpoint.context_window is not None:
        generation["contextWindowSize"] = endpoint.context_window
    if endpoint.protocol is WireProtocol.MESSAGES:
        # Left alone it asks for more thinking than the longest answer may have, which servers refuse.
        generation["reasoning"] = {"budget_tokens": (limits.max_output_tokens or DEFAULT_ANSWER) // 2}
    common = common_settings(endpoint, limits, AUTHENTICATION[endpoint.protocol])
    return {
        **common,
        "model": {**common["model"], "generationConfig": generation},
        "fastModel": "",
        "agents": {"builtin": {"exploreModel": "inherit"}, "crossSessionMessaging": False},
        "general": {**common["general"], "chatRecording": True},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "context": {"fileName": [f"{inside}/{name}" for name in INSTRUCTIONS]},
        "tools": {"webSearch": {"enabled": False}},
        "experimental": {"emitToolUseSummaries": False, "cron": False, "artifact": False},
        "ui": {"enableFollowupSuggestions": False},
        "disableAllHooks": True,
    }
