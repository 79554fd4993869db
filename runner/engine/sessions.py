"""Sessions: every model of a run made reachable, and checked before anything is planned or paid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from runner.engine.isolation import Isolation, require_a_way
from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.pricing import limit_prices
from runner.engine.resolution import provider_settings
from runner.engine.window import Gate, window_check
from runner.errors import ConfigurationError
from runner.harnesses.base import Harness
from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import ModelSession, Provider, model_decides, protocols_for
from runner.providers.checks import CheckState
from runner.providers.exclusive import exclusive_key, fault_of
from runner.records import CellIdentity


class Sessions:
    """The sessions of a run, by cell; which of them are open changes where models take turns on a server."""

    def __init__(self, groups: Sequence[Group], places: Places, environment: Mapping[str, str]) -> None:
        self._groups, self._places, self._environment = groups, places, environment
        self._open: dict[tuple[str, ...], ModelSession] = {}
        self._day = datetime.now(UTC).date()
        self.keys: Mapping[tuple[str, ...], str | None] = exclusive_keys(groups, places)
        """What the model of each cell must have to itself."""

    def of(self, cell: CellIdentity) -> ModelSession:
        """The session of the cell's model; it must be open."""
        return self._open[cell.key]

    @contextmanager
    def opened(self, key: str | None, say: Callable[[str], None] | None = None) -> Iterator[None]:
        """Make the models with that key reachable for as long as the context is open.

        Args:
            key: None for those that may be reachable beside any other.
            say: gets a line for each step that takes its time.

        Raises:
            ConfigurationError: a setting or credential is missing.
            UsageError: a model is not there.
            EndpointError: a server does not come up, or fails its tests.
        """
        opened: dict[tuple[object, ...], ModelSession] = {}
        with ExitStack() as stack:
            for group in self._groups:
                provider, settings = group.parts.provider, provider_settings(group.settings, self._places)
                for cell in group.cells():
                    if self.keys[cell.key] != key:
                        continue
                    model = cell.model.raw_id
                    known = settings.prices or limit_prices(self._places.prices, group, model, self._day)
                    same = (provider.name, model, settings)
                    if same not in opened:
                        told = replace(settings, say=say, prices=known)
                        session = provider.session(model, told, self._environment)
                        opened[same] = stack.enter_context(session)
                    self._open[cell.key] = opened[same]
                    stack.callback(self._open.pop, cell.key, None)
            yield

    def fault(self, cell: CellIdentity) -> str | None:
        """What is wrong with the server of the cell's model, as far as it can be told."""
        return fault_of(self._open[cell.key])

    def sharing(self, cell: CellIdentity) -> set[tuple[str, ...]]:
        """Keys of the cells whose model is reached in the same way."""
        return {key for key, session in self._open.items() if session is self._open[cell.key]}


def exclusive_keys(groups: Sequence[Group], places: Places) -> dict[tuple[str, ...], str | None]:
    """What the model of each cell must have to itself, as its provider says."""
    return {
        cell.key: exclusive_key(
            group.parts.provider, cell.model.raw_id, provider_settings(group.settings, places)
        )
        for group in groups
        for cell in group.cells()
    }


@contextmanager
def open_sessions(
    groups: Sequence[Group],
    places: Places,
    environment: Mapping[str, str],
    say: Callable[[str], None] | None = None,
) -> Iterator[Sessions]:
    """Make every model of ``groups`` reachable that may be so beside any other; the run opens the rest.

    Equal settings share one session. ``say`` gets a line for each step that takes its time.

    Raises:
        ConfigurationError: a setting or credential is missing.
        UsageError: a model is not there.
    """
    sessions = Sessions(groups, places, environment)
    with sessions.opened(None, say):
        yield sessions


def require_windows(groups: Sequence[Group], sessions: Sessions, key: str | None = None) -> list[str]:
    """What to tell the user about the context windows of the models with that key, each thing once.

    Raises:
        ConfigurationError: a window is too small for an agent.
    """
    said: dict[str, None] = {}
    for group in groups:
        settings, provider = group.settings, group.parts.provider
        if provider.demonstration:
            continue
        for cell in group.cells():
            if sessions.keys[cell.key] != key:
                continue
            harness, model = group.parts.harnesses[cell.harness], cell.model.raw_id
            protocol = common_protocol(harness, provider, settings.protocol, model)
            endpoint = sessions.of(cell).endpoint(protocol, run="preflight", scenario="preflight/preflight")
            gate = Gate(model, settings.max_output_tokens, settings.allow_small_window)
            check = window_check(endpoint.context_window, gate)
            if check.state is CheckState.FAIL:
                raise ConfigurationError(check.found, remedy=check.fix)
            if check.state is CheckState.WARN:
                said[f"{check.found} ({check.fix})"] = None
    return list(said)


def require_ways(groups: Sequence[Group], isolation: Isolation) -> None:
    """Check that every agent can get out of ``isolation`` to its model.

    Raises:
        ConfigurationError: one cannot.
    """
    for group in groups:
        for harness in group.parts.harnesses.values():
            for model in group.settings.model:
                wanted = group.settings.protocol
                require_a_way(common_protocol(harness, group.parts.provider, wanted, model), isolation)


def common_protocol(
    harness: Harness, provider: Provider, wanted: Sequence[WireProtocol] = (), model: str = ""
) -> WireProtocol:
    """The first protocol of the harness that the provider offers for ``model`` and that the user wants.

    Raises:
        ConfigurationError: they share none.
    """
    offered = [each for each in protocols_for(provider, model) if not wanted or each in wanted]
    # What suits the model goes before what the harness likes best, where a provider says what suits it.
    first, second = (offered, harness.protocols) if model_decides(provider) else (harness.protocols, offered)
    for protocol in first:
        if protocol in second:
            return protocol
    raise ConfigurationError(
        f"{harness.name} speaks {', '.join(harness.protocols)}; {provider.name} offers "
        f"{', '.join(offered) or 'none of ' + ', '.join(wanted)}" + (f" for {model}" if model else ""),
        remedy="choose another provider, or put a proxy that translates between them",
    )
