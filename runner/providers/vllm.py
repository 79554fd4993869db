"""vLLM: a model server of one's own, found by its address or started from a recipe."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from runner.errors import ConfigurationError, EndpointError, HarnessmarkError
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.providers.about import About
from runner.providers.address import VERSION_PATH, api_key, checked_base_url
from runner.providers.asking import Asker
from runner.providers.background import ServerFile
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.catalogue import window_in
from runner.providers.checks import Check, CheckState
from runner.providers.counters import ServerCounters
from runner.providers.facts import ServingFacts
from runner.providers.fixed import FixedSession
from runner.providers.probing import key_headers
from runner.providers.recipe import Recipe
from runner.providers.recipe_file import find_recipe, recipe_for
from runner.providers.served import served_check, served_ids
from runner.providers.tool_call import ToolCallFault, tool_call_fault
from runner.providers.vllm_checks import parser_fault, recipe_checks, server_checks
from runner.providers.vllm_server import VllmServer, recipe_key, require_up
from runner.records import Hosting

PROTOCOLS = (WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES)
NO_KEY = "vllm-without-a-key"
"""Some agents do not start without a key."""
TEST_REMEDY = "then run again; nothing was spent on a task"

Test = Callable[[Endpoint], ToolCallFault | None]

ABOUT = About(
    summary="A vLLM server: one that runs, or one started from a recipe and switched between models.",
    flags="--provider vllm --recipe RECIPE --model MODEL",
    credentials="none, or the key in the variable named with --api-key-env",
    notes=(
        "One call of a tool is tried before the first task: a wrong parser otherwise stops every agent "
        "after one turn.",
        "A recipe fixes window, parsers, parallelism and precision, which become part of each record.",
        "A server that was not started by Harnessmark is used and never stopped.",
    ),
)


@dataclass(frozen=True)
class VllmSession:
    """A model on a vLLM server. Each protocol is tried with one real tool call before its first task."""

    fixed: FixedSession
    server: ServerFile | None
    """Of a server that was started from a recipe."""
    parser: str | None
    test: Test
    _passed: set[WireProtocol] = field(default_factory=set, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def endpoint(self, protocol: WireProtocol, *, run: str, scenario: str) -> Endpoint:
        """Where the model answers; the same for every trial.

        Raises:
            ConfigurationError: ``protocol`` is not offered, or known not to work with the tool-call parser.
            EndpointError: the server has ended, or no tool call comes back from it.
        """
        if self.server is not None:
            require_up(self.server)
        endpoint = self.fixed.endpoint(protocol, run=run, scenario=scenario)
        with self._lock:
            if protocol not in self._passed:
                self._require_tool_calls(endpoint)
                self._passed.add(protocol)
        return endpoint

    def _require_tool_calls(self, endpoint: Endpoint) -> None:
        known = parser_fault(self.parser, endpoint.protocol)
        if known is not None:
            raise ConfigurationError(known.what, remedy=known.fix)
        fault = self.test(endpoint)
        if fault is not None:
            raise EndpointError(
                f"{endpoint.model} fails the tool-call test over {endpoint.protocol}: {fault.what}",
                where=endpoint.base_url,
                remedy=f"{fault.fix}; {TEST_REMEDY}",
            )

    def requests_seen(self, run: str) -> int | None:  # noqa: ARG002
        """None: the server cannot be asked for its count of one trial."""
        return None

    def counters(self) -> ServerCounters | None:
        """What the server's page for Prometheus says."""
        return self.fixed.counters()

    @property
    def metrics_url(self) -> str | None:
        """The server's page for Prometheus."""
        return self.fixed.metrics_url

    def fault(self) -> str | None:
        """What is wrong with the server; None while it answers."""
        try:
            if self.server is not None:
                require_up(self.server)
            _served(self.fixed.base_url, self.fixed.model, self.fixed.api_key, self.fixed.transport)
        except HarnessmarkError as error:
            return error.what
        return None


