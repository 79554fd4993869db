"""Answer: puts the pieces of a streamed Chat Completions answer together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


class BrokenAnswer(Exception):
    """The stream ended too early, or held something that is no part of an answer."""


class RefusedInStream(Exception):
    """The server sent an error in place of the rest of the answer."""


@dataclass(frozen=True)
class Spent:
    """Token counts as the server told them; None where it did not."""

    prompt: int | None
    cached: int | None
    completion: int | None
    reasoning: int | None


@dataclass(frozen=True)
class Call:
    """A tool call; ``arguments`` is text that need not be JSON."""

    identifier: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """One whole answer of the model."""

    text: str
    calls: tuple[Call, ...]
    finish: str | None
    spent: Spent | None


@dataclass
class Assembler:
    """Takes the events of one answer in order."""

    text: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    finish: str | None = None
    spent: Spent | None = None
    done: bool = False

    def take(self, data: str) -> None:
        """Add the payload of one ``data:`` line.

        Raises:
            BrokenAnswer: it is no JSON object.
            RefusedInStream: it is an error.
        """
        if data.strip() == "[DONE]":
            self.done = True
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise BrokenAnswer(f"malformed event: {data[:100]!r}") from None
        if not isinstance(event, dict):
            raise BrokenAnswer(f"malformed event: {data[:100]!r}")
        self.take_object(event)

    def take_object(self, event: Mapping[str, object]) -> None:
        """Add one event, or a whole answer that was not streamed.

        Raises:
            RefusedInStream: it is an error.
        """
        if event.get("error"):
            raise RefusedInStream(error_text(event))
        spent = read_spent(event.get("usage"))
        self.spent = spent or self.spent
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._take_delta(delta)
        if isinstance(choice.get("finish_reason"), str):
            self.finish = choice["finish_reason"]

    def _take_delta(self, delta: Mapping[str, object]) -> None:
        content = delta.get("content")
        if isinstance(content, str):
            self.text.append(content)
        pieces = delta.get("tool_calls")
        for position, piece in enumerate(pieces if isinstance(pieces, list) else []):
            if not isinstance(piece, dict):
                continue
            index = piece.get("index")
            number = index if isinstance(index, int) else position
            call = self.calls.setdefault(number, {"id": "", "name": "", "arguments": ""})
            function = piece.get("function")
            if isinstance(piece.get("id"), str) and not call["id"]:
                call["id"] = piece["id"]
            if isinstance(function, dict):
                for key in ("name", "arguments"):
                    value = function.get(key)
                    call[key] += value if isinstance(value, str) else ""

    def result(self) -> Answer:
        """The whole answer.

        Raises:
            BrokenAnswer: the stream ended before the model said that it had finished.
        """
        if self.finish is None:
            raise BrokenAnswer("the answer was cut off")
        calls = tuple(
            Call(call["id"] or f"call_{number}", call["name"], call["arguments"])
            for number, call in sorted(self.calls.items())
        )
        return Answer("".join(self.text), calls, self.finish, self.spent)


def read_spent(usage: object) -> Spent | None:
    """Counts of a ``usage`` block; None when there is no block, None in a field that is not told."""
    if not isinstance(usage, dict):
        return None

    def number(block: object, key: str) -> int | None:
        """The whole number under ``key``; None for anything else."""
        value = block.get(key) if isinstance(block, dict) else None
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return value if whole else None

    return Spent(
        prompt=number(usage, "prompt_tokens"),
        cached=number(usage.get("prompt_tokens_details"), "cached_tokens"),
        completion=number(usage, "completion_tokens"),
        reasoning=number(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def error_text(body: object) -> str:
    """The message of an error body, whatever form it has."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        code, message = error.get("code"), error.get("message")
        return f"{message} ({code})" if code else str(message or error)[:1000]
    return str(error)[:1000]
