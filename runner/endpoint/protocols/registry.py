"""Registry of the protocols: for each its path, its request and its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from runner.endpoint.protocols import chat, messages, responses
from runner.endpoint.protocols.assembly import Assembly
from runner.endpoint.request import AskRequest, Protocol
from runner.endpoint.result import Outcome

_CUT, _REFUSED, _FAILED = Outcome.LENGTH, Outcome.REFUSED, Outcome.STREAM_ERROR


@dataclass(frozen=True)
class Dialect:
    """One protocol as functions without state."""

    path: str
    """Comes after the base address."""
    body: Callable[[AskRequest], dict[str, JsonValue]]
    read: Callable[[Assembly, object, int, bytes], None]
    """One event or whole answer, when it came, and the name of the event."""
    carried: Callable[[Assembly], tuple[JsonValue, ...]]
    finishes: dict[str, Outcome]
    """Finish reasons that are not plain success."""
    end_mark: bytes | None = None
    """Data of the event that ends a stream, where that is no JSON."""


DIALECTS: dict[Protocol, Dialect] = {
    Protocol.CHAT_COMPLETIONS: Dialect(
        path=chat.PATH,
        body=chat.body,
        read=chat.read,
        carried=chat.carried,
        finishes={
            "length": _CUT,
            "max_tokens": _CUT,
            "model_length": _CUT,
            "content_filter": _REFUSED,
            "refusal": _REFUSED,
            "error": _FAILED,
        },
        end_mark=chat.END_MARK,
    ),
    Protocol.MESSAGES: Dialect(
        path=messages.PATH,
        body=messages.body,
        read=messages.read,
        carried=messages.carried,
        finishes={"max_tokens": _CUT, "model_context_window_exceeded": _CUT, "refusal": _REFUSED},
    ),
    Protocol.RESPONSES: Dialect(
        path=responses.PATH,
        body=responses.body,
        read=responses.read,
        carried=responses.carried,
        finishes={"max_output_tokens": _CUT, "content_filter": _REFUSED, "incomplete": _CUT},
    ),
}
