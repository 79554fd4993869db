"""Instance prices: what a machine costs an hour, by commitment, and who says so."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from runner.costs.strict_yaml import read_strict_yaml
from runner.costs.yaml_faults import fault_lines
from runner.errors import ConfigurationError
from runner.records import Source
from runner.records.base import Part, Slug


class Commitment(StrEnum):
    """How long the machine is committed to: what decides its rate."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    COMMIT_1YR = "commit_1yr"
    COMMIT_3YR = "commit_3yr"


DEFAULT_COMMITMENT = Commitment.COMMIT_3YR
"""The level of the current published list."""


class InstancePrice(Part):
    """One machine type: its accelerators and its hourly rates in US dollars."""

    gpus: int = Field(ge=1)
    gpu: str
    usd_per_hour: dict[Annotated[Commitment, Field(strict=False)], Annotated[float, Field(gt=0)]]


class InstancePrices(Part):
    """A price list of machines, and the sweep each model is priced by where nothing else is said."""

    schema_version: int = Field(ge=1, le=1)
    currency: str = Field(pattern=r"^USD$")
    region: str
    as_of: date
    checked_on: date
    source: Source
    instances: dict[str, InstancePrice]
    default_deployments: dict[Slug, str] = Field(default_factory=dict)

    def hourly(self, instance_type: str, commitment: Commitment) -> float | None:
        """Dollars an hour of the whole machine, or None where the list does not say."""
        price = self.instances.get(instance_type)
        return None if price is None else price.usd_per_hour.get(commitment)

    def missing_reason(self, instance_type: str, commitment: Commitment) -> str:
        """Why ``hourly`` has no answer, as a reader should see it."""
        if instance_type not in self.instances:
            return f"{instance_type} is not in the price list of {self.as_of.isoformat()}"
        return (
            f"the price list of {self.as_of.isoformat()} has no {commitment.value} rate for {instance_type}"
        )


KNOWN = (*Commitment, *InstancePrice.model_fields, *InstancePrices.model_fields)


def load_instance_prices(path: Path) -> InstancePrices:
    """The price list in the YAML file at ``path``.

    Raises:
        ConfigurationError: the file cannot be read or has faults; every fault is named with key and line.
    """
    document = read_strict_yaml(path)
    try:
        return InstancePrices.model_validate(document.value)
    except ValidationError as error:
        raise ConfigurationError(
            f"{len(error.errors())} faults in the price list:\n"
            + "\n".join(fault_lines(error, document, KNOWN)),
            where=str(path),
            remedy="correct the keys named above",
        ) from None
