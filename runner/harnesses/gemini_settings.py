"""Settings of ``gemini-cli``; of them, its fork ``qwen-code`` takes what it is told in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runner.harnesses.endpoint import Endpoint
from runner.harnesses.isolation import known
from runner.harnesses.window import filled
from runner.records import Limits

UNATTENDED = ("--approval-mode", "yolo", "--output-format", "stream-json")
"""Nobody is asked, and every event is a line."""
NO_GUESTS = ("--extensions", "none", "--allowed-mcp-server-names", "none")
"""Neither extensions nor servers of tools, whoever installed them."""
ASSUMED_WINDOWS: Mapping[str, int] = {"gemma-4-31b-it": 256_000, "gemma-4-26b-a4b-it": 256_000}
"""What the agent takes for the window of a model; it can only be told a share of it."""
ASSUMED_WINDOW = 1_048_576
SUBAGENTS = ("cli_help", "codebase_investigator", "generalist")
REACHES_OUT = ("google_web_search", "web_fetch")
"""Tools that could look the answer up; both run at the vendor, where no sandbox of ours holds them."""


def settings_for(endpoint: Endpoint, limits: Limits, artifacts: Path) -> dict[str, object]:
    """The settings: one model and its limits, nothing that reaches out, no settings of the user or above."""
    share = None if endpoint.context_window is None else threshold(endpoint, limits)
    common = common_settings(
        endpoint,
        limits,
        "gemini-api-key",
        model=known({"compressionThreshold": share}),
        security={"disableYoloMode": False},
        general={"enableAutoUpdateNotification": False},
    )
    generation = known({"maxOutputTokens": limits.max_output_tokens})
    pinned = {"model": endpoint.model, "generateContentConfig": generation}
    scopes = [{"match": {"overrideScope": scope}, "modelConfig": pinned} for scope in ("core", *SUBAGENTS)]
    return {
        **common,
        "modelConfigs": {"customOverrides": scopes},
        "agents": {"overrides": {name: {"modelConfig": {"model": endpoint.model}} for name in SUBAGENTS}},
        "tools": {"exclude": list(REACHES_OUT), "sandbox": False},
        "context": {
            "fileName": ["GEMINI.md", "AGENTS.md"],
            "memoryBoundaryMarkers": [],
            "includeDirectories": [str(artifacts.absolute())],
        },
        "advanced": {"ignoreLocalEnv": True},
        "hooksConfig": {"enabled": False},
        "admin": {"extensions": {"enabled": False}, "mcp": {"enabled": False}},
    }


def threshold(endpoint: Endpoint, limits: Limits) -> float:
    """The share of the window that the agent assumes at which it summarises, so that an answer still fits."""
    window = endpoint.context_window or ASSUMED_WINDOW
    return round(filled(window, limits) / ASSUMED_WINDOWS.get(endpoint.model, ASSUMED_WINDOW), 6)


def common_settings(
    endpoint: Endpoint, limits: Limits, authentication: str, **own: Mapping[str, object]
) -> dict[str, object]:
    """One model, by that way to sign in, and nobody who is told of the run.

    Args:
        own: what the agent is told besides in a group of settings, by the name of the group.
    """
    common: dict[str, Mapping[str, object]] = {
        "model": {"name": endpoint.model, **known({"maxSessionTurns": limits.max_turns})},
        "security": {"auth": {"selectedType": authentication}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
    }
    return {group: {**common.get(group, {}), **own.get(group, {})} for group in (common | own)}


def program_variables(prefix: str, *, settings: Path, defaults: Path) -> dict[str, str]:
    """Variables of the program itself, whose names begin with ``prefix``.

    They stand in for the files of the machine: ``settings``, which beat those of the workspace, and
    ``defaults``; either may be a file that does not exist. And the program does not start itself once more,
    with half of the machine's memory for its heap.
    """
    return {
        f"{prefix}_SYSTEM_SETTINGS_PATH": str(settings),
        f"{prefix}_SYSTEM_DEFAULTS_PATH": str(defaults),
        f"{prefix}_NO_RELAUNCH": "true",
    }
