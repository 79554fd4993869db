"""VendorApi: what the vendors' own APIs have in common: a fixed address and a key from the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import httpx

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.address import api_key
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.catalogue import context_window
from runner.providers.fixed import FixedSession
from runner.records import Hosting


@dataclass(frozen=True)
class VendorApi:
    """A vendor's API.

    Args:
        base_url: with ``/v1`` at its end.
        key_variable: environment variable of the key, unless the user names another one.
        transport: only for tests: what carries the question for the context window.
    """

    name: str
    base_url: str
    protocols: tuple[WireProtocol, ...]
    key_variable: str
    hosting: Hosting = Hosting.VENDOR_API
    demonstration: bool = False
    transport: httpx.BaseTransport | None = None

    def headers(self, key: str) -> Mapping[str, str]:
        """What the list of models wants to see."""
        return {"Authorization": f"Bearer {key}"}

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        """Make ``model`` reachable.

        Raises:
            ConfigurationError: the key's variable is not set, or a base URL was given.
        """
        return self._session(model, settings, environment)

    @contextmanager
    def _session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[ModelSession]:
        if settings.base_url is not None:
            raise ConfigurationError(
                f"provider {self.name} has an address of its own",
                where=settings.base_url,
                remedy="for another address use --provider endpoint",
            )
        key = api_key(settings.api_key_env or self.key_variable, environment)
        address = f"{self.base_url}/models/{quote(model, safe='')}"
        window = settings.context_window or context_window(address, model, self.headers(key), self.transport)
        offered = settings.protocols or self.protocols
        yield FixedSession(self.name, self.base_url, offered, model, key, window, settings.prices)
