"""omp: the coding agent Oh My Pi, driven in its JSON mode against Chat, Responses or Messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import clean_environment, limits_not_kept, write_yaml
from runner.harnesses.pi import (
    API_KINDS,
    DEFAULT_WINDOW,
    answer_tokens,
    first_instructions,
    reserve_tokens,
)
from runner.harnesses.pi_stream import OMP, read_stream, trace_event
from runner.records import CacheSemantics, Limits

KEY_VARIABLE = "HARNESSMARK_MODEL_KEY"
PROVIDER = "harnessmark"
KEPT_LIMITS = frozenset({"max_output_tokens", "timeout_seconds"})
FOREIGN = (
    *("agents", "agents-md", "agent-plugins", "claude", "claude-md", "claude-plugins", "cline", "codex"),
    *("cursor", "gemini", "github", "mcp-json", "native", "omp-plugins", "opencode", "ssh-json", "vscode"),
    "windsurf",
)
"""Where it looks for settings and instructions: in the workspace and, for some, every folder above it."""
LOCAL_SERVERS = ("ollama", "llama.cpp", "lm-studio")
"""Model servers that it would look for on this machine."""
QUIET: dict[str, object] = {
    # A subagent is waited for; in the background, the run may end before it.
    "async.enabled": False,
    # Words of a prompt, such as "workflow", change what it does.
    "magicKeywords.enabled": False,
    "startup.checkUpdate": False,
    "startup.setupWizard": False,
    "marketplace.autoUpdate": "off",
    "dev.autoqa": False,
    "web_search.enabled": False,
    "fetch.enabled": False,
    "browser.enabled": False,
    "exa.enabled": False,
    "lsp.shared": False,
    "mcp.enableProjectConfig": False,
    "recap.enabled": False,
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
    protocols: tuple[WireProtocol, ...] = tuple(API_KINDS)
    cache_semantics: CacheSemantics = CacheSemantics.DISJOINT
    turns_definition: str = "answers of the model to the main agent; those that ended in an error not counted"
    installation: Installation = PINNED
    delegates: bool = True
    memory_mb: int = 320
    notes: tuple[str, ...] = (
        "It is a descendant of pi: the same event stream, many more tools, and requests ten times as long.",
        "Its subagents are made to be waited for; their tokens stand in transcripts of their own.",
        "Over Messages its requests name another vendor's agent, as it does for everyone who uses it so.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is on its stdin; the key is in its environment, named in its files.

        Raises:
            ConfigurationError: the program is not installed.
        """
        folder = self.folder(assignment)
        files = (
            write_yaml(folder / "models.yml", models(assignment.endpoint, assignment.limits)),
            write_yaml(folder / "config.yml", settings(assignment.endpoint, assignment.limits)),
        )
        own = first_instructions(assignment.workspace)
        return Launch(
            command=(
                *self.command(assignment.installed),
                *("-p", "--mode", "json", "--no-title", "--no-extensions", "--no-skills", "--no-rules"),
                *("--auto-approve", "--model", f"{PROVIDER}/{assignment.endpoint.model}"),
                *(("--append-system-prompt", str(own)) if own else ()),
            ),
            environment={
                **clean_environment(assignment, self.search_path),
                "PI_CODING_AGENT_DIR": str(folder),
                "PI_NO_TITLE": "1",
                KEY_VARIABLE: assignment.endpoint.api_key,
            },
            working_directory=assignment.workspace,
            stdin=assignment.prompt.encode(),
            readable=self.folders(assignment.installed),
            configuration=files,
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the events in ``stdout``, and the transcripts of subagents, add up to."""
        missing = limits_not_kept(assignment.limits, self.name, KEPT_LIMITS)
        # A session's own transcript lies above those of its subagents.
        children = sorted(self.folder(assignment).glob("sessions/*/*/**/*.jsonl"))
        return read_stream(stdout, missing, dialect=OMP, children=children)

    def trace(self, line: str) -> str | None:
        """An answer, a tool call or a retry in a few words."""
        return trace_event(line)

    @staticmethod
    def folder(assignment: Assignment) -> Path:
        """Its configuration and its sessions."""
        return assignment.home.absolute() / "agent"


def models(endpoint: Endpoint, limits: Limits) -> dict[str, object]:
    """The models file: one provider with one model, its window, and prices of 0.

    The key is the name of a variable: a value that is one is replaced by it.
    """
    compat: dict[str, object] = {}
    if endpoint.protocol is WireProtocol.CHAT_COMPLETIONS:
        compat = {"supportsDeveloperRole": False, "supportsReasoningEffort": False, "supportsStore": False}
    model = {
        "id": endpoint.model,
        "name": endpoint.model,
        "reasoning": False,
        "input": ["text"],
        "contextWindow": endpoint.context_window or DEFAULT_WINDOW,
        "maxTokens": answer_tokens(endpoint, limits),
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        **({"compat": compat} if compat else {}),
    }
    provider = {
        "baseUrl": endpoint.base_url,
        "api": API_KINDS[endpoint.protocol],
        "apiKey": KEY_VARIABLE,
        "models": [model],
    }
    return {"providers": {PROVIDER: provider}}


def settings(endpoint: Endpoint, limits: Limits) -> dict[str, object]:
    """The settings file: summarise early enough that the longest answer still fits; no network, no guests."""
    window = endpoint.context_window or DEFAULT_WINDOW
    reserve = reserve_tokens(endpoint, limits)
    flat = {
        **QUIET,
        "compaction.enabled": True,
        "compaction.thresholdTokens": max(window - reserve, 1),
    }
    groups: dict[str, dict[str, object]] = {}
    for name, value in flat.items():
        group, _, key = name.partition(".")
        groups.setdefault(group, {})[key] = value
    return {**groups, "disabledProviders": [*FOREIGN, *LOCAL_SERVERS]}
