"""Endpoint: all a harness knows about the model it drives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class WireProtocol(StrEnum):
    """The API a harness speaks to a model."""

    CHAT_COMPLETIONS = "chat-completions"
    MESSAGES = "messages"
    RESPONSES = "responses"
    GENERATE_CONTENT = "generate-content"
    BEDROCK_INVOKE = "bedrock-invoke"
    """Messages inside the InvokeModel requests and event streams of Amazon Bedrock."""
    BEDROCK_CONVERSE = "bedrock-converse"
    """The one request and event stream of Amazon Bedrock for the models of every vendor."""
    MANAGED = "managed"
    """None of ours: the program reaches its vendor's cloud by itself, so no gateway stands between."""


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
    Completions and Responses, without for Messages, generateContent and both of Bedrock. It is empty for
    ``MANAGED``, where the program knows its own. ``api_key`` never appears in ``repr``, argument lists,
    records or logs.
    """

    base_url: str
    protocol: WireProtocol
    model: str
    api_key: str = field(repr=False)
    context_window: int | None = None
    prices: TokenPrices | None = None
    """Only for limits: what a trial cost is derived from records, not by a harness."""
    dollars_per_credit: float | None = None
    """What the user pays for one credit of a vendor that bills in credits."""
    renewed_key: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    """Where keys run out: gives one that is valid now, each time it is asked; may take a network call."""

    def key_now(self) -> str:
        """The key for a request that is sent now.

        Raises:
            ConfigurationError: what makes the keys has run out itself; the remedy says how to renew it.
        """
        return self.api_key if self.renewed_key is None else self.renewed_key()
