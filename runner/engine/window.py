"""Window: whether a model's context window is large enough for a coding agent."""

from __future__ import annotations

from dataclasses import dataclass

from runner.providers.checks import CONTEXT_WINDOW, Check, CheckState

SMALLEST = 64_000
RECOMMENDED = 200_000
"""Tokens. Below the first no agent gets far; between both some tasks fail for want of room."""


@dataclass(frozen=True)
class Gate:
    """What a run asks of a window."""

    model: str
    output_tokens: int
    """What agents keep free for one answer."""
    allow_small: bool = False
    """Take a window that is too small all the same."""


def window_check(window: int | None, gate: Gate) -> Check:
    """Whether ``window`` will do, and what of it is left for the input.

    Args:
        window: tokens; None where neither the server nor the user says it.
    """
    if window is None:
        found = f"the context window of {gate.model} is unknown, so that agents cannot keep within it"
        return Check(CONTEXT_WINDOW, CheckState.WARN, found, "--context-window TOKENS")
    usable = window - gate.output_tokens
    if usable <= 0:
        found = f"{gate.model} has a context window of {window} tokens, all of which one answer may fill"
        return Check(
            CONTEXT_WINDOW, CheckState.FAIL, found, f"lower --max-output-tokens from {gate.output_tokens}"
        )
    found = f"{window} tokens, {usable} of them for the input"
    if window < SMALLEST and not gate.allow_small:
        found = f"{gate.model} has a context window of {window} tokens; agents need at least {SMALLEST}"
        fix = "serve it with a larger window, or take it as it is with --allow-small-window"
        return Check(CONTEXT_WINDOW, CheckState.FAIL, found, fix, window)
    if window < RECOMMENDED:
        found = f"{found}; {RECOMMENDED} are recommended: long tasks may fail for want of room"
        return Check(
            CONTEXT_WINDOW, CheckState.WARN, found, "serve it with a larger window where it has one", window
        )
    return Check(CONTEXT_WINDOW, CheckState.PASS, found, window=window)
