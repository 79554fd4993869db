"""VendorApi: what the vendors' own APIs have in common: a fixed address and a key from the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import httpx

from runner.errors import ConfigurationError, EndpointError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.about import About
from runner.providers.address import api_key
from runner.providers.asking import Asker, Reply, printable
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.catalogue import context_window, window_in
from runner.providers.checks import CONTEXT_WINDOW, CREDENTIALS, ENDPOINT, SERVED_MODEL, Check, CheckState
from runner.providers.fixed import FixedSession
from runner.providers.probing import Server, refused
from runner.providers.served import served_check, served_ids
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
    about: About
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

    def checks(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[Check]:
        """Key, model and window, from the vendor's description of the one model; nothing is billed.

        The protocols of a vendor's own API are known and not probed.
        """
        try:
            key = self._key(settings, environment)
        except ConfigurationError as error:
            name = CREDENTIALS if settings.base_url is None else ENDPOINT
            yield Check(name, CheckState.FAIL, error.what, error.remedy)
            return
        variable = settings.api_key_env or self.key_variable
        try:
            with Asker(self.headers(key), self.transport) as asker:
                reply = asker.get(f"{self.base_url}/models/{quote(model, safe='')}")
                refusal = refused(reply, Server(self.base_url, key, variable))
                yield refusal or Check(CREDENTIALS, CheckState.PASS, f"the key in {variable} is accepted")
                if refusal is None:
                    yield from self._described(reply, model, asker)
        except EndpointError as error:
            yield Check(ENDPOINT, CheckState.FAIL, error.what, error.remedy)

    def _described(self, reply: Reply, model: str, asker: Asker) -> Iterator[Check]:
        """What the description of the model says, or the list where there is none."""
        if reply.status == 429:
            found = f"the vendor answers to fewer requests for now (429): {reply.said}"
            yield Check(ENDPOINT, CheckState.WARN, found, "look at the limits of the key")
        elif reply.status == 404:
            served = served_ids(asker.get(f"{self.base_url}/models?limit=1000").body)
            yield served_check(model, served or ())
        elif not isinstance(reply.body, dict) or not isinstance(reply.body.get("id"), str):
            found = "what answers is not the vendor's API"
            yield Check(ENDPOINT, CheckState.FAIL, found, "look for a proxy or a sign-in page in between")
        else:
            name = reply.body["id"]
            alias = "" if name == model else f", which is {printable(name)} now"
            yield Check(SERVED_MODEL, CheckState.PASS, f"{printable(model)} is served{alias}")
            window = window_in(reply.body, name)
            if window is not None:
                found = f"{window} tokens, as the vendor says"
                yield Check(CONTEXT_WINDOW, CheckState.PASS, found, window=window)

    def _key(self, settings: ProviderSettings, environment: Mapping[str, str]) -> str:
        if settings.base_url is not None:
            raise ConfigurationError(
                f"provider {self.name} has an address of its own",
                where=settings.base_url,
                remedy="for another address use --provider endpoint",
            )
        return api_key(settings.api_key_env or self.key_variable, environment)

    @contextmanager
    def _session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[ModelSession]:
        key = self._key(settings, environment)
        address = f"{self.base_url}/models/{quote(model, safe='')}"
        window = settings.context_window or context_window(address, model, self.headers(key), self.transport)
        offered = settings.protocols or self.protocols
        yield FixedSession(self.name, self.base_url, offered, model, key, window, settings.prices)
