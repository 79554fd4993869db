"""Dialect: what an endpoint wants written differently, learnt from how it refuses a request."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Dialect:
    """Starts with what most servers take; each refusal can change one thing, once."""

    answer_limit: str = "max_tokens"
    """Name of the parameter that bounds an answer; newer models of one vendor refuse this one."""
    asks_usage: bool = True
    """Whether ``stream_options`` is sent. Without it a server may keep its token counts to itself."""

    def options(self, answer_tokens: int | None) -> dict[str, object]:
        """The parameters that depend on the dialect."""
        options: dict[str, object] = {"stream": True}
        if self.asks_usage:
            options["stream_options"] = {"include_usage": True}
        if answer_tokens is not None:
            options[self.answer_limit] = answer_tokens
        return options

    def learn(self, status: int | None, text: str) -> bool:
        """Whether the refusal ``text`` names something that can be written differently; then it will be."""
        if status not in {400, 422}:
            return False
        if "max_completion_tokens" in text and self.answer_limit == "max_tokens":
            self.answer_limit = "max_completion_tokens"
            return True
        if "stream_options" in text and self.asks_usage:
            self.asks_usage = False
            return True
        return False
