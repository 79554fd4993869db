"""Endpoint: all a harness knows about the model it drives."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class WireProtocol(StrEnum):
    """The API a harness speaks to a model."""

    CHAT_COMPLETIONS = "chat-completions"
    MESSAGES = "messages"
    RESPONSES = "responses"
    GENERATE_CONTENT = "generate-content"


@dataclass(frozen=True)
class TokenPrices:
    """What the user says the model costs, in US dollars per million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    """None: cached input costs as much as fresh input."""


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers. A harness does not know which provider made it.

    ``base_url`` ends where the protocol's own paths begin, as its clients expect it: with ``/v1`` for Chat
    Completions and Responses, without for Messages and generateContent. ``api_key`` never appears in
    ``repr``, argument lists, records or logs.
    """

    base_url: str
    protocol: WireProtocol
    model: str
    api_key: str = field(repr=False)
    context_window: int | None = None
    prices: TokenPrices | None = None
    """Only for limits: what a trial cost is derived from records, not by a harness."""
