"""Capabilities: which parameters an endpoint accepts, so that no request of ours is refused."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from runner.records.base import Part

EffortWord = Annotated[str, Field(pattern=r"^[a-z]+$", max_length=20)]
EffortWords = Annotated[tuple[EffortWord, ...], Field(strict=False)]


class Thinking(StrEnum):
    """Whether the model reasons before it answers."""

    NEVER = "never"
    ON_REQUEST = "on_request"
    """Only where an effort above none is asked for."""
    BY_DEFAULT = "by_default"
    """Unless an effort of none is asked for."""
    ALWAYS = "always"


class Capabilities(Part):
    """What an endpoint accepts. The defaults are those of a plain server for Chat Completions.

    ``efforts`` are the words of effort it knows, from the least to the most; empty: it knows none, and the
    parameter is not sent. A word in ``effort_bodies`` is said with these keys of the body in place of the
    usual parameter. ``thinking_tokens`` are allowed for on top of an answer's own limit wherever the model
    may think, because most endpoints count thoughts as output.
    """

    temperature: bool = True
    temperature_at_efforts: EffortWords = ()
    """Where not empty: temperature is accepted only beside one of these efforts, said in the request."""
    efforts: EffortWords = ()
    effort_bodies: Mapping[EffortWord, Mapping[str, JsonValue]] = {}
    thinking: Annotated[Thinking, Field(strict=False)] = Thinking.NEVER
    thinking_tokens: Annotated[int, Field(ge=0)] = 16_384
    max_output_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tools: bool = True
    tool_choice: Annotated[tuple[Literal["auto", "none", "required", "named"], ...], Field(strict=False)] = (
        "auto",
        "none",
        "required",
        "named",
    )
    parallel_tools: bool = True
    json_schema: bool = False
    system: bool = True
    """False: what belongs into the system text is put before the first turn of the user."""
    parameters: Mapping[str, JsonValue] = {}
    """Keys of the body that every request carries; null takes a key away that would be sent."""

    @property
    def effort_words(self) -> tuple[str, ...]:
        """Every word of effort that can be said, in one way or the other."""
        return tuple(dict.fromkeys((*self.effort_bodies, *self.efforts)))
