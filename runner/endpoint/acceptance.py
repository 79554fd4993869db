"""Acceptance: the parts of a request that an endpoint may refuse, and a description without each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from runner.endpoint.capabilities import Capabilities
from runner.endpoint.request import AskRequest, Protocol
from runner.endpoint.target import MappingEntry, Target

Changes = Mapping[str, JsonValue]
"""Keys of a capability table, or of the mapping itself, with what is to stand there."""

OF_THE_MAPPING = frozenset({"max_output_tokens", "context_tokens"})
TEMPERATURE, EFFORT, TOOLS, TOOL_CHOICE, SCHEMA, SYSTEM, LIMIT, USAGE = (
    "temperature",
    "effort",
    "tools",
    "tool choice",
    "answer schema",
    "system text",
    "output limit",
    "usage in the stream",
)
LEAST_LIMIT = 16
"""A smaller number in an error is no limit of output tokens."""
_WORDS = {
    TEMPERATURE: ("temperature",),
    TOOL_CHOICE: ("tool_choice",),
    TOOLS: ("tools", "tool use", "tool calling", "tool calls", "function calling", "functions", "tool"),
    SCHEMA: ("response_format", "output_config.format", "text.format", "json_schema", "structured outputs"),
    SYSTEM: ("system role", "system prompt", "system message", "system instructions"),
    USAGE: ("stream_options", "include_usage"),
    EFFORT: ("reasoning_effort", "reasoning.effort", "output_config.effort", "output_config", "effort"),
}
_LIMIT_WORDS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maximum context length")
_LOCATION = re.compile(r"""["']loc["']: ?[\[(]([^\])]{0,200})[\])]""")
_PARAMETER = re.compile(r"\(parameter: ([^)]{1,100})\)")
_QUOTED = re.compile(r"[\"'`]([A-Za-z][\w.\[\]-]{0,60})[\"'`]")
_STATUS = re.compile(r"^\d{3}: ")
_NUMBER = re.compile(r"(?<![\w.-])\d{2,9}(?![\w-])")


@dataclass(frozen=True)
class OptionalPart:
    """One part of a request that need not be sent.

    Args:
        value: where the endpoint may accept one value and not another: the effort, the kind of choice.
        keys: where it stands in the body.
        words: how servers may call it, besides its keys.
    """

    name: str
    keys: tuple[str, ...]
    words: tuple[str, ...] = ()
    value: str = ""

    @property
    def label(self) -> str:
        """For a reader: its key in the body, and the value where that matters."""
        key = ", ".join(self.keys) or self.name
        return f"{key} {self.value}" if self.value else key


def parts_of(request: AskRequest, can: Capabilities) -> tuple[OptionalPart, ...]:
    """What could be left out of ``request``; parts that need others come after them."""
    return tuple(_parts(request, can))


def _parts(request: AskRequest, can: Capabilities) -> Iterator[OptionalPart]:
    protocol, chat = request.protocol, request.protocol is Protocol.CHAT_COMPLETIONS
    sent = {key: value for key, value in request.parameters.items() if value is not None}
    if request.system is not None:
        key = "instructions" if protocol is Protocol.RESPONSES else "system"
        yield OptionalPart(SYSTEM, (key,), _WORDS[SYSTEM])
    if request.temperature is not None:
        yield OptionalPart(TEMPERATURE, ("temperature",), _WORDS[TEMPERATURE])
    effort = effort_said(request, can)
    if request.effort is not None:
        keys = {"chat-completions": "reasoning_effort", "messages": "output_config", "responses": "reasoning"}
        yield OptionalPart(EFFORT, (keys[protocol],), _WORDS[EFFORT], request.effort)
    elif effort is not None:
        yield OptionalPart(EFFORT, tuple(can.effort_bodies[effort]), _WORDS[EFFORT], effort)
    if request.tools:
        yield OptionalPart(TOOLS, ("tools",), _WORDS[TOOLS])
    if request.tool_choice is not None:
        yield OptionalPart(TOOL_CHOICE, ("tool_choice",), _WORDS[TOOL_CHOICE], choice_kind(request))
    schema = next((key for key in ("response_format", "text", "output_config") if key in sent), None)
    if schema is not None and can.json_schema and schema not in can.parameters:
        yield OptionalPart(SCHEMA, (schema,), _WORDS[SCHEMA])
    if chat and request.stream and "stream_options" not in request.parameters:
        yield OptionalPart(USAGE, ("stream_options",), _WORDS[USAGE])
    said = {schema, *(can.effort_bodies.get(effort or "", {}))}
    for key in sent:
        if key not in said:
            yield OptionalPart(key, (key,))
    if request.max_output_tokens is not None and limit_key(request) not in request.parameters:
        yield OptionalPart(LIMIT, (limit_key(request),), _LIMIT_WORDS)


def limit_key(request: AskRequest) -> str:
    """How the limit of output tokens is called in the body."""
    if request.protocol is Protocol.CHAT_COMPLETIONS:
        return request.max_output_key
    return "max_tokens" if request.protocol is Protocol.MESSAGES else "max_output_tokens"


def choice_kind(request: AskRequest) -> str:
    """The kind of a tool choice, as capability tables name it."""
    choice = request.tool_choice or ""
    return choice if choice in {"auto", "none", "required"} else "named"


def effort_said(request: AskRequest, can: Capabilities) -> str | None:
    """The effort that ``request`` asks for, in whatever way."""
    if request.effort is not None:
        return request.effort
    found = (
        word
        for word, body in can.effort_bodies.items()
        if body and all(request.parameters.get(key) == value for key, value in body.items())
    )
    return next(found, None)


def without(part: OptionalPart, can: Capabilities) -> Changes:
    """What a target's description says so that ``part`` is not sent any more."""
    if part.name in {TEMPERATURE, TOOLS, SYSTEM}:
        return {"system" if part.name == SYSTEM else part.name: False}
    if part.name == SCHEMA:
        return {"json_schema": False}
    if part.name == EFFORT:
        if part.value in can.effort_bodies:
            others = can.effort_bodies.items()
            bodies: dict[str, JsonValue] = {word: dict(body) for word, body in others if word != part.value}
            return {"effort_bodies": bodies}
        return {"efforts": [word for word in can.efforts if word != part.value]}
    if part.name == TOOL_CHOICE:
        return {"tool_choice": [kind for kind in can.tool_choice if kind != part.value]}
    return {"parameters": {**can.parameters, **dict.fromkeys(part.keys)}}


def other_limits(request: AskRequest, words: str) -> Iterator[Changes]:
    """What may be said of the limit of output tokens in place of what was refused, the likeliest first."""
    asked = request.max_output_tokens or 0
    told = _STATUS.sub("", words)
    smaller = [n for n in map(int, _NUMBER.findall(told)) if LEAST_LIMIT <= n < asked]
    if smaller and "context" in words.lower():
        yield {"context_tokens": max(smaller), "max_output_tokens": max(smaller) // 2}
    elif smaller:
        yield {"max_output_tokens": max(smaller)}
    if request.protocol is Protocol.CHAT_COMPLETIONS:
        swapped = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
        yield {"max_output_key": swapped[request.max_output_key]}


def corrected(target: Target, changes: Changes) -> Target:
    """``target`` as its description would be with ``changes``; what they do not name stays."""
    can = target.entry.capabilities.model_dump(mode="json")
    entry = target.entry.model_dump(mode="json")
    entry |= {key: value for key, value in changes.items() if key in OF_THE_MAPPING}
    can |= {key: value for key, value in changes.items() if key not in OF_THE_MAPPING}
    return replace(target, entry=_entry(target.entry, {**entry, "capabilities": can}))


def _entry(before: MappingEntry, values: Mapping[str, JsonValue]) -> MappingEntry:
    can = Capabilities.model_validate(values["capabilities"])
    numbers = {key: values[key] for key in OF_THE_MAPPING}
    return before.model_copy(update={**numbers, "capabilities": can})


def named_in(words: str, parts: Sequence[OptionalPart]) -> list[OptionalPart]:
    """The parts that an error speaks of: by its own field for it, else in quotes, else in its text."""
    places = [*_LOCATION.findall(words), *_PARAMETER.findall(words)]
    for text, plain in ((" ".join(places), False), (" ".join(_QUOTED.findall(words)), False), (words, True)):
        found = _mentioned(text, parts, plain=plain)
        if found:
            return found
        if places:
            # It says where the fault is: what else it quotes is an echo of the request.
            return []
    return []


def _mentioned(text: str, parts: Sequence[OptionalPart], *, plain: bool) -> list[OptionalPart]:
    """Those that ``text`` names, in its order; in plain prose a key counts only where it is no usual word."""
    found = []
    for part in parts:
        keys = [key for key in part.keys if not plain or "_" in key]
        spans = [span for word in {*keys, *part.words} if (span := _first(word, text)) is not None]
        if spans:
            start = min(begin for begin, _ in spans)
            found.append((start, -max(end for begin, end in spans if begin == start), part))
    return [part for _, _, part in sorted(found, key=lambda each: each[:2])]


def _first(word: str, text: str) -> tuple[int, int] | None:
    pattern = re.escape(word).replace("_", "[_ -]").replace(r"\ ", "[_ -]")
    match = re.search(rf"(?<![A-Za-z]){pattern}(?![A-Za-z])", text, re.IGNORECASE)
    return None if match is None else match.span()
