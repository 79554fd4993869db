"""Reading a source file: bytes to a validated document, with every fault named by its key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from runner.importers.published import document, sweep_document
from runner.importers.published.document import RunDocument
from runner.importers.published.sweep_document import RequestSweepDocument, SweepDocument
from runner.records.base import Part
from runner.records.plain_words import plain_faults

Document = RunDocument | SweepDocument | RequestSweepDocument

Shape = TypeVar("Shape", bound=Part)

NOT_RUNS = {
    "published-table/1": "a published table, not a run",
    "published-tables/1": "published tables, not a run",
    "published-pareto/1": "a published frontier, not a run",
    "published-pricing/1": "a price list, not a sweep: prices live in datasets/prices",
    "published-datasets/1": "facts about datasets, not a run",
}


class NotARunError(Exception):
    """The file is a known kind of document that holds no run and no sweep."""


class FaultyDocumentError(Exception):
    """The file cannot be used; ``faults`` holds one line each."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(faults))


def read_document(path: Path) -> Document:
    """The document in the file at ``path``.

    Raises:
        NotARunError: a published table or list.
        FaultyDocumentError: anything else that is no valid run or sweep.
    """
    try:
        data = path.read_bytes()
        content = json.loads(data.decode("utf-8"), object_pairs_hook=_without_repeats)
    except OSError as error:
        raise FaultyDocumentError([f"file: {error.strerror}"]) from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise FaultyDocumentError([f"file: not readable as JSON: {error}"]) from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if isinstance(schema, str) and schema in NOT_RUNS:
        raise NotARunError(NOT_RUNS[schema])
    if schema == document.SCHEMA:
        return _run(data)
    if schema == sweep_document.SCHEMA:
        return _sweep(data, content)
    raise FaultyDocumentError([f"schema: {schema!r} is not known"])


def _run(data: bytes) -> RunDocument:
    run = _validated(RunDocument, data)
    faults = document.disagreements(run)
    if faults:
        raise FaultyDocumentError(faults)
    return run


def _sweep(data: bytes, content: dict[str, object]) -> SweepDocument | RequestSweepDocument:
    sweep: SweepDocument | RequestSweepDocument
    if "sweep_date" in content:
        sweep = _validated(RequestSweepDocument, data)
    else:
        sweep = _validated(SweepDocument, data)
    faults = sweep_document.sweep_disagreements(sweep)
    if faults:
        raise FaultyDocumentError(faults)
    return sweep


def _validated(kind: type[Shape], data: bytes) -> Shape:
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise FaultyDocumentError(tuple(plain_faults(error, whole="file"))) from None


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"key {next(name for name in names if names.count(name) > 1)!r} is given twice")
    return found
