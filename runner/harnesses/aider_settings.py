"""Settings of ``aider``: what it is told of its model, in two files, and what its flags switch off."""

from __future__ import annotations

from runner.harnesses.base import Assignment
from runner.harnesses.litellm_settings import VENDORS
from runner.harnesses.window import DEFAULT_WINDOW, longest_answer

QUIET = (
    *("--yes-always", "--no-stream", "--no-pretty", "--no-fancy-input", "--no-restore-chat-history"),
    *("--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--no-suggest-shell-commands"),
    *("--no-detect-urls", "--disable-playwright", "--analytics-disable", "--no-check-update"),
    *("--no-show-release-notes", "--no-show-model-warnings", "--encoding", "utf-8"),
)
"""Nobody is asked, nothing is committed or looked up, and answers come whole: of streamed ones it keeps no
counts."""


def metadata(assignment: Assignment) -> dict[str, object]:
    """What it is told of the model: its window and longest answer, and no prices."""
    endpoint = assignment.endpoint
    longest = longest_answer(endpoint, assignment.limits)
    return {
        "max_input_tokens": (endpoint.context_window or DEFAULT_WINDOW) - longest,
        "max_output_tokens": longest,
        "max_tokens": longest,
        "litellm_provider": VENDORS[endpoint.protocol],
        "mode": "chat",
    }


def model_settings(model: str, assignment: Assignment) -> dict[str, object]:
    """How it is to use the model: with a map of the repository, and with the server's own temperature."""
    longest = assignment.limits.max_output_tokens
    return {
        "name": model,
        "edit_format": "diff",
        "use_repo_map": True,
        "use_temperature": False,
        **({"extra_params": {"max_tokens": longest}} if longest else {}),
    }
