"""Server flags: the flags of ``invoke model-server``, and what each of them means for its help."""

from __future__ import annotations

from typing import Any

SERVER_HELP = {
    "start": "recipe in datasets/recipes, or path of one: starts its vLLM server, which stays up",
    "stop": "stop the server and every proxy but those of runs at work",
    "proxy": "model id: starts a LiteLLM proxy for it, which stays up",
    "endpoint": "with --proxy: base URL of the server behind it",
    "backend-model": "with --proxy: what that server calls the model",
    "backend-protocol": "with --proxy: what that server speaks (default: chat-completions)",
    "aws-region": "with --proxy: in place of --endpoint, open-weight models on Bedrock in this region",
    "api-key-env": "environment variable with the key that the server asks for",
}
BEHIND = ("endpoint", "backend_model", "backend_protocol", "aws_region", "api_key_env")
"""Flags that say what is behind a proxy."""


def server_form(
    _context: object,
    start: str | None = None,
    stop: bool = False,
    proxy: str | None = None,
    endpoint: str | None = None,
    backend_model: str | None = None,
    backend_protocol: str | None = None,
    aws_region: str | None = None,
    api_key_env: str | None = None,
) -> dict[str, Any]:
    """Every flag with its default, by name."""
    return dict(locals())
