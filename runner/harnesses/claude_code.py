"""ClaudeCode: Anthropic's coding agent, driven in its streaming JSON mode against a Messages endpoint."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.claude_settings import settings_for, variables
from runner.harnesses.claude_stream import read_run
from runner.harnesses.claude_trace import trace_event
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installation import Installation, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import known_texts, write_json
from runner.records import DataWarning, Limits

KEY_VARIABLES = {
    WireProtocol.MESSAGES: "ANTHROPIC_API_KEY",
    WireProtocol.BEDROCK_INVOKE: "AWS_BEARER_TOKEN_BEDROCK",
}
VENDOR_HOST = "api.anthropic.com"
REACHES_OUT = "WebFetch,WebSearch"
"""Tools that could look the answer up; a search runs at the vendor, where no sandbox of ours holds it."""
OTHER_PRICES = DataWarning(
    code="agent-price-of-another-path",
    text="the agent's own dollars are at the prices of its vendor's API, not at those of Bedrock; left out",
)

PINNED = Installation(
    source=Source.NPM,
    package="@anthropic-ai/claude-code",
    version="2.1.332",
    executable="node_modules/@anthropic-ai/claude-code-{npm}{musl}/claude",
    note="One program of its own; Node is only needed to fetch it.",
)


@dataclass(frozen=True)
class ClaudeCode(InstalledProgram):
    """The harness ``claude-code``.

    Its own dollars count only where it knows the list price of the model; a price that it made up for one it
    does not know is no cost. Whether the list price is what was billed, a harness cannot tell, so the basis
    is ``price-table``. For the same reason the cost limit is handed over only where the endpoint is the
    vendor's own: elsewhere the agent would stop at a limit in dollars that nobody pays.
    """

    name: str = "claude-code"
    title: str = "Claude Code"
    homepage: str | None = "https://claude.com/product/claude-code"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.MESSAGES, WireProtocol.BEDROCK_INVOKE)
    turns_definition: str = "answers of the model in the main conversation; not those of subagents"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_turns", "max_output_tokens", "timeout_seconds"})
    delegates: bool = True
    reports_dollars_at: tuple[str, ...] = ("anthropic",)
    memory_mb: int = 300
    notes: tuple[str, ...] = (
        "Tokens are those of its totals by model, which hold subagents too; a run without an end is "
        "read from its transcripts.",
        "Its own dollars count only for models whose list price it knows; for any other it makes a price up.",
        "Web search and web fetch are off: the answer to a task could be looked up with them.",
        "On Amazon Bedrock it asks a dozen other models for one token each when it starts; the gateway lets "
        "only the model of the trial through, so nobody pays for those.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is on its stdin, the key in its environment."""
        endpoint, limits = assignment.endpoint, assignment.limits
        settings = write_json(
            assignment.home.absolute() / "settings.json",
            settings_for(endpoint, limits, assignment.workspace),
        )
        environment = {
            **variables(endpoint, limits),
            "CLAUDE_CONFIG_DIR": str(assignment.home.absolute() / ".claude"),
            KEY_VARIABLES[endpoint.protocol]: endpoint.api_key,
        }
        if os.geteuid() == 0:
            # Without it the program refuses to work as root; the variable reaches this child only.
            environment["IS_SANDBOX"] = "1"
        return self.child(
            assignment,
            (
                *("-p", "--model", endpoint.model, "--output-format", "stream-json", "--verbose"),
                *("--dangerously-skip-permissions", "--strict-mcp-config", "--settings", str(settings)),
                *("--disallowedTools", REACHES_OUT),
                *_limit_flags(endpoint, limits),
            ),
            environment,
            files=[settings],
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the stream says, or, where it has no end, what the transcripts below ``home`` hold."""
        at_vendor = replace(self, kept_limits=self.kept_limits | {"max_cost_usd"})
        own = at_vendor if _is_vendor(assignment.endpoint) else self
        reading = read_run(stdout, assignment.home / ".claude", own.unkept(assignment))
        if assignment.endpoint.protocol is WireProtocol.BEDROCK_INVOKE and reading.costs:
            return replace(reading, costs=(), warnings=(*reading.warnings, OTHER_PRICES))
        return reading

    def trace(self, line: str) -> str | None:
        """An answer, a tool call, a retry or the result in a few words."""
        return trace_event(line)


def _limit_flags(endpoint: Endpoint, limits: Limits) -> tuple[str, ...]:
    dollars = limits.max_cost_usd if _is_vendor(endpoint) else None
    flags = known_texts({"--max-turns": limits.max_turns, "--max-budget-usd": dollars})
    return tuple(chain.from_iterable(flags.items()))


def _is_vendor(endpoint: Endpoint) -> bool:
    return urlsplit(endpoint.base_url).hostname == VENDOR_HOST
