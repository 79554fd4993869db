"""Replay: the built-in model server as a provider. What is made with it is a demonstration."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import ConfigurationError, UsageError
from runner.harnesses.endpoint import Endpoint, TokenPrices, WireProtocol
from runner.providers.about import About
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.checks import ENDPOINT, SERVED_MODEL, Check, CheckState
from runner.providers.counters import ServerCounters, read_counters
from runner.records import Hosting
from runner.replay import ReplayServer, RunCount, open_library, parse_faults

KEY = "replay-needs-no-key-this-is-a-dummy"
API_ROOT = {
    WireProtocol.CHAT_COMPLETIONS: "/v1",
    WireProtocol.MESSAGES: "",
    WireProtocol.RESPONSES: "/v1",
    WireProtocol.GENERATE_CONTENT: "",
    WireProtocol.BEDROCK_INVOKE: "",
    WireProtocol.BEDROCK_CONVERSE: "",
}

ABOUT = About(
    summary="The built-in model server, which plays recorded turns: free, offline, for every agent.",
    flags="--provider replay",
    credentials="none",
    notes=("What is made with it is a demonstration, kept apart; it says nothing of a model.",),
)


@dataclass(frozen=True)
class ReplaySession:
    """One scripted model on a running server."""

    server: ReplayServer
    model: str
    context_window: int
    faults: tuple[str, ...] = ()
    prices: TokenPrices | None = None
    protocols: tuple[WireProtocol, ...] = tuple(API_ROOT)

    def endpoint(self, protocol: WireProtocol, *, run: str, scenario: str) -> Endpoint:
        """Where the model answers for one trial; run and scenario are parts of the address.

        Raises:
            ConfigurationError: the server does not speak ``protocol``.
        """
        if protocol not in self.protocols:
            raise ConfigurationError(
                f"the replay server is not to speak {protocol} here",
                remedy=f"it may speak {', '.join(self.protocols)}",
            )
        base = self.server.url_for(run=run, scenario=scenario, faults=self.faults)
        return Endpoint(
            base_url=base + API_ROOT[protocol],
            protocol=protocol,
            model=self.model,
            api_key=KEY,
            context_window=self.context_window,
            prices=self.prices,
        )

    def requests_seen(self, run: str) -> int | None:
        """The server's own count of the requests of ``run``."""
        return self.count(run).requests

    def counters(self) -> ServerCounters | None:
        """The server's page for Prometheus, which counts every run of this model."""
        return read_counters(f"{self.server.base_url}/metrics", self.model)

    def count(self, run: str) -> RunCount:
        """The server's own count of ``run``."""
        return self.server.count(run)


def require_recorded(model: str, windows: Mapping[str, int]) -> None:
    """Check that a cassette plays ``model``.

    Raises:
        UsageError: none does; the nearest one is offered.
    """
    if model not in windows:
        near = difflib.get_close_matches(model, windows, n=1)
        raise UsageError(
            f"no cassette plays the model {model!r}" + (f"; did you mean {near[0]!r}?" if near else ""),
            remedy=f"recorded models: {', '.join(windows)}",
        )


@dataclass
class _Shared:
    """A server and how many sessions use it."""

    server: ReplayServer
    users: int = 0


@dataclass
class Replay:
    """The provider ``replay``. Sessions with the same settings share one server while any of them is open."""

    name: str = "replay"
    hosting: Hosting = Hosting.BUILT_IN
    about: About = ABOUT
    protocols: tuple[WireProtocol, ...] = tuple(API_ROOT)
    demonstration: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _servers: dict[ProviderSettings, _Shared] = field(default_factory=dict, repr=False)

    def session(
        self,
        model: str,
        settings: ProviderSettings,
        environment: Mapping[str, str],  # noqa: ARG002 - part of the seam; no key is needed
    ) -> AbstractContextManager[ModelSession]:
        """Make the scripted ``model`` reachable.

        Raises:
            ConfigurationError: there is no cassettes folder, or its files have faults.
            UsageError: no cassette plays ``model``.
        """
        return self._session(model, settings)

    def checks(
        self,
        model: str,
        settings: ProviderSettings,
        environment: Mapping[str, str],  # noqa: ARG002 - part of the seam; no key is needed
    ) -> Iterator[Check]:
        """Cassettes, faults and model; no server is started."""
        try:
            parse_faults(settings.faults)
            windows = open_library(Path(settings.cassettes or "")).models()
        except ConfigurationError as error:
            yield Check(ENDPOINT, CheckState.FAIL, error.what, error.remedy or "correct --faults")
            return
        yield Check(ENDPOINT, CheckState.PASS, f"the built-in model server plays {len(windows)} models")
        try:
            require_recorded(model, windows)
        except UsageError as error:
            yield Check(SERVED_MODEL, CheckState.FAIL, error.what, error.remedy)
        else:
            yield Check(SERVED_MODEL, CheckState.PASS, f"{model} is recorded", window=windows[model])

    @contextmanager
    def _session(self, model: str, settings: ProviderSettings) -> Iterator[ModelSession]:
        server = self._acquire(settings)
        try:
            windows = server.library.models()
            require_recorded(model, windows)
            window = settings.context_window or windows[model]
            offered = settings.protocols or self.protocols
            yield ReplaySession(server, model, window, settings.faults, settings.prices, offered)
        finally:
            self._release(settings)

    def _acquire(self, settings: ProviderSettings) -> ReplayServer:
        if settings.cassettes is None:
            raise ConfigurationError(
                "the replay server needs a folder of cassettes", remedy="it is datasets/cassettes"
            )
        parse_faults(settings.faults)
        with self._lock:
            shared = self._servers.get(settings)
            if shared is None:
                log = Path(settings.request_log) if settings.request_log else None
                server = ReplayServer(Path(settings.cassettes), log=log)
                server.__enter__()
                shared = self._servers[settings] = _Shared(server)
            shared.users += 1
            return shared.server

    def _release(self, settings: ProviderSettings) -> None:
        with self._lock:
            shared = self._servers[settings]
            shared.users -= 1
            if shared.users == 0:
                del self._servers[settings]
                shared.server.__exit__(None, None, None)
