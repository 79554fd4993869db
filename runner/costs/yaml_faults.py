"""YAML faults: what is wrong with a strict document, with the line, the key and the nearest name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pydantic import ValidationError

from runner.costs.strict_yaml import Location, StrictDocument
from runner.records.plain_words import in_plain_words

_NAMED = frozenset({"extra_forbidden", "enum"})


def fault_lines(error: ValidationError, document: StrictDocument, known: Iterable[str]) -> list[str]:
    """One line for each fault of ``error``; a name that is not known gets the nearest of ``known``."""
    names = set(known)
    lines = []
    for fault in error.errors():
        location = tuple(part for part in fault["loc"] if part != "[key]")
        key = ".".join(str(part) for part in location) or "document"
        hint = ""
        if fault["type"] in _NAMED and location:
            given = fault["input"] if fault["type"] == "enum" else location[-1]
            hint = nearest(str(given), names - set(document.keys_beside(location)))
        lines.append(
            f"  line {_line(fault['type'], location, document)}: {key}: {in_plain_words(fault)}{hint}"
        )
    return lines


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean ...?`` where a known name is near, else nothing."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _line(kind: str, location: Location, document: StrictDocument) -> int:
    return document.line(location[:-1] if kind == "missing" else location)
