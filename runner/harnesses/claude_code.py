"""ClaudeCode: Anthropic's coding agent, driven in its streaming JSON mode against a Messages endpoint."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.claude_stream import read_run
from runner.harnesses.claude_trace import trace_event
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installation import Installation, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.instructions import patterns_above
from runner.harnesses.isolation import write_json
from runner.records import DataWarning, Limits

KEY_VARIABLES = {
    WireProtocol.MESSAGES: "ANTHROPIC_API_KEY",
    WireProtocol.BEDROCK_INVOKE: "AWS_BEARER_TOKEN_BEDROCK",
}
VENDOR_HOST = "api.anthropic.com"
REACHES_OUT = "WebFetch,WebSearch"
"""Tools that could look the answer up; a search runs at the vendor, where no sandbox of ours holds it."""
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", ".claude/rules/**")
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
        variables = settings_variables(endpoint, limits)
        settings = write_json(
            assignment.home.absolute() / "settings.json",
            {"env": variables, "claudeMdExcludes": patterns_above(assignment.workspace, INSTRUCTIONS)},
        )
        environment = {
            **variables,
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


def settings_variables(endpoint: Endpoint, limits: Limits) -> dict[str, str]:
    """What the agent's settings file sets in its environment, where it beats any settings of the workspace.

    The window is told in two ways: what there is, and when to summarise. Without them a model the agent does
    not know is taken to have a window of a million tokens, and a long task ends in endless retries.
    """
    variables = {
        **_address(endpoint),
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": endpoint.model,
        "ANTHROPIC_DEFAULT_OPUS_MODEL": endpoint.model,
        "ANTHROPIC_DEFAULT_SONNET_MODEL": endpoint.model,
        "CLAUDE_CODE_SUBAGENT_MODEL": endpoint.model,
        "CLAUDE_CODE_USE_VERTEX": "0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }
    if endpoint.context_window is not None:
        variables["CLAUDE_CODE_MAX_CONTEXT_TOKENS"] = str(endpoint.context_window)
        variables["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = str(endpoint.context_window)
    if limits.max_output_tokens is not None:
        variables["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(limits.max_output_tokens)
    return variables


def _address(endpoint: Endpoint) -> dict[str, str]:
    """Where the model answers; over Bedrock with some region, for the gateway's target has the real one."""
    if endpoint.protocol is WireProtocol.BEDROCK_INVOKE:
        return {
            "ANTHROPIC_BEDROCK_BASE_URL": endpoint.base_url,
            "CLAUDE_CODE_USE_BEDROCK": "1",
            "AWS_REGION": "us-east-1",
            # Its second try is no stream, as are its start-up checks of other models: none gets through.
            "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
        }
    return {"ANTHROPIC_BASE_URL": endpoint.base_url, "CLAUDE_CODE_USE_BEDROCK": "0"}


def _limit_flags(endpoint: Endpoint, limits: Limits) -> tuple[str, ...]:
    flags: tuple[str, ...] = ()
    if limits.max_turns is not None:
        flags += ("--max-turns", str(limits.max_turns))
    if limits.max_cost_usd is not None and _is_vendor(endpoint):
        flags += ("--max-budget-usd", str(limits.max_cost_usd))
    return flags


def _is_vendor(endpoint: Endpoint) -> bool:
    return urlsplit(endpoint.base_url).hostname == VENDOR_HOST
