"""Registry of providers: one line per hosting path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from runner.errors import ConfigurationError
from runner.providers.base import Provider
from runner.registry import load_by_name

PROVIDERS: Mapping[str, str] = {
    "anthropic": "runner.providers.anthropic:Anthropic",
    "endpoint": "runner.providers.compatible:CompatibleEndpoint",
    "litellm": "runner.providers.litellm:LiteLLM",
    "openai": "runner.providers.openai:OpenAI",
    "replay": "runner.providers.replay:Replay",
}
MEMBERS = ("name", "hosting", "protocols", "demonstration", "session")


def provider(name: str) -> Provider:
    """The provider called ``name``, or the one an import path ``package.module:Name`` leads to.

    Raises:
        UsageError: no such name; the nearest one is offered.
        ConfigurationError: the import path leads nowhere, or to something that is no provider.
    """
    found = load_by_name("provider", name, PROVIDERS)
    made = found() if isinstance(found, type) else found
    missing = [member for member in MEMBERS if not hasattr(made, member)]
    if missing:
        raise ConfigurationError(f"{name!r} is no provider: it has no {', '.join(missing)}")
    return cast(Provider, made)
