"""Admission: which requests of an agent may reach the model's endpoint, and at which address."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from runner.harnesses.endpoint import Endpoint, WireProtocol

DECODINGS = 5
"""A path that is still encoded after so many has something to hide."""
MODELS = r"(?:v1/)?models(?:/[^/].*)?"
ANSWERS = {
    WireProtocol.CHAT_COMPLETIONS: r"(?:v1/)?(?:chat/)?completions",
    WireProtocol.MESSAGES: r"(?:v1/)?messages",
    WireProtocol.RESPONSES: r"(?:v1/)?responses(?:/compact)?",
    WireProtocol.GENERATE_CONTENT: r"(?:v1[a-z]*/)?models/[^/:]+:(?:streamG|g)enerateContent",
    # Claude Code asks a dozen other models for one token each when it starts, and not by a stream.
    WireProtocol.BEDROCK_INVOKE: r"model/(?P<model>[^/]+)/invoke-with-response-stream",
    WireProtocol.BEDROCK_CONVERSE: r"model/(?P<model>[^/]+)/converse(?:-stream)?",
}
"""What may be posted for an answer."""
COUNTS = {
    WireProtocol.MESSAGES: r"(?:v1/)?messages/count_tokens",
    WireProtocol.RESPONSES: r"(?:v1/)?responses/[^/]+/cancel",
    WireProtocol.GENERATE_CONTENT: r"(?:v1[a-z]*/)?models/[^/:]+:countTokens",
    WireProtocol.BEDROCK_INVOKE: r"model/(?P<model>[^/]+)/count-tokens",
    WireProtocol.BEDROCK_CONVERSE: r"model/(?P<model>[^/]+)/count-tokens",
}
"""What else may be posted: it makes, changes and removes nothing of the account's."""
LOOKS = {
    WireProtocol.CHAT_COMPLETIONS: MODELS,
    WireProtocol.MESSAGES: MODELS,
    WireProtocol.RESPONSES: rf"{MODELS}|(?:v1/)?responses/[^/]+(?:/input_items)?",
    WireProtocol.GENERATE_CONTENT: r"(?:v1[a-z]*/)?models(?:/[^/:]+)?",
}
"""What may be looked at. Deleting a model has the same address."""
LOOKING = frozenset({"GET", "HEAD"})


@dataclass(frozen=True)
class Admitted:
    """A request that may pass: its path on the endpoint's server, and its query."""

    path: str
    query: str
    for_an_answer: bool


def prefix_of(endpoint: Endpoint) -> str:
    """Path of the endpoint's base URL, without a slash at its end."""
    return urlsplit(endpoint.base_url).path.rstrip("/")


def admit(endpoint: Endpoint, method: str, target: str) -> Admitted | None:
    """The request when it is one of the endpoint's protocol below the endpoint's own path, else None.

    The real key opens more than a model at most vendors; an agent gets no further with it than to answers,
    token counts and lists of models. Where the address names the model, it must be the endpoint's own.
    """
    path, _, query = target.partition("?")
    prefix = prefix_of(endpoint)
    if not path.startswith(prefix + "/") or not _plain(path):
        return None
    rest = path[len(prefix) + 1 :]
    found = other = None
    if method == "POST":
        found = _match(ANSWERS, endpoint, rest)
        other = _match(COUNTS, endpoint, rest)
    elif method in LOOKING:
        other = _match(LOOKS, endpoint, rest)
    match = found or other
    if match is None or unquote(match.groupdict().get("model", endpoint.model)) != endpoint.model:
        return None
    return Admitted(path, query, for_an_answer=found is not None)


def _match(patterns: Mapping[WireProtocol, str], endpoint: Endpoint, path: str) -> re.Match[str] | None:
    pattern = patterns.get(endpoint.protocol)
    return None if pattern is None else re.fullmatch(pattern, path)


def _plain(path: str) -> bool:
    """Whether no server can understand ``path`` as one that leads elsewhere, however it decodes it."""
    decoded = path
    for _ in range(DECODINGS):
        try:
            before, decoded = decoded, unquote(decoded, errors="strict")
        except UnicodeDecodeError:
            return False
        if decoded == before:
            break
    else:
        return False
    # Dots and slashes have many likenesses, and some servers cut a part of a path off at a semicolon.
    decoded = unicodedata.normalize("NFKC", decoded)
    return (
        "\\" not in decoded
        and ";" not in decoded
        and "//" not in decoded
        and all(part not in {".", ".."} for part in decoded.split("/"))
        and decoded.isprintable()
    )
