"""Price text: a file of prices edited line by line, so that its comments and order stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date

import yaml

from runner.costs.price_candidate import Candidate
from runner.costs.price_files import PriceSource
from runner.costs.price_row import RegionClass, ServiceTier
from runner.costs.strict_yaml import StrictDocument
from runner.errors import ConfigurationError

MAX_TEXT = 200
_PLAIN = re.compile(r"^[A-Za-z][A-Za-z0-9 ._/-]*$")


def new_file(provider: str) -> str:
    """The head of a file that has no rows yet."""
    return f"schema_version: 1\nprovider: {_quoted(provider)}\ncurrency: USD\n\nsources: {{}}\n\nrows: []\n"


def with_source(text: str, name: str, source: PriceSource) -> str:
    """``text`` with ``source`` under ``sources`` by that name.

    Raises:
        ConfigurationError: ``sources`` does not stand alone on its line.
    """
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if re.match(r"^sources:\s*(\{\})?\s*$", line):
            lines[number : number + 1] = ["sources:", f"  {name}:", *_fields(source)]
            return "\n".join(lines) + "\n"
    raise ConfigurationError("cannot add a source: no line holds sources: alone")


def with_end(text: str, document: StrictDocument, row: int, last: date) -> str:
    """``text`` with the last day of its row number ``row`` set.

    Raises:
        ConfigurationError: the row is not written with one key a line.
    """
    lines = text.splitlines()
    number = document.line(("rows", row, "effective_from")) - 1
    found = re.match(r"^(\s+)effective_from:", lines[number])
    if found is None:
        raise ConfigurationError(
            f"cannot end the row in line {number + 1}", remedy="write its keys one a line and propose again"
        )
    lines.insert(number + 1, f"{found[1]}effective_to: {last.isoformat()}")
    return "\n".join(lines) + "\n"


def with_rows(text: str, rows: Iterable[str]) -> str:
    """``text`` with ``rows`` at its end.

    Raises:
        ConfigurationError: something stands after the rows.
    """
    lines = text.splitlines()
    heads = [line for line in lines if re.match(r"^[A-Za-z_]+:", line)]
    if not heads or not re.match(r"^rows:\s*(\[\])?\s*$", heads[-1]):
        raise ConfigurationError("cannot add rows: rows must be the last key, alone on its line")
    lines[lines.index(heads[-1])] = "rows:"
    return "\n".join([*lines, *rows]) + "\n"


def row_text(candidate: Candidate, source: str, first: date, checked_on: date, gap_note: str) -> str:
    """A row as it stands in a file, one key a line."""
    lines = [f"  - model: {_quoted(candidate.model)}"]
    if candidate.region_class is not RegionClass.ANY:
        lines.append(f"    region_class: {candidate.region_class.value}")
    if candidate.service_tier is not ServiceTier.STANDARD:
        lines.append(f"    service_tier: {candidate.service_tier.value}")
    if candidate.context_above:
        lines.append(f"    context_above: {candidate.context_above}")
    prices = candidate.prices.model_dump(exclude_none=True)
    shown = ", ".join(f"{name}: {_number(price)}" for name, price in prices.items())
    lines += [f"    prices: {{{shown}}}", f"    effective_from: {first.isoformat()}"]
    if candidate.effective_to is not None:
        lines.append(f"    effective_to: {candidate.effective_to.isoformat()}")
    lines += [f"    source: {source}", f"    entry: {_quoted(candidate.entry)}"]
    lines.append(f"    checked_on: {checked_on.isoformat()}")
    if candidate.effective_from is None:
        lines.append("    note: Holds since it was read; the source does not say from which day.")
    if gap_note:
        lines.append(f"    gap_note: {_quoted(gap_note)}")
    return "\n".join(lines)


def _fields(source: PriceSource) -> list[str]:
    values: Mapping[str, str | None] = source.model_dump()
    return [f"    {name}: {_quoted(value)}" for name, value in values.items() if value]


def _quoted(text: str) -> str:
    """``text`` as YAML of one line; what is not ASCII is spelled out, so that no name can hide anything."""
    shown = text.encode("ascii", "backslashreplace").decode("ascii")[:MAX_TEXT]
    if _PLAIN.match(shown) and yaml.safe_load(shown) == shown:
        return shown
    return str(yaml.safe_dump(shown, default_style='"', width=4 * MAX_TEXT)).rstrip("\n")


def _number(price: float) -> str:
    """Without an exponent, which YAML would read as text."""
    return f"{price:.6f}".rstrip("0").rstrip(".")
