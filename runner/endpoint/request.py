"""AskRequest: one question to a model endpoint, in words that every protocol has its own form of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from runner.records.base import Count, Part


class Protocol(StrEnum):
    """The API an endpoint is asked in."""

    CHAT_COMPLETIONS = "chat-completions"
    MESSAGES = "messages"
    RESPONSES = "responses"


class ToolCall(Part):
    """One call of a tool, as the model made it. ``arguments`` is the text as sent: it need not be JSON."""

    identifier: str
    name: str
    arguments: str

    def arguments_object(self) -> dict[str, JsonValue]:
        """The arguments as an object; an empty one where they are none."""
        try:
            found = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


class Message(Part):
    """One turn of a conversation."""

    role: Literal["user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant's turn."""
    tool_call_id: str | None = None
    """Of a tool's turn: which call it answers."""
    carried: tuple[JsonValue, ...] = ()
    """Of an assistant's turn: the reasoning that its provider wants back (``StreamResult.carried``)."""


class Tool(Part):
    """A tool that the model may call; ``parameters`` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]


def text_tool(name: str, description: str, **arguments: str) -> Tool:
    """A tool whose arguments are texts, all of them required: what each is, by its name."""
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {key: {"type": "string", "description": text} for key, text in arguments.items()},
        "required": list(arguments),
        "additionalProperties": False,
    }
    return Tool(name=name, description=description, parameters=schema)


class Deadlines(Part):
    """How long each phase of a request may take, in seconds; None waits for ever.

    ``connect`` covers name, TCP and TLS; ``headers`` runs from the request written to the response's head;
    ``stall`` is the longest silence between two reads of the body; ``total`` covers everything.
    """

    connect: Annotated[float, Field(gt=0)] | None = 10.0
    headers: Annotated[float, Field(gt=0)] | None = 120.0
    stall: Annotated[float, Field(gt=0)] | None = 60.0
    total: Annotated[float, Field(gt=0)] | None = 600.0


class AskRequest(Part):
    """What is asked. The address and the key belong to the client that is called, never to a request.

    Fields that are None are not sent. ``parameters`` are written into the body last, so that a capability
    table can add, replace or (with null) take away any key of it.
    """

    protocol: Protocol
    model: str
    """The raw id as sent on the wire."""
    messages: tuple[Message, ...]
    system: str | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: str | None = None
    """``auto``, ``none``, ``required``, or the name of a tool."""
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    max_output_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """How Chat Completions is told; the other protocols know one name only."""
    temperature: Annotated[float, Field(ge=0)] | None = None
    seed: int | None = None
    effort: str | None = None
    """How much to reason, in the endpoint's own word."""
    stop: tuple[str, ...] = ()
    stream: bool = True
    parameters: Mapping[str, JsonValue] = {}
    headers: Mapping[str, str] = {}
    """More headers by name. Never a key: keys are in the environment."""
    deadlines: Deadlines = Deadlines()
    scheduled_ns: Count | None = None
    """When it was meant to be sent (``time.perf_counter_ns``), for arrivals planned ahead; None: now."""
