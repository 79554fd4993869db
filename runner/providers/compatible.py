"""CompatibleEndpoint: any server that speaks one of the common protocols, named by its base URL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import httpx

from runner.harnesses.endpoint import WireProtocol
from runner.providers.address import VERSION_PATH, api_key, checked_base_url
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.catalogue import context_window
from runner.providers.fixed import FixedSession
from runner.records import Hosting

PROTOCOLS = (WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES)


@dataclass(frozen=True)
class CompatibleEndpoint:
    """The provider ``endpoint``. Who runs the machines is unknown unless the user says so.

    Which protocols a server speaks cannot be asked of it: the user says so, or all are offered and the
    harness takes the one it likes best.
    """

    name: str = "endpoint"
    hosting: Hosting = Hosting.UNKNOWN
    protocols: tuple[WireProtocol, ...] = PROTOCOLS
    demonstration: bool = False
    transport: httpx.BaseTransport | None = None
    """Only for tests: what carries the question for the context window."""

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        """Make ``model`` reachable.

        Raises:
            ConfigurationError: the base URL is missing or wrong, or the key's variable is not set.
        """
        return self._session(model, settings, environment)

    @contextmanager
    def _session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[ModelSession]:
        base_url = checked_base_url(settings.base_url)
        key = api_key(settings.api_key_env, environment)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        window = settings.context_window or context_window(
            f"{base_url}/models", model, headers, self.transport
        )
        offered = settings.protocols or self.protocols
        # Servers of this kind have their page for Prometheus beside the API, not below its version.
        metrics = f"{base_url.removesuffix(VERSION_PATH)}/metrics"
        yield FixedSession(
            self.name, base_url, offered, model, key, window, settings.prices, metrics, self.transport
        )
