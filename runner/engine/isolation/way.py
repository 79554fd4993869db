"""Way: how an agent gets to its model, through a gateway of ours or by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runner.engine.isolation.gateway import Gateway
from runner.engine.isolation.level import Isolation, IsolationLevel, no_network
from runner.harnesses.base import Launch
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import DataWarning

NETWORK_OPEN = DataWarning(
    code="network-open",
    text="the agent reached its vendor's cloud by itself, so its network was open: what it looked up "
    "and how often it asked its model was not seen",
)


@dataclass(frozen=True)
class Way:
    """One agent's way to its model, while it is open."""

    endpoint: Endpoint
    """The endpoint as the agent sees it."""
    gateway: Gateway | None = None
    """None: it goes by itself."""

    @property
    def activity(self) -> Callable[[], int] | None:
        """A number that changes while anything passes; None where nothing of it can be seen."""
        return None if self.gateway is None else self.gateway.activity

    def requests_seen(self) -> int | None:
        """Requests for an answer so far; None where nobody counts."""
        return None if self.gateway is None else self.gateway.count().model_requests

    def unanswered(self) -> str | None:
        """That the endpoint was not to be reached; None where it answered, or nobody can tell."""
        return None if self.gateway is None else self.gateway.count().unanswered


@contextmanager
def way_to(endpoint: Endpoint, isolation: Isolation) -> Iterator[Way]:
    """The way from ``isolation`` to ``endpoint``; closed when the context ends."""
    if endpoint.protocol is WireProtocol.MANAGED:
        yield Way(endpoint)
        return
    with isolation.gateway(endpoint) as gateway:
        yield Way(gateway.endpoint, gateway)


def require_a_way(protocol: WireProtocol, isolation: Isolation) -> None:
    """Check that an agent that speaks ``protocol`` can get out of ``isolation``.

    Raises:
        ConfigurationError: it reaches its vendor by itself, and there is no network inside.
    """
    if protocol is WireProtocol.MANAGED and isolation.level is IsolationLevel.CONTAINER:
        raise no_network(isolation.level)


def warnings_of(launch: Launch) -> tuple[DataWarning, ...]:
    """What a reader of the trial must know of how ``launch`` got to its model."""
    return (NETWORK_OPEN,) if launch.network else ()
