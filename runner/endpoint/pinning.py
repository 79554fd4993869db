"""Pinning: how a gateway is told to answer from no cache, and to hand nothing to another provider."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from runner.records.base import Part

HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$")]


class Words(Part):
    """Headers, and keys of the body, that say one thing to one gateway."""

    headers: Mapping[HeaderName, str] = {}
    parameters: Mapping[str, JsonValue] = {}


class Gateway(Part):
    """What a gateway understands; what stands for nothing it does not know is left empty."""

    no_cache: Words = Words()
    no_fallback: Words = Words()


PLAIN = Gateway(
    no_cache=Words(headers={"x-no-cache": "true"}), no_fallback=Words(headers={"x-no-fallback": "true"})
)
"""For an endpoint that nobody described: headers that do no harm where they mean nothing."""
KNOWN: Mapping[str, Gateway] = {
    "local": PLAIN,
    "llmgateway": PLAIN,
    "openrouter": Gateway(no_fallback=Words(parameters={"provider": {"allow_fallbacks": False}})),
    "litellm": Gateway(
        no_cache=Words(parameters={"cache": {"no-cache": True}}),
        no_fallback=Words(parameters={"disable_fallbacks": True}),
    ),
    "cloudflare": Gateway(no_cache=Words(headers={"cf-aig-skip-cache": "true"})),
    "portkey": Gateway(no_cache=Words(headers={"x-portkey-cache-force-refresh": "true"})),
    "helicone": Gateway(no_cache=Words(headers={"helicone-cache-enabled": "false"})),
}
"""By provider. A mapping's own ``gateway`` stands in place of it; vendors themselves need neither."""


def pinned(
    provider: str, own: Gateway | None, *, allow_cache: bool = False, allow_fallback: bool = False
) -> Words:
    """All that is sent so that an answer belongs to the mapping that was asked, and is a fresh one."""
    gateway = own or KNOWN.get(provider, Gateway())
    said = [] if allow_cache else [gateway.no_cache]
    said += [] if allow_fallback else [gateway.no_fallback]
    return Words(
        headers={name: value for words in said for name, value in words.headers.items()},
        parameters=merged(words.parameters for words in said),
    )


def merged(tables: Iterable[Mapping[str, JsonValue]]) -> dict[str, JsonValue]:
    """Keys of the body together, later ones last; where two say an object under one key, both are in it."""
    found: dict[str, JsonValue] = {}
    for table in tables:
        for key, value in table.items():
            before = found.get(key)
            if isinstance(before, dict) and isinstance(value, dict):
                found[key] = {**before, **value}
            else:
                found[key] = value
    return found
