"""Settings of ``qwen-code``: how it reaches its one model, what fits into it, and nothing beside the task."""

from __future__ import annotations

from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.gemini_settings import common_settings
from runner.harnesses.isolation import known, known_texts
from runner.harnesses.window import DEFAULT_ANSWER
from runner.records import Limits

AUTHENTICATION = {
    WireProtocol.CHAT_COMPLETIONS: "openai",
    WireProtocol.RESPONSES: "openai-responses",
    WireProtocol.MESSAGES: "anthropic",
}
INSTRUCTIONS = ("QWEN.md", "AGENTS.md")


def variables(endpoint: Endpoint, limits: Limits) -> dict[str, str]:
    """Endpoint, key and output limit, and nothing beside the task."""
    vendor = "ANTHROPIC" if endpoint.protocol is WireProtocol.MESSAGES else "OPENAI"
    return {
        f"{vendor}_BASE_URL": endpoint.base_url,
        f"{vendor}_API_KEY": endpoint.api_key,
        "QWEN_CODE_DISABLE_CRON": "1",
        "QWEN_DISABLE_AUTO_TITLE": "1",
        "QWEN_USAGE_STATISTICS_ENABLED": "false",
        **known_texts({"QWEN_CODE_MAX_OUTPUT_TOKENS": limits.max_output_tokens}),
    }


def settings_for(assignment: Assignment) -> dict[str, object]:
    """The settings: the window, the turn limit, no telemetry, no updates, no requests beside the task.

    The agent looks for instructions in the workspace and in folders above it. Named as seen from the folder
    above, only the workspace has them.
    """
    endpoint, limits = assignment.endpoint, assignment.limits
    inside = assignment.workspace.resolve().name
    # All retries are made where they can be seen.
    generation: dict[str, object] = {"maxRetries": 0, **known({"contextWindowSize": endpoint.context_window})}
    if endpoint.protocol is WireProtocol.MESSAGES:
        # Left alone it asks for more thinking than the longest answer may have, which servers refuse.
        generation["reasoning"] = {"budget_tokens": (limits.max_output_tokens or DEFAULT_ANSWER) // 2}
    common = common_settings(
        endpoint,
        limits,
        AUTHENTICATION[endpoint.protocol],
        model={"generationConfig": generation},
        general={"chatRecording": True},
    )
    return {
        **common,
        "fastModel": "",
        "agents": {"builtin": {"exploreModel": "inherit"}, "crossSessionMessaging": False},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "context": {"fileName": [f"{inside}/{name}" for name in INSTRUCTIONS]},
        "tools": {"webSearch": {"enabled": False}},
        "experimental": {"emitToolUseSummaries": False, "cron": False, "artifact": False},
        "ui": {"enableFollowupSuggestions": False},
        "disableAllHooks": True,
    }
