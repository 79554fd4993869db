"""Reference data: what the code says of itself, read from the files that its commands write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from generators.statistics.simulation.result import StatisticsMeasurement, read_measurement
from runner.errors import ConfigurationError
from runner.records import (
    AccountingReport,
    AccountingRow,
    Definition,
    HarnessReference,
    ProviderReference,
)

FOLDER = "reference"
HARNESSES: TypeAdapter[tuple[HarnessReference, ...]] = TypeAdapter(tuple[HarnessReference, ...])

PROVIDERS: TypeAdapter[tuple[ProviderReference, ...]] = TypeAdapter(tuple[ProviderReference, ...])

DEFINITIONS: TypeAdapter[tuple[Definition, ...]] = TypeAdapter(tuple[Definition, ...])


@dataclass(frozen=True)
class Reference:
    """Harnesses as their modules describe them, and what was counted of their runs."""

    harnesses: tuple[HarnessReference, ...] = ()
    accounting: tuple[AccountingRow, ...] = ()
    providers: tuple[ProviderReference, ...] = ()
    statistics: StatisticsMeasurement | None = None
    """How intervals, verdicts and memberships did in the simulation; None where it was never run."""
    definitions: tuple[Definition, ...] = ()
    """What each figure of an endpoint benchmark means."""

    def harness(self, name: str) -> HarnessReference | None:
        """The harness of that name; None where no module describes it."""
        return next((each for each in self.harnesses if each.name == name), None)

    def provider(self, name: str) -> ProviderReference | None:
        """The hosting path of that name; None where no module describes it."""
        return next((each for each in self.providers if each.name == name), None)

    def rows_of(self, name: str) -> tuple[AccountingRow, ...]:
        """What was counted of the runs of a harness."""
        return tuple(row for row in self.accounting if row.harness == name)


def load_reference(site_src: Path) -> Reference:
    """The files below ``site_src``; empty where there are none.

    Raises:
        ConfigurationError: a file holds something else.
    """
    harnesses, accounting, providers, endpoint = (
        site_src / FOLDER / f"{name}.json" for name in ("harnesses", "accounting", "providers", "endpoint")
    )
    try:
        return Reference(
            HARNESSES.validate_json(harnesses.read_bytes(), strict=False) if harnesses.is_file() else (),
            AccountingReport.model_validate_json(accounting.read_bytes()).rows
            if accounting.is_file()
            else (),
            PROVIDERS.validate_json(providers.read_bytes(), strict=False) if providers.is_file() else (),
            read_measurement(site_src / FOLDER / "statistics.json"),
            DEFINITIONS.validate_json(endpoint.read_bytes(), strict=False) if endpoint.is_file() else (),
        )
    except ValidationError as error:
        raise ConfigurationError(
            f"a file of reference data is not what its command writes: {error}",
            where=f"site_src/{FOLDER}",
            remedy="write it again: invoke reference, and invoke accounting --page for accounting.json",
        ) from None
