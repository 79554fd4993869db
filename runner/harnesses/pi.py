"""Pi: the coding agent of that name, driven in its JSON mode against Chat, Responses or Messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import clean_environment, limits_not_kept, write_json
from runner.harnesses.pi_stream import read_stream, trace_event
from runner.records import CacheSemantics, Limits

KEY_VARIABLE = "HARNESSMARK_MODEL_KEY"
PROVIDER = "harnessmark"
API_KINDS = {
    WireProtocol.CHAT_COMPLETIONS: "openai-completions",
    WireProtocol.RESPONSES: "openai-responses",
    WireProtocol.MESSAGES: "anthropic-messages",
}
BEDROCK_KIND = "bedrock-converse-stream"
DEFAULT_WINDOW = 200_000
DEFAULT_OUTPUT = 32_000
RESERVE_BEYOND_OUTPUT = 8_192
"""Room kept for the summary itself; with pi's own 16,384 in all, long answers overflowed the window."""
INSTRUCTIONS = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""In the agent's own order; the first that is there counts."""
KEPT_LIMITS = frozenset({"max_output_tokens", "timeout_seconds"})


PINNED = Installation(
    source=Source.NPM,
    package="@earendil-works/pi-coding-agent",
    version="1.6.0",
    executable="node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js",
    runtime=Runtime.NODE,
    note="Needs Node 22.19 or newer, which is installed with it.",
)


@dataclass(frozen=True)
class Pi(InstalledProgram):
    """The harness ``pi``. It has no subagents, no permission questions and no limit on turns."""

    name: str = "pi"
    title: str = "pi"
    homepage: str | None = "https://pi.dev"
    protocols: tuple[WireProtocol, ...] = (*API_KINDS, WireProtocol.BEDROCK_CONVERSE)
    cache_semantics: CacheSemantics = CacheSemantics.DISJOINT
    turns_definition: str = "answers of the model; those that ended in an error are not counted"
    installation: Installation = PINNED
    delegates: bool = False
    memory_mb: int = 200
    notes: tuple[str, ...] = (
        "It exits with 0 whatever happened; the stop reason of its last answer decides.",
        "It has four tools, no subagents and no permission questions, and its requests are the shortest.",
        "Retries of a failed request show in its stream; answers that failed are not turns.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is on its stdin; the key is in its environment, named in its files.

        Raises:
            ConfigurationError: the program is not installed.
        """
        folder = assignment.home.absolute() / "agent"
        files = (
            write_json(folder / "models.json", models(assignment.endpoint, assignment.limits)),
            write_json(folder / "settings.json", settings(assignment.endpoint, assignment.limits)),
        )
        return Launch(
            command=(
                *self.command(assignment.installed),
                *("-p", "--mode", "json", "--no-session", "--no-extensions", "--no-mcp"),
                *("--provider", PROVIDER, "--model", assignment.endpoint.model),
                *instructions_of(assignment.workspace),
            ),
            environment={
                **clean_environment(assignment, self.search_path),
                "PI_CODING_AGENT_DIR": str(folder),
                "PI_OFFLINE": "1",
                "PI_TELEMETRY": "0",
                # Only its client of Bedrock looks at it, which else speaks a version that few gateways do.
                "AWS_BEDROCK_FORCE_HTTP1": "1",
                KEY_VARIABLE: assignment.endpoint.api_key,
            },
            working_directory=assignment.workspace,
            stdin=assignment.prompt.encode(),
            readable=self.folders(assignment.installed),
            configuration=files,
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the events in ``stdout`` add up to; a cut stream yields what it still holds."""
        missing = limits_not_kept(assignment.limits, self.name, KEPT_LIMITS)
        return read_stream(stdout, missing)

    def trace(self, line: str) -> str | None:
        """An answer, a tool call or a retry in a few words."""
        return trace_event(line)


def first_instructions(workspace: Path) -> Path | None:
    """The instruction file of ``workspace``, if it has one."""
    return next((path for path in map(workspace.absolute().joinpath, INSTRUCTIONS) if path.is_file()), None)


def instructions_of(workspace: Path) -> tuple[str, ...]:
    """Flags that give the agent the instruction file of ``workspace`` and none of the folders above it.

    By itself it reads those of every folder up to the root, those of a project that its scratch folder
    happens to lie in, for one.
    """
    found = first_instructions(workspace)
    own = ("--append-system-prompt", str(found)) if found else ()
    return ("--no-context-files", *own)


def models(endpoint: Endpoint, limits: Limits) -> dict[str, object]:
    """The models file: one provider with one model, its window, and prices of 0.

    pi multiplies its counts with the prices it finds here; costs are derived from records instead.
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
    }
    provider = {
        "baseUrl": endpoint.base_url,
        "api": API_KINDS.get(endpoint.protocol, BEDROCK_KIND),
        "apiKey": f"${KEY_VARIABLE}",
        "compat": compat,
        "models": [model],
    }
    return {"providers": {PROVIDER: provider}}


def settings(endpoint: Endpoint, limits: Limits) -> dict[str, object]:
    """The settings file: summarise early enough that the longest answer still fits."""
    return {"compaction": {"enabled": True, "reserveTokens": reserve_tokens(endpoint, limits)}}


def reserve_tokens(endpoint: Endpoint, limits: Limits) -> int:
    """Tokens to keep free: the longest answer and the summary, but never more than three quarters.

    In a small window room for both would leave none to work in.
    """
    window = endpoint.context_window or DEFAULT_WINDOW
    return min(answer_tokens(endpoint, limits) + RESERVE_BEYOND_OUTPUT, max(window * 3 // 4, 1))


def answer_tokens(endpoint: Endpoint, limits: Limits) -> int:
    """The longest answer: what was asked for, but at most half of the window."""
    window = endpoint.context_window or DEFAULT_WINDOW
    return min(limits.max_output_tokens or DEFAULT_OUTPUT, max(window // 2, 1))
