"""Price files: rows read strictly from YAML, with every fault of every file in one report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from runner.costs.price_row import PriceRow, RegionClass, RowPrices, ServiceTier
from runner.costs.price_rules import rule_faults
from runner.costs.strict_yaml import StrictDocument, read_strict_yaml
from runner.costs.yaml_faults import fault_lines, nearest
from runner.errors import ConfigurationError
from runner.records.base import Part, Slug
from runner.records.plain_words import in_plain_words

MAX_BYTES = 4_000_000
"""More than any file of prices needs."""


class PriceSource(Part):
    """Where prices of a file were read."""

    title: str = Field(min_length=1, max_length=200)
    version: str = Field(min_length=1, max_length=100, description="release, commit or day of the page")
    url: str | None = Field(default=None, pattern=r"^https://\S+$", max_length=300)
    path: str | None = Field(default=None, max_length=200)
    license: str = Field(min_length=1, max_length=100)

    @property
    def label(self) -> str:
        """The source in one line."""
        parts = [f"{self.title} {self.version}", self.path, self.url, f"license: {self.license}"]
        return ", ".join(part for part in parts if part)


class FileRow(Part):
    """A row as it stands in a file; provider and currency stand at the head of the file."""

    model: str
    region_class: Annotated[RegionClass, Field(strict=False)] = RegionClass.ANY
    service_tier: Annotated[ServiceTier, Field(strict=False)] = ServiceTier.STANDARD
    context_above: int = 0
    prices: RowPrices
    effective_from: date
    effective_to: date | None = None
    source: str
    entry: str | None = Field(default=None, max_length=200, description="where in the source it stands")
    checked_on: date
    note: str = ""
    gap_note: str = ""


class PriceFile(Part):
    """A file of rows of one provider."""

    schema_version: int = Field(ge=1, le=1)
    provider: Slug
    currency: str = Field(pattern=r"^USD$")
    sources: dict[str, PriceSource]
    rows: tuple[FileRow, ...] = Field(strict=False)


KNOWN = (
    *PriceFile.model_fields,
    *PriceSource.model_fields,
    *FileRow.model_fields,
    *RowPrices.model_fields,
    *RegionClass,
    *ServiceTier,
)


@dataclass(frozen=True)
class PlacedRow:
    """A row and where it was read."""

    row: PriceRow
    path: Path
    line: int
    number: int
    """Position among the rows of its file."""


def read_price_files(folder: Path) -> tuple[PriceRow, ...]:
    """The rows of all files ``*.yaml`` in ``folder``.

    Raises:
        ConfigurationError: faults; one report with file, line and key of each.
    """
    return tuple(placed.row for placed in placed_rows(sorted(folder.glob("*.yaml"))))


def placed_rows(paths: list[Path]) -> list[PlacedRow]:
    """The rows of ``paths`` with their places.

    Raises:
        ConfigurationError: faults; one report with file, line and key of each.
    """
    placed: list[PlacedRow] = []
    faults: list[tuple[str, int, str]] = []
    for path in paths:
        try:
            placed.extend(_rows(path, read_price_file(path)))
        except ConfigurationError as error:
            faults.append((path.name, 0, f"{error.where or path.name}: {error.what}"))
    for fault in rule_faults([each.row for each in placed]):
        place = placed[fault.position]
        faults.append((place.path.name, place.line, f"{place.path}, line {place.line}: {fault.message}"))
    if faults:
        raise ConfigurationError(
            "the price book has faults:\n" + "\n".join(text for _, _, text in sorted(faults)),
            remedy="correct the lines named above",
        )
    return placed


def read_price_file(path: Path) -> tuple[PriceFile, StrictDocument]:
    """The file at ``path`` and its lines.

    Raises:
        ConfigurationError: it cannot be read or has faults; all of them are named.
    """
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        raise ConfigurationError(f"is larger than {MAX_BYTES:,} bytes", where=str(path))
    document = read_strict_yaml(path)
    try:
        file = PriceFile.model_validate(document.value)
    except ValidationError as error:
        raise _faulty(path, fault_lines(error, document, KNOWN)) from None
    unknown = [
        f"  line {document.line(('rows', number, 'source'))}: rows.{number}.source: {row.source!r} is not "
        f"among the sources of the file{nearest(row.source, file.sources)}"
        for number, row in enumerate(file.rows)
        if row.source not in file.sources
    ]
    if unknown:
        raise _faulty(path, unknown)
    return file, document


def _faulty(path: Path, lines: list[str]) -> ConfigurationError:
    count = "1 fault" if len(lines) == 1 else f"{len(lines)} faults"
    return ConfigurationError(f"{count}\n" + "\n".join(lines), where=str(path))


def _rows(path: Path, read: tuple[PriceFile, StrictDocument]) -> Iterator[PlacedRow]:
    file, document = read
    found: list[PlacedRow] = []
    lines: list[str] = []
    for number, row in enumerate(file.rows):
        values = row.model_dump(exclude={"entry"})
        label = file.sources[row.source].label + (f", entry {row.entry}" if row.entry else "")
        try:
            made = PriceRow(
                **{**values, "provider": file.provider, "currency": file.currency, "source": label},
            )
            found.append(PlacedRow(made, path, document.line(("rows", number)), number))
        except ValidationError as error:
            lines.extend(
                f"  line {document.line(('rows', number, *fault['loc']))}: "
                f"{'.'.join(map(str, ('rows', number, *fault['loc'])))}: {in_plain_words(fault)}"
                for fault in error.errors()
            )
    if lines:
        raise _faulty(path, lines)
    yield from found
