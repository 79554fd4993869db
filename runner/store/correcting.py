"""Correcting: a record as it reads once its corrections are made; the file itself is never edited."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from runner.errors import RecordError
from runner.records import CorrectionRecord, Record, parse_record, sha256_of
from runner.records.plain_words import plain_faults
from runner.store import layout

RecordType = TypeVar("RecordType", bound=Record)
REMEDY = "restore both files from git"


def corrections_by_path(root: Path) -> Mapping[str, tuple[CorrectionRecord, ...]]:
    """Corrections of the store at ``root`` by the path of the record they correct, oldest first."""
    found: dict[str, list[CorrectionRecord]] = {}
    for path in sorted((root / layout.CORRECTIONS).glob("*.json")):
        correction = parse_record(CorrectionRecord, path.read_bytes(), where=str(path))
        found.setdefault(correction.path, []).append(correction)
    return {
        path: tuple(sorted(several, key=lambda each: (each.corrected_at, each.correction_id)))
        for path, several in found.items()
    }


def corrected(record: RecordType, data: bytes, corrections: Sequence[CorrectionRecord]) -> RecordType:
    """``record`` with ``corrections`` made, in their order.

    Args:
        record: as it is in its file.
        data: bytes of that file.
        corrections: those of this record.

    Raises:
        RecordError: a correction was made for other content, or leads to a record that cannot be.
    """
    if not corrections:
        return record
    digest, document = sha256_of(data), json.loads(record.model_dump_json())
    for correction in corrections:
        if correction.record_sha256 != digest:
            raise RecordError(
                f"correction {correction.correction_id} was made for other content of this record",
                where=correction.path,
                remedy=REMEDY,
            )
        _replace(document, correction)
    try:
        return type(record).model_validate_json(json.dumps(document))
    except ValidationError as error:
        fault = plain_faults(error, whole="record")[0]
        raise RecordError(
            f"corrections make an invalid record: {fault}",
            where=corrections[-1].path,
            remedy=REMEDY,
        ) from None


def _replace(document: dict[str, JsonValue], correction: CorrectionRecord) -> None:
    *parents, last = correction.field.split(".")
    part = document
    for name in parents:
        inner = part.get(name)
        part = inner if isinstance(inner, dict) else {}
    if part.get(last, ...) != correction.old_value:
        raise RecordError(
            f"correction {correction.correction_id}: {correction.field} is not {correction.old_value!r}",
            where=correction.path,
            remedy=REMEDY,
        )
    part[last] = correction.new_value
