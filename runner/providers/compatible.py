"""CompatibleEndpoint: any server that speaks OpenAI's protocol, named by its base URL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint, TokenPrices, WireProtocol
from runner.providers.base import ModelSession, ProviderSettings
from runner.records import Hosting

MODELS_SECONDS = 10.0
MAX_MODELS_BYTES = 5_000_000


@dataclass(frozen=True)
class CompatibleSession:
    """A model at a base URL."""

    base_url: str
    model: str
    api_key: str
    context_window: int | None
    prices: TokenPrices | None

    def __repr__(self) -> str:
        return f"CompatibleSession({self.base_url!r}, {self.model!r})"

    def endpoint(self, protocol: WireProtocol, *, run: str, scenario: str) -> Endpoint:  # noqa: ARG002
        """Where the model answers; the same for every trial.

        Raises:
            ConfigurationError: this provider does not offer ``protocol``.
        """
        if protocol is not WireProtocol.CHAT_COMPLETIONS:
            raise ConfigurationError(f"provider endpoint does not offer {protocol}")
        return Endpoint(
            base_url=self.base_url,
            protocol=protocol,
            model=self.model,
            api_key=self.api_key,
            context_window=self.context_window,
            prices=self.prices,
        )


@dataclass(frozen=True)
class CompatibleEndpoint:
    """The provider ``endpoint``. Who runs the machines is unknown unless the user says so."""

    name: str = "endpoint"
    hosting: Hosting = Hosting.UNKNOWN
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS,)
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
        key = _key(settings.api_key_env, environment)
        window = settings.context_window or self._context_window(base_url, model, key)
        yield CompatibleSession(base_url, model, key, window, settings.prices)

    def _context_window(self, base_url: str, model: str, key: str) -> int | None:
        """``max_model_len`` of the model as ``/models`` tells it; None where it does not."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        transport = self.transport or httpx.HTTPTransport()
        with (
            contextlib.suppress(httpx.HTTPError, ValueError, RecursionError),
            httpx.Client(transport=transport, timeout=MODELS_SECONDS, trust_env=False) as client,
            client.stream("GET", f"{base_url}/models", headers=headers) as response,
        ):
            length = response.headers.get("content-length", "0")
            if response.status_code != 200 or int(length) > MAX_MODELS_BYTES:
                return None
            response.read()
            return _window_of(response.json(), model)
        return None


def checked_base_url(text: str | None) -> str:
    """``text`` as a base URL without a final slash.

    Raises:
        ConfigurationError: it is missing, not http or https, has no host, or holds credentials.
    """
    if not text:
        raise ConfigurationError(
            "provider endpoint needs a base URL", remedy="give --endpoint http://host:port/v1"
        )
    try:
        parts = urlsplit(text.strip())
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError as error:
        raise ConfigurationError(f"the base URL is malformed: {error}") from None
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            "the base URL holds credentials, which would end up in records",
            remedy="take them out and name the key's environment variable with --api-key-env",
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_fine:
        raise ConfigurationError(
            "the base URL must be http or https with a host", where=text, remedy="as in http://host:port/v1"
        )
    if parts.query or parts.fragment:
        raise ConfigurationError(
            "the base URL must end with its path",
            where=text.split("?")[0],
            remedy="as in http://host:port/v1",
        )
    return text.strip().rstrip("/")


def _key(variable: str | None, environment: Mapping[str, str]) -> str:
    if variable is None:
        return ""
    key = environment.get(variable, "").strip()
    if not key:
        raise ConfigurationError(
            f"the environment variable {variable} is not set or empty", remedy=f"export {variable}=..."
        )
    if not key.isprintable() or not key.isascii():
        raise ConfigurationError(
            f"the environment variable {variable} holds characters that no key has",
            remedy="set it again without line breaks",
        )
    return key


def _window_of(body: object, model: str) -> int | None:
    entries = body.get("data") if isinstance(body, dict) else None
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and entry.get("id") == model:
            window = entry.get("max_model_len")
            return window if isinstance(window, int) and window > 0 else None
    return None
