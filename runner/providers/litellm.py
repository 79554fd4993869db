"""LiteLLM: a proxy of our own that lets an agent speak one API to a model server that speaks another.

For open-weight models on Amazon Bedrock a region stands for the server: its route of that kind speaks Chat
Completions and takes a Bedrock key, which lasts twelve hours at most where it was made from credentials.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from runner.errors import ConfigurationError, HarnessmarkError
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.providers.about import About
from runner.providers.address import api_key, checked_base_url
from runner.providers.asking import Asker
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.catalogue import context_window
from runner.providers.checks import CREDENTIALS, ENDPOINT, Check, CheckState
from runner.providers.counters import ServerCounters
from runner.providers.fixed import FixedSession
from runner.providers.litellm_program import VERSION, find_proxy
from runner.providers.litellm_proxy import Proxy, running_proxy
from runner.providers.litellm_routes import Route, loss_warnings, losses
from runner.providers.probing import Server, key_headers, probe
from runner.records import DataWarning, Hosting

PROTOCOLS = (
    WireProtocol.CHAT_COMPLETIONS,
    WireProtocol.RESPONSES,
    WireProtocol.MESSAGES,
    WireProtocol.GENERATE_CONTENT,
)
PROGRAM = "proxy program"
BEDROCK_KEY = "AWS_BEARER_TOKEN_BEDROCK"
OTHER_PROTOCOL = re.compile(r"--protocol (\S+),")
TRANSLATION = "translation"

ABOUT = About(
    summary="A LiteLLM proxy, started for the run: every agent can use a server of another protocol.",
    flags="--provider litellm --endpoint https://HOST/v1 --backend-protocol PROTOCOL --model MODEL",
    credentials="the key in the variable named with --api-key-env, where the server behind it wants one",
    notes=(
        "invoke harness-install litellm installs the pinned release; a compromised one is refused.",
        "Each run starts and stops a proxy of its own; invoke model-server shows how they are, and --proxy "
        "MODEL --endpoint URL starts one that stays, for other programs.",
        "Translation loses some counts, such as writes to a cache; each trial names what was lost.",
        "With --aws-region instead of --endpoint it stands before open-weight models on Bedrock.",
    ),
)


@dataclass(frozen=True)
class ProxySession:
    """A model behind a proxy that runs for as long as the session is open."""

    fixed: FixedSession
    proxy: Proxy
    speaks: WireProtocol

    def endpoint(self, protocol: WireProtocol, *, run: str, scenario: str) -> Endpoint:
        """Where the proxy answers; the same for every trial.

        Raises:
            ConfigurationError: ``protocol`` is not offered.
            EndpointError: the proxy has ended.
        """
        self.proxy.require_up()
        return self.fixed.endpoint(protocol, run=run, scenario=scenario)

    def requests_seen(self, run: str) -> int | None:  # noqa: ARG002
        """None: the proxy cannot be asked for its count of one trial."""
        return None

    def counters(self) -> ServerCounters | None:
        """None: without a database the proxy keeps no counts."""
        return None

    def fault(self) -> str | None:
        """What is wrong with the proxy; None while it runs."""
        try:
            self.proxy.require_up()
        except HarnessmarkError as error:
            return error.what
        return None

    def warnings(self, protocol: WireProtocol) -> tuple[DataWarning, ...]:
        """What of the token counts is lost on the way to a harness that speaks ``protocol``."""
        return loss_warnings(self.speaks, protocol)


@dataclass(frozen=True)
class LiteLLM:
    """The provider ``litellm``. Each session has a proxy of its own, on the loopback address only."""

    name: str = "litellm"
    hosting: Hosting = Hosting.UNKNOWN
    about: About = ABOUT
    protocols: tuple[WireProtocol, ...] = PROTOCOLS
    demonstration: bool = False
    transport: httpx.BaseTransport | None = None
    """Only for tests: what carries the questions to the server behind the proxy."""

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        """Start the proxy; it stops when the context ends, and when this process is killed.

        Raises:
            ConfigurationError: the server's address is missing or wrong, the key's variable is not set, or
                the proxy is not installed.
            EndpointError: the proxy does not come up.
        """
        return self._session(model, settings, environment)

    @contextmanager
    def _session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[ModelSession]:
        route = route_of(model, settings)
        key = api_key(route.api_key_env, environment)
        program = find_proxy(settings.installed)
        window = settings.context_window or context_window(
            f"{route.base_url}/models", route.backend_model, key_headers(key), self.transport
        )
        with (
            _state(settings) as state,
            running_proxy(
                program, [route], state=state, environment=environment, say=settings.say or _quiet
            ) as proxy,
        ):
            offered = settings.protocols or self.protocols
            fixed = FixedSession(
                self.name, f"{proxy.address}/v1", offered, model, proxy.key, window, settings.prices
            )
            yield ProxySession(fixed, proxy, route.speaks)

    def checks(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[Check]:
        """The proxy's program, the server behind it, and what the translation loses; nothing is started."""
        try:
            program = find_proxy(settings.installed)
        except ConfigurationError as error:
            yield Check(PROGRAM, CheckState.FAIL, error.what, error.remedy)
            return
        if program.version == VERSION:
            yield Check(PROGRAM, CheckState.PASS, f"LiteLLM {VERSION} is installed")
        else:
            found = f"LiteLLM {program.version} is installed; its translations were measured with {VERSION}"
            yield Check(PROGRAM, CheckState.WARN, found, f"pip install 'litellm[proxy]=={VERSION}'")
        try:
            route = route_of(model, settings)
        except ConfigurationError as error:
            yield Check(ENDPOINT, CheckState.FAIL, error.what, error.remedy)
            return
        try:
            key = api_key(route.api_key_env, environment)
        except ConfigurationError as error:
            yield Check(CREDENTIALS, CheckState.FAIL, error.what, error.remedy)
            return
        server = Server(route.base_url, key, route.api_key_env)
        with Asker(key_headers(key), self.transport) as asker:
            for check in probe(server, route.backend_model, (route.speaks,), asker):
                # What is offered there is the flag for a server that an agent speaks to itself.
                other = OTHER_PROTOCOL.match(check.fix)
                yield replace(check, fix=f"--backend-protocol {other[1]}") if other else check
        yield from _translations(route.speaks, settings.protocols)


