"""OpenAI: the vendor's own API, over Responses and Chat Completions."""

from __future__ import annotations

from dataclasses import dataclass

from runner.harnesses.endpoint import WireProtocol
from runner.providers.vendor import VendorApi


@dataclass(frozen=True)
class OpenAI(VendorApi):
    """The provider ``openai``. Its list of models tells no context window: give it with the run."""

    name: str = "openai"
    base_url: str = "https://api.openai.com/v1"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.RESPONSES, WireProtocol.CHAT_COMPLETIONS)
    key_variable: str = "OPENAI_API_KEY"
