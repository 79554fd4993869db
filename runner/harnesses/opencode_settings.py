"""Settings of ``opencode``: one provider, one model, nothing from outside, everything allowed but the web."""

from __future__ import annotations

from pathlib import Path

from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.instructions import first_of
from runner.harnesses.own_provider import KEY_VARIABLE, PROVIDER
from runner.harnesses.window import share_out
from runner.records import Limits

CLIENTS = {
    WireProtocol.CHAT_COMPLETIONS: "@ai-sdk/openai-compatible",
    WireProtocol.MESSAGES: "@ai-sdk/anthropic",
    WireProtocol.RESPONSES: "@ai-sdk/openai",
}
"""Clients that come inside the program."""
ROOTS = {WireProtocol.MESSAGES: "/v1"}
"""What its client of a protocol expects behind the base URL that other clients expect."""
DAY_MILLISECONDS = 86_400_000
SUMMARY_ROOM = 8_192
"""Tokens that must be left beside the longest answer, in a large window; with fewer it summarises first.

It looks at this room only where the limit of the input is named as well.
"""
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
"""In the agent's own order; the first that is there counts."""
FORBIDDEN = ("webfetch", "websearch", "codesearch", "question")


def settings_for(endpoint: Endpoint, limits: Limits, workspace: Path) -> dict[str, object]:
    """The settings file.

    Prices are 0, because costs are derived from records. The instruction file of ``workspace`` is named,
    because by itself the agent would read those of every folder above as well.
    """
    chosen = f"{PROVIDER}/{endpoint.model}"
    found = first_of(workspace, INSTRUCTIONS)
    return {
        "model": chosen,
        "small_model": chosen,
        "enabled_providers": [PROVIDER],
        "provider": {PROVIDER: _provider(endpoint, limits)},
        "permission": {"*": "allow", **dict.fromkeys(FORBIDDEN, "deny")},
        "compaction": {"auto": True, "reserved": min(SUMMARY_ROOM, share_out(endpoint, limits).window // 8)},
        "instructions": [str(found)] if found else [],
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "lsp": False,
        "formatter": False,
    }


def _provider(endpoint: Endpoint, limits: Limits) -> dict[str, object]:
    shares = share_out(endpoint, limits)
    model = {
        "name": endpoint.model,
        "limit": {"context": shares.window, "input": shares.prompt, "output": shares.answer},
        "cost": {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0},
        "tool_call": True,
    }
    options = {
        "baseURL": endpoint.base_url + ROOTS.get(endpoint.protocol, ""),
        "apiKey": f"{{env:{KEY_VARIABLE}}}",
        # A slow answer is not asked for again: the idle limit and the deadline are what ends it.
        "timeout": False,
        "headerTimeout": False,
        "chunkTimeout": DAY_MILLISECONDS,
    }
    return {
        "npm": CLIENTS[endpoint.protocol],
        "name": PROVIDER,
        "options": options,
        "models": {endpoint.model: model},
    }