def route_of(model: str, settings: ProviderSettings) -> Route:
    """The proxy's one route of a session.

    Raises:
        ConfigurationError: the server's address is missing or wrong, or nothing is translated for its API.
    """
    given, variable = settings.base_url, settings.api_key_env
    if given is None and settings.aws_region is not None:
        given, variable = bedrock_url(settings.aws_region), variable or BEDROCK_KEY
    try:
        base_url = checked_base_url(given)
    except ConfigurationError as error:
        what = error.what.replace("provider endpoint", "provider litellm")
        raise ConfigurationError(what, where=error.where, remedy=error.remedy) from None
    route = Route(
        model=model,
        backend_model=settings.backend_model or model,
        base_url=base_url,
        speaks=settings.backend_protocol or WireProtocol.CHAT_COMPLETIONS,
        api_key_env=variable,
    )
    route.entry()
    return route


def bedrock_url(region: str) -> str:
    """Amazon Bedrock's route for clients of Chat Completions in ``region``.

    Raises:
        ConfigurationError: no region has such a name.
    """
    if not re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", region):
        raise ConfigurationError("no region has such a name", where=region, remedy="as in us-east-1")
    return f"https://bedrock-mantle.{region}.api.aws/v1"


def _translations(speaks: WireProtocol, clients: tuple[WireProtocol, ...]) -> Iterator[Check]:
    for client in clients:
        lost = losses(speaks, client)
        if lost:
            yield Check(
                f"{TRANSLATION} to {client}",
                CheckState.WARN,
                f"not every token count survives: {'; '.join(lost)}",
                "nothing to do: the records of such trials carry a warning",
            )
        else:
            yield Check(f"{TRANSLATION} to {client}", CheckState.PASS, "every token count survives")


@contextmanager
def _state(settings: ProviderSettings) -> Iterator[Path]:
    """Where process file and log go; where no folder was named, one that is gone afterwards."""
    if settings.state is not None:
        yield Path(settings.state)
        return
    with tempfile.TemporaryDirectory(prefix="harnessmark-servers-") as folder:
        yield Path(folder)


def _quiet(_: str) -> None:
    """Nobody listens."""
