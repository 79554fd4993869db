"""Window: whether a model's context window is large enough for a coding agent."""

from __future__ import annotations

from runner.errors import ConfigurationError

SMALLEST = 64_000
RECOMMENDED = 200_000
"""Tokens. Below the first no agent gets far; between both some tasks fail for want of room."""


def window_warning(window: int | None, *, model: str, output_tokens: int, allow_small: bool) -> str | None:
    """What a user should know about the window of ``model``, or None where there is nothing.

    Args:
        window: tokens; None where neither the server nor the user says it.
        output_tokens: what agents keep free for one answer.
        allow_small: take a window that is too small all the same.

    Raises:
        ConfigurationError: it is too small.
    """
    if window is None:
        return f"the context window of {model} is unknown; give it with --context-window"
    if window <= output_tokens:
        raise ConfigurationError(
            f"{model} has a context window of {window} tokens, all of which one answer may fill",
            remedy=f"lower --max-output-tokens from {output_tokens}",
        )
    if window < SMALLEST and not allow_small:
        raise ConfigurationError(
            f"{model} has a context window of {window} tokens; agents need at least {SMALLEST}",
            remedy="serve it with a larger window, or take it as it is with --allow-small-window",
        )
    if window < RECOMMENDED:
        return f"{model} has a context window of {window} tokens; {RECOMMENDED} are recommended"
    return None
