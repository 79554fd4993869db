"""FixedSession: a model at one address, the same for every trial."""

from __future__ import annotations

from dataclasses import dataclass, field

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint, TokenPrices, WireProtocol
from runner.providers.address import root_for


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
        )

    def requests_seen(self, run: str) -> int | None:  # noqa: ARG002
        """None: this server cannot be asked for its count of one trial."""
        return None
