"""Sessions: every model of a run made reachable, and checked before anything is planned or paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.resolution import provider_settings
from runner.engine.window import window_warning
from runner.errors import ConfigurationError
from runner.harnesses.base import Harness
from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import ModelSession, Provider
from runner.records import CellIdentity


@dataclass(frozen=True)
class Sessions:
    """The open sessions of a run, by cell."""

    by_cell: Mapping[tuple[str, ...], ModelSession]

    def of(self, cell: CellIdentity) -> ModelSession:
        """The session of the cell's model."""
        return self.by_cell[cell.key]


@contextmanager
def open_sessions(
    groups: Sequence[Group], places: Places, environment: Mapping[str, str]
) -> Iterator[Sessions]:
    """Make every model of ``groups`` reachable; equal settings share one session.

    Raises:
        ConfigurationError: a setting or credential is missing.
        UsageError: a model is not there.
    """
    opened: dict[tuple[object, ...], ModelSession] = {}
    by_cell: dict[tuple[str, ...], ModelSession] = {}
    with ExitStack() as stack:
        for group in groups:
            provider, settings = group.parts.provider, provider_settings(group.settings, places)
            for cell in group.cells():
                key = (provider.name, cell.model.raw_id, settings)
                if key not in opened:
                    opened[key] = stack.enter_context(
                        provider.session(cell.model.raw_id, settings, environment)
                    )
                by_cell[cell.key] = opened[key]
        yield Sessions(by_cell)


def require_windows(groups: Sequence[Group], sessions: Sessions) -> list[str]:
    """What to tell the user about context windows, each thing once.

    Raises:
        ConfigurationError: a window is too small for an agent.
    """
    said: dict[str, None] = {}
    for group in groups:
        settings, provider = group.settings, group.parts.provider
        if provider.demonstration:
            continue
        for cell in group.cells():
            protocol = common_protocol(group.parts.harnesses[cell.harness], provider, settings.protocol)
            endpoint = sessions.of(cell).endpoint(protocol, run="preflight", scenario="preflight/preflight")
            warning = window_warning(
                endpoint.context_window,
                model=cell.model.raw_id,
                output_tokens=settings.max_output_tokens,
                allow_small=settings.allow_small_window,
            )
            if warning is not None:
                said[warning] = None
    return list(said)


def require_protocols(groups: Sequence[Group]) -> None:
    """Check that each harness can speak with the provider of its cells.

    Raises:
        ConfigurationError: one cannot.
    """
    for group in groups:
        for harness in group.parts.harnesses.values():
            common_protocol(harness, group.parts.provider, group.settings.protocol)


def common_protocol(
    harness: Harness, provider: Provider, wanted: Sequence[WireProtocol] = ()
) -> WireProtocol:
    """The first protocol of the harness that the provider offers and that the user wants.

    Raises:
        ConfigurationError: they share none.
    """
    offered = [protocol for protocol in provider.protocols if not wanted or protocol in wanted]
    for protocol in harness.protocols:
        if protocol in offered:
            return protocol
    raise ConfigurationError(
        f"{harness.name} speaks {', '.join(harness.protocols)}; {provider.name} offers "
        f"{', '.join(offered) or 'none of ' + ', '.join(wanted)}",
        remedy="choose another provider, or put a proxy that translates between them",
    )
