"""Settings of ``claude-code``: where the model answers and what fits into it, over the workspace's own."""

from __future__ import annotations

from pathlib import Path

from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.instructions import patterns_above
from runner.harnesses.isolation import known_texts
from runner.records import Limits

INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", ".claude/rules/**")


def settings_for(endpoint: Endpoint, limits: Limits, workspace: Path) -> dict[str, object]:
    """The settings file: variables, and no instruction file of the folders above ``workspace``."""
    return {
        "env": variables(endpoint, limits),
        "claudeMdExcludes": patterns_above(workspace, INSTRUCTIONS),
    }


def variables(endpoint: Endpoint, limits: Limits) -> dict[str, str]:
    """What the agent's settings file sets in its environment, where it beats any settings of the workspace.

    The window is told in two ways: what there is, and when to summarise. Without them a model the agent does
    not know is taken to have a window of a million tokens, and a long task ends in endless retries.
    """
    window = endpoint.context_window
    return {
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
        **known_texts(
            {
                "CLAUDE_CODE_MAX_CONTEXT_TOKENS": window,
                "CLAUDE_CODE_AUTO_COMPACT_WINDOW": window,
                "CLAUDE_CODE_MAX_OUTPUT_TOKENS": limits.max_output_tokens,
            }
        ),
    }


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
