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
class Endpoint:
    """Where a model answers. A harness does not know which provider made it.

    ``api_key`` never appears in ``repr``, argument lists, records or logs.
    """

    base_url: str
    protocol: WireProtocol
    model: str
    api_key: str = field(repr=False)
    context_window: int | None = None
