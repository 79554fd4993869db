"""Copilot: GitHub's command-line coding agent, driven against Chat, Responses or Messages of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.copilot_stream import read_run, trace_event
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installation import Installation, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.window import share_out
from runner.records import Limits

KINDS = {
    WireProtocol.CHAT_COMPLETIONS: {"TYPE": "openai", "WIRE_API": "completions"},
    WireProtocol.RESPONSES: {"TYPE": "openai", "WIRE_API": "responses"},
    WireProtocol.MESSAGES: {"TYPE": "anthropic"},
}
KEY_VARIABLE = "COPILOT_PROVIDER_API_KEY"
"""The only way in which it takes a key; the commands of the model do not get it."""

PINNED = Installation(
    source=Source.NPM,
    package="@github/copilot",
    version="1.0.102",
    executable="node_modules/@github/copilot-{npm}/copilot",
    unpacks="COPILOT_PKG_CACHE_HOME",
    note="It takes 250 MB more than its package, because it is unpacked while it is installed.",
)


@dataclass(frozen=True)
class Copilot(InstalledProgram):
    """The harness ``copilot``. It keeps no limit on turns, tokens or cost by itself."""

    name: str = "copilot"
    title: str = "GitHub Copilot CLI"
    homepage: str | None = "https://github.com/github/copilot-cli"
    protocols: tuple[WireProtocol, ...] = tuple(KINDS)
    turns_definition: str = "turns of the main agent that it started; not those of subagents"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_output_tokens", "timeout_seconds"})
    delegates: bool = True
    memory_mb: int = 350
    notes: tuple[str, ...] = (
        "Its stream has no token counts: they are read from its event file, one record for each request, "
        "those of subagents included. It writes these with a delay, so that one that was killed outright, "
        "and not asked to end, may lack its last ones.",
        "It unpacks itself at its first start. That start is made while it is installed, so that runs "
        "share nothing that one of them could have changed.",
        "It replaces the text of its key wherever that would appear in its output.",
        "It runs in its offline mode against an endpoint of one's own, without an account.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is on its stdin; the key is in its environment."""
        folder = assignment.home.absolute() / ".copilot"
        return self.child(
            assignment,
            (
                *("--output-format", "json", "--allow-all-tools", "--allow-all-paths"),
                *("--disable-builtin-mcps", "--no-ask-user", "--no-auto-update"),
                "--excluded-tools=web_fetch",
                f"--secret-env-vars={KEY_VARIABLE}",
            ),
            {
                "COPILOT_HOME": str(folder),
                "COPILOT_OFFLINE": "true",
                "COPILOT_AUTO_UPDATE": "false",
                **provider(assignment.endpoint, assignment.limits),
            },
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the stream says of the end, and the event file below ``home`` of the tokens."""
        return read_run(
            stdout, assignment.home / ".copilot", assignment.endpoint.model, self.unkept(assignment)
        )

    def trace(self, line: str) -> str | None:
        """An answer, a tool call or a failure in a few words."""
        return trace_event(line)


def provider(endpoint: Endpoint, limits: Limits) -> dict[str, str]:
    """The variables that name the endpoint, its model, and how much fits into it."""
    shares = share_out(endpoint, limits)
    settings = {
        **KINDS[endpoint.protocol],
        "BASE_URL": endpoint.base_url,
        "MAX_PROMPT_TOKENS": str(shares.prompt),
        "MAX_OUTPUT_TOKENS": str(shares.answer),
    }
    named = {f"COPILOT_PROVIDER_{name}": value for name, value in settings.items()}
    return {"COPILOT_MODEL": endpoint.model, **named, KEY_VARIABLE: endpoint.api_key}