@dataclass(frozen=True)
class Vllm:
    """The provider ``vllm``.

    With ``--endpoint`` the server at that address is used as it is. Without, the recipe that serves the model
    is started on this machine, and stopped at the end of the last session that uses it: the next model needs
    the accelerators, and no run leaves a server behind that nobody asked for. ``invoke model-server`` starts
    one that stays; sessions use it and leave it.
    """

    name: str = "vllm"
    hosting: Hosting = Hosting.SELF_HOSTED
    about: About = ABOUT
    protocols: tuple[WireProtocol, ...] = PROTOCOLS
    demonstration: bool = False
    transport: httpx.BaseTransport | None = None
    """Only for tests: what carries the questions to the server."""

    def exclusive_key(self, model: str, settings: ProviderSettings) -> str | None:
        """The recipe that must have the machine to itself; None for a server that runs as it is.

        Raises:
            ConfigurationError: the recipe has faults.
            UsageError: there is no such recipe, or several serve the model.
        """
        recipe = None if settings.base_url is not None else recipe_of(model, settings)
        return None if recipe is None else f"{self.name} {recipe.name} {recipe_key(recipe)}"

    def serving(self, model: str, settings: ProviderSettings) -> ServingFacts:
        """As the recipe says; nothing for a server that was started in another way.

        Raises:
            ConfigurationError: the recipe has faults.
            UsageError: there is no such recipe, or several serve the model.
        """
        recipe = None if settings.base_url is not None else recipe_of(model, settings)
        if recipe is None:
            return ServingFacts()
        return ServingFacts(recipe.instance_type, recipe.tensor_parallel_size, recipe.precision)

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        """Make ``model`` reachable: find its server, or start it.

        Raises:
            ConfigurationError: neither address nor recipe, a recipe with faults, or no vLLM on this machine.
            EndpointError: the server does not come up, or does not serve ``model``.
            UsageError: there is no such recipe, or several serve the model.
        """
        return self._session(model, settings, environment)

    @contextmanager
    def _session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[ModelSession]:
        recipe = recipe_of(model, settings)
        key = api_key(settings.api_key_env, environment)
        if settings.base_url is not None:
            base_url = checked_base_url(settings.base_url)
            yield self._found(model, settings, base_url, key, recipe, None)
            return
        if recipe is None:
            raise ConfigurationError(
                f"no recipe serves {model}, and no server is named",
                where=settings.recipes or "",
                remedy="write a recipe for it, or give --endpoint http://host:port/v1 of a server that runs",
            )
        require_names(recipe, model)
        server = server_of(settings, environment)
        with server.held(recipe, key) as held:
            yield self._found(model, settings, recipe.base_url, key, recipe, held)

    def _found(
        self,
        model: str,
        settings: ProviderSettings,
        base_url: str,
        key: str,
        recipe: Recipe | None,
        server: ServerFile | None,
    ) -> VllmSession:
        window = _served(base_url, model, key, self.transport)
        fixed = FixedSession(
            self.name,
            base_url,
            settings.protocols or self.protocols,
            model,
            key or NO_KEY,
            settings.context_window or window,
            settings.prices,
            metrics_url=f"{base_url.removesuffix(VERSION_PATH)}/metrics",
            transport=self.transport,
        )
        parser = recipe.tool_call_parser if recipe else None
        return VllmSession(fixed, server, parser, lambda endpoint: tool_call_fault(endpoint, self.transport))

    def checks(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[Check]:
        """Recipe, program and server; nothing is started, and nothing is asked of the model."""
        try:
            recipe = recipe_of(model, settings)
            if recipe is not None:
                require_names(recipe, model)
        except HarnessmarkError as error:
            yield Check("recipe", CheckState.FAIL, error.what, error.remedy)
            return
        if recipe is not None:
            yield from recipe_checks(recipe, settings.protocols)
        yield from server_checks(
            model, settings, environment, recipe, server_of(settings, environment), self.transport
        )


def recipe_of(model: str, settings: ProviderSettings) -> Recipe | None:
    """The recipe that the settings name, or the one that serves ``model``; None where there is none.

    Raises:
        ConfigurationError: it has faults.
        UsageError: there is no such recipe, or several serve the model.
    """
    folder = Path(settings.recipes) if settings.recipes else None
    if settings.recipe is not None:
        return find_recipe(settings.recipe, folder or Path())
    return recipe_for(model, folder) if folder is not None else None


def require_names(recipe: Recipe, model: str) -> None:
    """Check that ``recipe`` serves ``model``.

    Raises:
        ConfigurationError: under none of its names.
    """
    if model not in recipe.served_names:
        check = served_check(model, recipe.served_names)
        raise ConfigurationError(f"recipe {recipe.name}: {check.found}", remedy=check.fix)


def server_of(settings: ProviderSettings, environment: Mapping[str, str]) -> VllmServer:
    """The server of the project that the settings belong to."""
    say = settings.say or (lambda _: None)
    return VllmServer(Path(settings.state or ".artifacts/servers"), environment, say)


def _served(base_url: str, model: str, key: str, transport: httpx.BaseTransport | None) -> int | None:
    """The window of ``model`` as the server at ``base_url`` tells it.

    Raises:
        EndpointError: the server does not answer, refuses the key, or serves other models.
    """
    with Asker(key_headers(key), transport) as asker:
        reply = asker.get(f"{base_url}/models")
    served = served_ids(reply.body)
    if reply.status != 200 or served is None:
        raise EndpointError(
            f"the server has no list of models ({reply.status}){': ' + reply.said if reply.said else ''}",
            where=base_url,
            remedy="see that the address ends with /v1, and name its key's variable with --api-key-env",
        )
    check = served_check(model, served)
    if check.state is not CheckState.PASS:
        raise EndpointError(check.found, where=base_url, remedy=check.fix)
    return window_in(reply.body, model)
