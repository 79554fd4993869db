"""omp: the coding agent Oh My Pi, driven in its JSON mode against Chat, Responses or Messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import agent_folder, write_yaml
from runner.harnesses.own_provider import KEY_VARIABLE, PROVIDER
from runner.harnesses.pi_settings import compatibility, models, own_instructions, reserve_tokens
from runner.harnesses.pi_stream import OMP, read_stream, trace_event
from runner.harnesses.window import DEFAULT_WINDOW
from runner.records import Limits

FOREIGN = (
    *("agents", "agents-md", "agent-plugins", "claude", "claude-md", "claude-plugins", "cline", "codex"),
    *("cursor", "gemini", "github", "mcp-json", "native", "omp-plugins", "opencode", "ssh-json", "vscode"),
    "windsurf",
)
"""Where it looks for settings and instructions: in the workspace and, for some, every folder above it."""
LOCAL_SERVERS = ("ollama", "llama.cpp", "lm-studio")
"""Model servers that it would look for on this machine."""
QUIET: dict[str, dict[str, object]] = {
    # A subagent is waited for; in the background, the run may end before it.
    "async": {"enabled": False},
    # Words of a prompt, such as "workflow", change what it does.
    "magicKeywords": {"enabled": False},
    "startup": {"checkUpdate": False, "setupWizard": False},
    "marketplace": {"autoUpdate": "off"},
    "dev": {"autoqa": False},
    "web_search": {"enabled": False},
    "fetch": {"enabled": False},
    "browser": {"enabled": False},
    "exa": {"enabled": False},
    "lsp": {"shared": False},
    "mcp": {"enableProjectConfig": False},
    "recap": {"enabled": False},
}

PINNED = Installation(
    source=Source.NPM,
    package="@oh-my-pi/pi-coding-agent",
    version="18.2.3",
    executable="node_modules/@oh-my-pi/pi-coding-agent/dist/cli.js",
    runtime=Runtime.BUN,
    note="Takes 1.1 GB, and runs on Bun, which is installed with it.",
)


@dataclass(frozen=True)
class Omp(InstalledProgram):
    """The harness ``omp``. It has subagents and no limit on turns."""

    name: str = "omp"
    title: str = "Oh My Pi"
    homepage: str | None = "https://omp.sh"
    protocols: tuple[WireProtocol, ...] = (
        WireProtocol.CHAT_COMPLETIONS,
        WireProtocol.RESPONSES,
        WireProtocol.MESSAGES,
    )
    turns_definition: str = "answers of the model to the main agent; those that ended in an error not counted"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_output_tokens", "timeout_seconds"})
    delegates: bool = True
    memory_mb: int = 320
    notes: tuple[str, ...] = (
        "It is a descendant of pi: the same event stream, many more tools, and requests ten times as long.",
        "Its subagents are made to be waited for; their tokens stand in transcripts of their own.",
        "Over Messages its requests name another vendor's agent, as it does for everyone who uses it so.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The prompt is on its stdin; the key is in its environment, named in its files."""
        endpoint, limits, folder = assignment.endpoint, assignment.limits, agent_folder(assignment)
        compat = compatibility(endpoint)
        # A value that is the name of a variable is replaced by it.
        told = models(
            endpoint,
            limits,
            provider={"apiKey": KEY_VARIABLE},
            model={"compat": compat} if compat else {},
        )
        return self.child(
            assignment,
            (
                *("-p", "--mode", "json", "--no-title", "--no-extensions", "--no-skills", "--no-rules"),
                *("--auto-approve", "--model", f"{PROVIDER}/{endpoint.model}"),
                *own_instructions(assignment.workspace),
            ),
            {"PI_CODING_AGENT_DIR": str(folder), "PI_NO_TITLE": "1", KEY_VARIABLE: endpoint.api_key},
            files=[
                write_yaml(folder / "models.yml", told),
                write_yaml(folder / "config.yml", settings(endpoint, limits)),
            ],
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the events in ``stdout``, and the transcripts of subagents, add up to."""
        # A session's own transcript lies above those of its subagents.
        children = sorted(agent_folder(assignment).glob("sessions/*/*/**/*.jsonl"))
        return read_stream(stdout, self.unkept(assignment), dialect=OMP, children=children)

    def trace(self, line: str) -> str | None:
        """An answer, a tool call or a retry in a few words."""
        return trace_event(line)


def settings(endpoint: Endpoint, limits: Limits) -> dict[str, object]:
    """The settings file: summarise early enough that the longest answer still fits; no network, no guests."""
    window = endpoint.context_window or DEFAULT_WINDOW
    full = max(window - reserve_tokens(endpoint, limits), 1)
    return {
        **QUIET,
        "compaction": {"enabled": True, "thresholdTokens": full},
        "disabledProviders": [*FOREIGN, *LOCAL_SERVERS],
    }
