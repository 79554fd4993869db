"""Wording: what the validation library found, as a user reads it."""

from __future__ import annotations

import re

from pydantic_core import ErrorDetails

from runner.datasets import schema
from runner.datasets.document import Document
from runner.datasets.faults import Fault, Location, listed, nearest
from runner.datasets.schema import CheckEntry, DatasetEntry, GroundTruth, Provenance, TaskEntry
from runner.records import Part
from runner.records.plain_words import in_plain_words

_LEVELS: dict[str, type[Part]] = {
    "tasks": TaskEntry,
    "checks": CheckEntry,
    "ground_truth": GroundTruth,
    "source": Provenance,
}

_WITH_THE_VALUE = frozenset({"greater_than", "less_than_equal", "value_error"})
_PATTERNS = {
    schema.LINE_PATTERN: "must be one line of text, without blanks around it or control characters",
    schema.TEXT_PATTERN: "must be text, without control characters",
    schema.COMMIT_PATTERN: "expected a full commit id of 40 hexadecimal digits",
}


def fault_of(detail: ErrorDetails, document: Document) -> Fault:
    """The fault that ``detail`` stands for, with its line."""
    location: Location = detail["loc"]
    return Fault(location, document.line(location), _message(detail, location))


def is_echo(detail: ErrorDetails) -> bool:
    """Whether ``detail`` only repeats that the items of a list, each named in its own fault, are wrong."""
    return detail["type"] == "too_short" and bool(detail["input"])


def _message(detail: ErrorDetails, location: Location) -> str:
    kind = detail["type"]
    if kind == "extra_forbidden":
        known = _known_keys(location)
        return f"is no key here{nearest(str(location[-1]), known) or f'; known: {listed(known, 30)}'}"
    if detail["input"] is None and kind != "missing":
        return "is empty"
    if kind == "literal_error":
        return f"is {_shown(detail['input'])}; expected {detail['ctx']['expected']}"
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(detail["ctx"]["pattern"], "holds a character that is not allowed")
    words = in_plain_words(detail)
    return f"is {_shown(detail['input'])}; {words}" if kind in _WITH_THE_VALUE else words


def _known_keys(location: Location) -> list[str]:
    model: type[Part] = DatasetEntry
    for part in location[:-1]:
        model = _LEVELS.get(str(part), model)
    return sorted(model.model_fields)


def _shown(value: object) -> str:
    text = re.sub(r"//[^/@]*@", "//...@", repr(value))
    return text if len(text) <= 80 else text[:77] + "..."
