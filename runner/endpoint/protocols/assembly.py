"""Assembly: an answer as it comes together from events, and when each piece of it came."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from runner.endpoint.request import ToolCall
from runner.endpoint.result import Fragment, FragmentKind, ReportedUsage

MAX_MESSAGE = 500
MAX_DEPTH = 40
MOST_DOLLARS = 1e9


class MalformedEvent(ValueError):
    """An event is not what its protocol promises; ``code`` says how."""

    def __init__(self, code: str, what: object) -> None:
        super().__init__(clean(str(what)[:MAX_MESSAGE]))
        self.code = code


@dataclass
class PartialCall:
    """A tool call of which more may come."""

    identifier: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def whole(self) -> ToolCall:
        """What has come of it."""
        return ToolCall(
            identifier=clean(self.identifier), name=clean(self.name), arguments=clean("".join(self.arguments))
        )


@dataclass
class Assembly:
    """Filled by a decoder, event by event."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[object, PartialCall] = field(default_factory=dict)
    carried: list[JsonValue] = field(default_factory=list)
    fragments: list[Fragment] = field(default_factory=list)
    finish_reason: str | None = None
    usage: ReportedUsage | None = None
    model: str | None = None
    done_ns: int | None = None
    error: tuple[str, str] | None = None
    """Code and message of the first error object."""

    def add(self, kind: FragmentKind, text: str, at_ns: int, tokens: int | None = None) -> None:
        """A piece of the answer; an empty one is none."""
        if not text:
            return
        self.fragments.append(Fragment(at_ns, kind, len(text), tokens))
        if kind is FragmentKind.REASONING:
            self.reasoning.append(text)
        elif kind is FragmentKind.CONTENT:
            self.text.append(text)
        elif kind is FragmentKind.REFUSAL:
            self.refusal.append(text)

    def add_call(self, key: object, at_ns: int, tokens: int | None = None, **parts: str) -> None:
        """A piece of a tool call: ``identifier``, ``name`` and ``arguments``, each possibly empty.

        The first identifier stays, as some servers repeat it with every fragment. A name comes in pieces or
        is repeated whole: one that is what there is already adds nothing. Arguments are always appended.
        """
        call = self.calls.setdefault(key, PartialCall())
        call.identifier = call.identifier or parts.get("identifier", "")
        name, arguments = parts.get("name", ""), parts.get("arguments", "")
        if name != call.name:
            call.name += name
        else:
            name = ""
        if arguments:
            call.arguments.append(arguments)
        if name or arguments:
            self.fragments.append(Fragment(at_ns, FragmentKind.TOOL, len(name) + len(arguments), tokens))

    def fail(self, found: object, fallback: str = "upstream_stream_error") -> None:
        """An error object of any shape; only the first counts."""
        if self.error is None:
            self.error = error_in(found, fallback)


def clean(text: str) -> str:
    """``text`` without halves of characters. Two that follow each other, also from two events, are one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clean_all(value: JsonValue, depth: int = MAX_DEPTH) -> JsonValue:
    """Every text in ``value``, keys included, as :func:`clean` makes it; what lies deeper is None."""
    if depth == 0:
        return None
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_all(each, depth - 1) for each in value]
    if isinstance(value, dict):
        return {clean(key): clean_all(each, depth - 1) for key, each in value.items()}
    return value


def clean_table(table: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A table as :func:`clean_all` makes it."""
    return {clean(key): clean_all(value) for key, value in table.items()}


def error_in(found: object, fallback: str) -> tuple[str, str]:
    """Code and message in an error of any shape; codes that are numbers become text."""
    if not isinstance(found, dict):
        return fallback, clean(str(found)[:MAX_MESSAGE])
    inner = found.get("error")
    if isinstance(inner, dict | str):
        return error_in(inner, fallback)
    codes = [found.get(key) for key in ("code", "type", "status")]
    code = next((str(code) for code in codes if isinstance(code, str | int) and code != ""), fallback)
    message = found.get("message")
    text = message if isinstance(message, str) else json.dumps(found)
    parameter = found.get("param")
    if isinstance(parameter, str) and parameter and parameter not in text:
        # First, because the end of a long message is cut.
        text = f"(parameter: {parameter[:100]}) {text}"
    return clean(code[:100]), clean(text[:MAX_MESSAGE])


def text_in(value: object) -> str:
    """Text of a field that should be a string; anything else is none."""
    return value if isinstance(value, str) else ""


def arguments_in(value: object) -> str:
    """Arguments of a tool call as text: some servers send an object instead of its JSON."""
    if isinstance(value, str) or value is None:
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def count_in(table: object, *path: str) -> int | None:
    """A count at ``path`` in nested objects; None where it is missing or no count."""
    for key in path:
        if not isinstance(table, Mapping):
            return None
        table = table.get(key)
    if isinstance(table, bool) or not isinstance(table, int | float) or table < 0 or table != int(table):
        return None
    return int(table)


def objects_in(value: object) -> list[dict[str, JsonValue]]:
    """The objects of a field that should be a list of them; anything else is left out."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def usage_in(table: Mapping[str, JsonValue]) -> ReportedUsage:
    """Usage under OpenAI's names, of both its protocols.

    Reasoning is counted inside ``completion`` by some and beside it by others. It is taken as beside where
    ``total - prompt`` equals the sum of both, or where there is more reasoning than completion; as inside
    where ``total - prompt`` equals completion alone; else it stays undecided, which reads as inside.
    """
    prompt = _first(count_in(table, "prompt_tokens"), count_in(table, "input_tokens"))
    completion = _first(count_in(table, "completion_tokens"), count_in(table, "output_tokens"))
    total = count_in(table, "total_tokens")
    reasoning = _first(
        count_in(table, "completion_tokens_details", "reasoning_tokens"),
        count_in(table, "output_tokens_details", "reasoning_tokens"),
        count_in(table, "reasoning_tokens"),
    )
    cost = table.get("cost")
    priced = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < MOST_DOLLARS
    return ReportedUsage(
        prompt_tokens=prompt,
        cached_tokens=_first(
            count_in(table, "prompt_tokens_details", "cached_tokens"),
            count_in(table, "input_tokens_details", "cached_tokens"),
            count_in(table, "prompt_cache_hit_tokens"),
        ),
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        total_tokens=total,
        reasoning_is_extra=_extra(prompt, completion, reasoning, total),
        cost_usd=float(str(cost)) if priced else None,
        raw=clean_table(table),
    )


def _extra(
    prompt: int | None, completion: int | None, reasoning: int | None, total: int | None
) -> bool | None:
    if not reasoning or completion is None:
        return None
    if reasoning > completion:
        return True
    if total is None or prompt is None:
        return None
    if total - prompt == completion + reasoning:
        return True
    return False if total - prompt == completion else None


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)
