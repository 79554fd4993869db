"""Wording: what the validation library found, as a user reads it."""

from __future__ import annotations

import re

from pydantic_core import ErrorDetails

from runner.datasets import schema
from runner.datasets.document import Document
from runner.datasets.faults import Fault, Location, listed, nearest
from runner.datasets.schema import CheckEntry, DatasetEntry, GroundTruth, Provenance, TaskEntry
from runner.records import Part

_LEVELS: dict[str, type[Part]] = {
    "tasks": TaskEntry,
    "checks": CheckEntry,
    "ground_truth": GroundTruth,
    "source": Provenance,
}

_WORDS = {
    "string_type": "expected text",
    "string_too_short": "must not be empty",
    "too_short": "needs at least one item",
    "tuple_type": "expected a list",
    "list_type": "expected a list",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a number",
    "model_type": "expected keys and values",
    "model_attributes_type": "expected keys and values",
    "string_unicode": "holds half a character (a lone surrogate); write the character itself",
}

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
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        known = _known_keys(location)
        return f"is no key here{nearest(str(location[-1]), known) or f'; known: {listed(known, 30)}'}"
    if detail["input"] is None:
        return "is empty"
    if kind == "literal_error":
        return f"is {_shown(detail['input'])}; expected {detail['ctx']['expected']}"
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(detail["ctx"]["pattern"], "holds a character that is not allowed")
    if kind == "string_too_long":
        return f"is longer than {detail['ctx']['max_length']} characters"
    if kind in {"greater_than", "less_than_equal"}:
        return f"is {_shown(detail['input'])}; {detail['msg'][0].lower()}{detail['msg'][1:]}"
    if kind == "value_error":
        return f"is {_shown(detail['input'])}; {detail['msg'].removeprefix('Value error, ')}"
    return _WORDS.get(kind, detail["msg"])


def _known_keys(location: Location) -> list[str]:
    model: type[Part] = DatasetEntry
    for part in location[:-1]:
        model = _LEVELS.get(str(part), model)
    return sorted(model.model_fields)


def _shown(value: object) -> str:
    text = re.sub(r"//[^/@]*@", "//...@", repr(value))
    return text if len(text) <= 80 else text[:77] + "..."
