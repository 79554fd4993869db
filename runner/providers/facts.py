"""Facts: what a provider or a session may say beside the rest, and what then stands in the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import ProviderSettings
from runner.records import DataWarning


@dataclass(frozen=True)
class ServingFacts:
    """How a model is served, as far as the provider knows."""

    instance_type: str | None = None
    tensor_parallel_size: int | None = None
    precision: str | None = None


@runtime_checkable
class KnowsServing(Protocol):
    """A provider that knows how its models are served."""

    def serving(self, model: str, settings: ProviderSettings) -> ServingFacts:
        """What it knows of ``model``. Starts and asks nothing."""


@runtime_checkable
class WarnsOfCounts(Protocol):
    """A session between whose server and harness token counts are lost."""

    def warnings(self, protocol: WireProtocol) -> tuple[DataWarning, ...]:
        """What a reader must know of the counts of a harness that speaks ``protocol``."""


def serving_facts(provider: object, model: str, settings: ProviderSettings) -> ServingFacts:
    """How ``model`` is served; nothing where the provider does not know."""
    return provider.serving(model, settings) if isinstance(provider, KnowsServing) else ServingFacts()


def count_warnings(session: object, protocol: WireProtocol) -> tuple[DataWarning, ...]:
    """What a reader must know of the counts that come through ``session``."""
    return session.warnings(protocol) if isinstance(session, WarnsOfCounts) else ()
