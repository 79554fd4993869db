"""FixedSession: a model at one address, the same for every trial."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint, TokenPrices, WireProtocol
from runner.providers.address import root_for
from runner.providers.counters import ServerCounters, read_counters


@dataclass(frozen=True)
class FixedSession:
    """A model at a base URL, over any of some protocols."""

    provider: str
    base_url: str
    protocols: tuple[WireProtocol, ...]
    model: str
    api_key: str = field(repr=False)
    context_window: int | None
    prices: TokenPrices | None
    dollars_per_credit: float | None = None
    metrics_url: str | None = None
    """Page of the server's own counters; None where there is none to ask for."""
    transport: httpx.BaseTransport | None = field(default=None, repr=False)

    def endpoint(self, protocol: WireProtocol, *, run: str, scenario: str) -> Endpoint:  # noqa: ARG002
        """Where the model answers; the same for every trial.

        Raises:
            ConfigurationError: this provider does not offer ``protocol``.
        """
        if protocol not in self.protocols:
            raise ConfigurationError(
                f"provider {self.provider} does not offer {protocol} here",
                remedy=f"it offers {', '.join(self.protocols)}",
            )
        return Endpoint(
            base_url=root_for(self.base_url, protocol),
            protocol=protocol,
            model=self.model,
            api_key=self.api_key,
            context_window=self.context_window,
            prices=self.prices,
            dollars_per_credit=self.dollars_per_credit,
        )

    def requests_seen(self, run: str) -> int | None:  # noqa: ARG002
        """None: this server cannot be asked for its count of one trial."""
        return None

    def counters(self) -> ServerCounters | None:
        """What the server's page for Prometheus says, where it has one."""
        return (
            read_counters(self.metrics_url, self.model, transport=self.transport)
            if self.metrics_url
            else None
        )
