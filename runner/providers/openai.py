"""OpenAI: the vendor's own API, over Responses and Chat Completions."""

from __future__ import annotations

from dataclasses import dataclass

from runner.harnesses.endpoint import WireProtocol
from runner.providers.about import About
from runner.providers.vendor import VendorApi

ABOUT = About(
    summary="OpenAI's own API, over Responses and Chat Completions.",
    flags="--provider openai --model MODEL --context-window TOKENS",
    credentials="the key in OPENAI_API_KEY, or in the variable named with --api-key-env",
    notes=("Its list of models tells no context window, so give it with the run.",),
)


@dataclass(frozen=True)
class OpenAI(VendorApi):
    """The provider ``openai``. Its list of models tells no context window: give it with the run."""

    name: str = "openai"
    base_url: str = "https://api.openai.com/v1"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.RESPONSES, WireProtocol.CHAT_COMPLETIONS)
    key_variable: str = "OPENAI_API_KEY"
    about: About = ABOUT
