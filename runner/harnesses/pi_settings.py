"""Settings that ``pi`` and ``omp``, which descends from it, read in the same form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.instructions import first_of
from runner.harnesses.own_provider import PROVIDER
from runner.harnesses.window import DEFAULT_WINDOW, longest_answer
from runner.records import Limits

API_KINDS = {
    WireProtocol.CHAT_COMPLETIONS: "openai-completions",
    WireProtocol.RESPONSES: "openai-responses",
    WireProtocol.MESSAGES: "anthropic-messages",
    WireProtocol.BEDROCK_CONVERSE: "bedrock-converse-stream",
}
RESERVE_BEYOND_OUTPUT = 8_192
"""Room kept for the summary itself; with pi's own 16,384 in all, long answers overflowed the window."""
INSTRUCTIONS = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""In the agents' own order; the first that is there counts."""


def models(
    endpoint: Endpoint, limits: Limits, *, provider: Mapping[str, object], model: Mapping[str, object]
) -> dict[str, object]:
    """The models file: one provider with one model, its window, and prices of 0.

    The agents multiply their counts with the prices they find here; costs are derived from records instead.

    Args:
        provider: what the agent is told of the provider besides, such as what stands for the key.
        model: what it is told of the model besides.
    """
    own_model = {
        "id": endpoint.model,
        "name": endpoint.model,
        "reasoning": False,
        "input": ["text"],
        "contextWindow": endpoint.context_window or DEFAULT_WINDOW,
        "maxTokens": longest_answer(endpoint, limits),
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        **model,
    }
    own_provider = {
        "baseUrl": endpoint.base_url,
        "api": API_KINDS[endpoint.protocol],
        "models": [own_model],
        **provider,
    }
    return {"providers": {PROVIDER: own_provider}}


def compatibility(endpoint: Endpoint) -> dict[str, object]:
    """What not every server of Chat Completions understands and is therefore not sent."""
    if endpoint.protocol is not WireProtocol.CHAT_COMPLETIONS:
        return {}
    return {"supportsDeveloperRole": False, "supportsReasoningEffort": False, "supportsStore": False}


def reserve_tokens(endpoint: Endpoint, limits: Limits) -> int:
    """Tokens to keep free: the longest answer and the summary, but never more than three quarters.

    In a small window room for both would leave none to work in.
    """
    window = endpoint.context_window or DEFAULT_WINDOW
    return min(longest_answer(endpoint, limits) + RESERVE_BEYOND_OUTPUT, max(window * 3 // 4, 1))


def own_instructions(workspace: Path) -> tuple[str, ...]:
    """The flag that gives the agent the instruction file of ``workspace``, where it has one."""
    found = first_of(workspace, INSTRUCTIONS)
    return ("--append-system-prompt", str(found)) if found else ()
