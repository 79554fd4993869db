"""CompatibleEndpoint: any server that speaks one of the common protocols, named by its base URL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import httpx

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.about import About
from runner.providers.address import VERSION_PATH, api_key, checked_base_url
from runner.providers.asking import SECONDS, Asker
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.catalogue import context_window
from runner.providers.checks import CREDENTIALS, ENDPOINT, Check, CheckState
from runner.providers.fixed import FixedSession
from runner.providers.probing import Server, key_headers, probe
from runner.records import Hosting

PROTOCOLS = (WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES)

ABOUT = About(
    summary="Any server that speaks Chat Completions, Messages or Responses: a gateway, an aggregator, a "
    "server of your own.",
    flags="--endpoint https://HOST/v1 --model MODEL",
    credentials="the key in the variable named with --api-key-env, where the server wants one",
    notes=(
        "Which protocols it speaks is asked before the run; --protocol names the only ones to use.",
        "Who runs the machines is unknown unless --hosting says so.",
    ),
)


@dataclass(frozen=True)
class CompatibleEndpoint:
    """The provider ``endpoint``. Who runs the machines is unknown unless the user says so.

    Which protocols a server speaks cannot be asked of it: the user says so, or all are offered and the
    harness takes the one it likes best.
    """

    name: str = "endpoint"
    hosting: Hosting = Hosting.UNKNOWN
    about: About = ABOUT
    protocols: tuple[WireProtocol, ...] = PROTOCOLS
    demonstration: bool = False
    transport: httpx.BaseTransport | None = None
    """Only for tests: what carries the question for the context window."""
    patience: float = SECONDS
    """Seconds that the checks before a run may take."""

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        """Make ``model`` reachable.

        Raises:
            ConfigurationError: the base URL is missing or wrong, or the key's variable is not set.
        """
        return self._session(model, settings, environment)

    def checks(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[Check]:
        """Address, key, model, window and protocols, as the server itself answers; nothing is billed."""
        try:
            base_url = checked_base_url(settings.base_url)
        except ConfigurationError as error:
            yield Check(ENDPOINT, CheckState.FAIL, error.what, error.remedy)
            return
        try:
            key = api_key(settings.api_key_env, environment)
        except ConfigurationError as error:
            yield Check(CREDENTIALS, CheckState.FAIL, error.what, error.remedy)
            return
        server = Server(base_url, key, settings.api_key_env)
        with Asker(key_headers(key), self.transport, self.patience) as asker:
            yield from probe(server, model, settings.protocols or self.protocols, asker)

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
            self.name,
            base_url,
            offered,
            model,
            key,
            window,
            settings.prices,
            metrics_url=metrics,
            transport=self.transport,
        )
