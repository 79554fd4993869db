"""Settings and flags that ``gemini-cli`` and its fork ``qwen-code`` are told in the same words."""

from __future__ import annotations

from runner.harnesses.endpoint import Endpoint
from runner.records import Limits

UNATTENDED = ("--approval-mode", "yolo", "--output-format", "stream-json")
"""Nobody is asked, and every event is a line."""
NO_GUESTS = ("--extensions", "none", "--allowed-mcp-server-names", "none")
"""Neither extensions nor servers of tools, whoever installed them."""


def common_settings(endpoint: Endpoint, limits: Limits, authentication: str) -> dict[str, dict[str, object]]:
    """One model, by that way to sign in, and nobody who is told of the run."""
    model: dict[str, object] = {"name": endpoint.model}
    if limits.max_turns is not None:
        model["maxSessionTurns"] = limits.max_turns
    return {
        "model": model,
        "security": {"auth": {"selectedType": authentication}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
    }
