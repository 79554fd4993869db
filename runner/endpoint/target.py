"""Target: one model behind one mapping, with all that is needed to ask it and to price its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from runner.costs.price_lookup import PriceQuestion
from runner.costs.price_row import RegionClass, ServiceTier
from runner.endpoint.capabilities import Capabilities
from runner.endpoint.pinning import Gateway
from runner.endpoint.request import Protocol
from runner.errors import ConfigurationError
from runner.records.base import Part, Slug

VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
LINE = r"^[^\x00-\x1f\x7f]+$"
Tokens = Annotated[int, Field(ge=1, le=100_000_000)]
SECRET_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "proxy-authorization", "cookie"})


class PriceKey(Part):
    """Which rows of the price book hold for a mapping, where its own names do not say it."""

    provider: Slug | None = None
    model: str | None = Field(default=None, min_length=1, max_length=300, pattern=LINE)
    region_class: Annotated[RegionClass, Field(strict=False)] | None = None
    service_tier: Annotated[ServiceTier, Field(strict=False)] = ServiceTier.STANDARD


class ReplayPlace(Part):
    """A mapping that the built-in server plays: nothing is sent over a network and nothing is paid."""

    scenario: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*$", max_length=200)
    faults: tuple[Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=40)], ...] = Field(
        default=(), strict=False
    )


class MappingEntry(Part):
    """One way to reach a model.

    ``base_url`` ends where the protocol's own paths begin: with the version (``/v1``) for Chat Completions
    and Responses, without it for Messages.
    """

    provider: Slug
    region: Slug | None = None
    model_id: str = Field(min_length=1, max_length=300, pattern=LINE)
    protocol: Annotated[Protocol, Field(strict=False)]
    base_url: str | None = None
    replay: ReplayPlace | None = None
    key_variable: str | None = Field(default=None, pattern=VARIABLE, description="name of the variable")
    price: PriceKey = PriceKey()
    context_tokens: Tokens | None = None
    max_output_tokens: Tokens | None = None
    quantization: str | None = Field(default=None, min_length=1, max_length=40, pattern=LINE)
    stability: str | None = Field(default=None, min_length=1, max_length=40, pattern=LINE)
    deactivated_on: date | None = None
    headers: Mapping[str, str] = {}
    gateway: Gateway | None = None
    """How it is told to use no cache and no other provider; None: as is known of its provider."""
    capabilities: Capabilities = Capabilities()
    source: str = Field(min_length=1, max_length=500)
    checked_on: date
    note: str = ""

    @model_validator(mode="after")
    def _one_place_and_no_secret(self) -> Self:
        if (self.base_url is None) == (self.replay is None):
            raise ValueError("give base_url, or replay, and not both")
        if self.base_url is not None:
            fault = url_fault(self.base_url)
            if fault:
                raise ValueError(f"base_url {fault}")
        gateway = self.gateway or Gateway()
        sent = (*self.headers, *gateway.no_cache.headers, *gateway.no_fallback.headers)
        secret = sorted(SECRET_HEADERS & {name.lower() for name in sent})
        if secret:
            raise ValueError(
                f"headers must hold no key ({', '.join(secret)}); name its variable in key_variable"
            )
        return self

    @property
    def label(self) -> str:
        """``provider``, or ``provider:region``."""
        return self.provider if self.region is None else f"{self.provider}:{self.region}"


@dataclass(frozen=True)
class Target:
    """One model behind one mapping: what is benchmarked."""

    model: str
    title: str
    entry: MappingEntry
    origin: str = "catalogue"
    """Where it is described: ``catalogue``, or ``flags`` for one named on the command line."""

    @property
    def identifier(self) -> str:
        """``provider/model-id``, with ``:region`` where there is one; unique in a catalogue."""
        region = "" if self.entry.region is None else f":{self.entry.region}"
        return f"{self.entry.provider}/{self.entry.model_id}{region}"

    @property
    def label(self) -> str:
        """The mapping's label."""
        return self.entry.label

    @property
    def capabilities(self) -> Capabilities:
        """What its endpoint accepts."""
        return self.entry.capabilities

    def key(self, environment: Mapping[str, str]) -> str | None:
        """The key, or None where the mapping needs none.

        Raises:
            ConfigurationError: its variable is not set, or holds what no key can be; no value is shown.
        """
        variable = self.entry.key_variable
        if variable is None:
            return None
        key = environment.get(variable, "")
        if not key.strip():
            raise ConfigurationError(
                f"the key of {self.identifier} is missing: the variable {variable} is not set",
                remedy=f"set {variable}, or write it into .env",
            )
        if key != key.strip() or not key.isascii() or not key.isprintable():
            raise ConfigurationError(
                f"the variable {variable} holds blanks or characters that no key has",
                remedy=f"set {variable} again",
            )
        return key

    def price_question(self, on: date, prompt_tokens: int | None = None) -> PriceQuestion:
        """What to ask the price book for one request of that day."""
        price = self.entry.price
        return PriceQuestion(
            provider=price.provider or self.entry.provider,
            model=price.model or self.entry.model_id,
            on=on,
            region_class=price.region_class,
            service_tier=price.service_tier,
            prompt_tokens=prompt_tokens,
        )


def url_fault(url: str) -> str:
    """What is wrong with a base URL; empty where nothing is. Credentials in it are never repeated."""
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        return "is malformed"
    if parts.username is not None or parts.password is not None:
        return "holds credentials, which would end up in records; name the key's variable instead"
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_fine:
        return "must be http or https with a host, as in http://127.0.0.1:8000/v1"
    if parts.query or parts.fragment:
        return "must end with its path"
    if not url.isascii() or any(letter.isspace() for letter in url):
        return "holds blanks or characters that no address has"
    return "must not end with a slash" if url.endswith("/") else ""
