"""Settings of the library litellm: how agents on it name a model, and how it finds address and key."""

from __future__ import annotations

from collections.abc import Mapping

from runner.harnesses.endpoint import Endpoint, WireProtocol

VENDORS: Mapping[WireProtocol, str] = {
    WireProtocol.CHAT_COMPLETIONS: "openai",
    WireProtocol.MESSAGES: "anthropic",
    WireProtocol.RESPONSES: "openai",
}
"""What the library wants before a model's name, and in its variables, to know how to speak to it."""
ALONE: Mapping[str, str] = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    # Else it takes variables from a file .env in any folder above its own.
    "LITELLM_MODE": "PRODUCTION",
}
"""Variables with which the library fetches nothing and obeys nothing of the workspace."""


def model_name(endpoint: Endpoint) -> str:
    """The model as the library names it."""
    return f"{VENDORS[endpoint.protocol]}/{endpoint.model}"


def library_variables(endpoint: Endpoint) -> dict[str, str]:
    """Address and key, as the library itself looks for them, and :data:`ALONE`."""
    vendor = VENDORS[endpoint.protocol].upper()
    return {**ALONE, f"{vendor}_API_BASE": endpoint.base_url, f"{vendor}_API_KEY": endpoint.api_key}
