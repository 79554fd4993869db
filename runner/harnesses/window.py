"""Window: how the context window of a model is shared out between what is sent and the longest answer."""

from __future__ import annotations

from dataclasses import dataclass

from runner.harnesses.endpoint import Endpoint
from runner.records import Limits

DEFAULT_WINDOW = 200_000
DEFAULT_ANSWER = 32_000


@dataclass(frozen=True)
class Shares:
    """Tokens of one window."""

    window: int
    answer: int
    """The longest answer: what was asked for but at most half of the window, else a quarter at most."""

    @property
    def prompt(self) -> int:
        """The most that may be sent, so that the longest answer still fits."""
        return self.window - self.answer


def share_out(endpoint: Endpoint, limits: Limits) -> Shares:
    """The shares of the model behind ``endpoint``; where its window is not known, of a common one."""
    window = endpoint.context_window or DEFAULT_WINDOW
    if limits.max_output_tokens is not None:
        return Shares(window, min(limits.max_output_tokens, max(window // 2, 1)))
    return Shares(window, min(DEFAULT_ANSWER, max(window // 4, 1)))


def longest_answer(endpoint: Endpoint, limits: Limits) -> int:
    """The longest answer for programs that keep it free themselves: at most half of the window."""
    window = endpoint.context_window or DEFAULT_WINDOW
    return min(limits.max_output_tokens or DEFAULT_ANSWER, max(window // 2, 1))


def filled(window: int, limits: Limits) -> int:
    """How full a window of that many tokens may become: the longest answer fits, or a quarter is left."""
    return window - min(limits.max_output_tokens or DEFAULT_ANSWER, window // 4)
