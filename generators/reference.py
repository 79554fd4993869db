"""Reference data: what the code says of itself, read from the files that its commands write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from runner.errors import ConfigurationError
from runner.records import AccountingReport, AccountingRow, HarnessReference

FOLDER = "reference"
HARNESSES: TypeAdapter[tuple[HarnessReference, ...]] = TypeAdapter(tuple[HarnessReference, ...])


@dataclass(frozen=True)
class Reference:
    """Harnesses as their modules describe them, and what was counted of their runs."""

    harnesses: tuple[HarnessReference, ...] = ()
    accounting: tuple[AccountingRow, ...] = ()

    def harness(self, name: str) -> HarnessReference | None:
        """The harness of that name; None where no module describes it."""
        return next((each for each in self.harnesses if each.name == name), None)

    def rows_of(self, name: str) -> tuple[AccountingRow, ...]:
        """What was counted of the runs of a harness."""
        return tuple(row for row in self.accounting if row.harness == name)


def load_reference(site_src: Path) -> Reference:
    """The files below ``site_src``; empty where there are none.

    Raises:
        ConfigurationError: a file holds something else.
    """
    harnesses, accounting = (site_src / FOLDER / name for name in ("harnesses.json", "accounting.json"))
    try:
        return Reference(
            HARNESSES.validate_json(harnesses.read_bytes(), strict=False) if harnesses.is_file() else (),
            AccountingReport.model_validate_json(accounting.read_bytes()).rows
            if accounting.is_file()
            else (),
        )
    except ValidationError as error:
        raise ConfigurationError(
            f"a file of reference data is not what its command writes: {error}",
            where=f"site_src/{FOLDER}",
            remedy="invoke reference writes harnesses.json, invoke accounting --page writes accounting.json",
        ) from None
