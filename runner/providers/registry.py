"""Registry of providers: one line per hosting path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from runner.providers.base import Provider
from runner.registry import made_by_name

PROVIDERS: Mapping[str, str] = {
    "anthropic": "runner.providers.anthropic:Anthropic",
    "bedrock": "runner.providers.bedrock:Bedrock",
    "endpoint": "runner.providers.compatible:CompatibleEndpoint",
    "kiro": "runner.providers.kiro:Kiro",
    "litellm": "runner.providers.litellm:LiteLLM",
    "openai": "runner.providers.openai:OpenAI",
    "replay": "runner.providers.replay:Replay",
    "vllm": "runner.providers.vllm:Vllm",
}
MEMBERS = ("name", "hosting", "protocols", "demonstration", "about", "session", "checks")


def provider(name: str) -> Provider:
    """The provider called ``name``, or the one an import path ``package.module:Name`` leads to.

    Raises:
        UsageError: no such name; the nearest one is offered.
        ConfigurationError: the import path leads nowhere, or to something that is no provider.
    """
    return cast(Provider, made_by_name("provider", name, PROVIDERS, MEMBERS))
