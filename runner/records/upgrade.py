"""Reading a record of any version: kind, upgrade chain, strict validation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from runner.errors import NewerRecordError, RecordError
from runner.records.base import Record
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_summary import BenchSummary
from runner.records.bench_trial import BenchTrial
from runner.records.check import CheckRecord
from runner.records.correction import CorrectionRecord
from runner.records.integrity import IntegrityRecord
from runner.records.judgement import JudgementRecord
from runner.records.plain_words import plain_faults
from runner.records.plan import PlanRecord
from runner.records.proof import ProofRecord
from runner.records.throughput import ThroughputRecord
from runner.records.trial import TrialRecord

RecordType = TypeVar("RecordType", bound=Record)

KINDS: Mapping[str, type[Record]] = {
    record.KIND: record
    for record in (
        TrialRecord,
        JudgementRecord,
        CheckRecord,
        IntegrityRecord,
        PlanRecord,
        ThroughputRecord,
        CorrectionRecord,
        ProofRecord,
        BenchManifest,
        BenchTrial,
        BenchSummary,
    )
}

Step = Callable[[dict[str, Any]], dict[str, Any]]


def _trial_1_to_2(document: dict[str, Any]) -> dict[str, Any]:
    """Version 2 adds usage by model and what passed the gateway, which older records do not know."""
    return document


def _trial_2_to_3(document: dict[str, Any]) -> dict[str, Any]:
    """Version 3 adds what the server counted during an invocation, which older records do not know."""
    return document


def _trial_3_to_4(document: dict[str, Any]) -> dict[str, Any]:
    """Version 4 adds cached prompt tokens, histograms and gauges of the server, which older records lack."""
    return document


def _judgement_1_to_2(document: dict[str, Any]) -> dict[str, Any]:
    """Version 2 adds what the judge saw, its attempts, tokens, cost and time; an invalid one says why."""
    if document.get("status") == "invalid":
        document["invalid_reason"] = "the record is older than the field that says why"
    return document


def _check_1_to_2(document: dict[str, Any]) -> dict[str, Any]:
    """Version 2 adds purpose, names of tests, the run before the patch, isolation and the task's digest."""
    if document.get("name") == "patch-applies":
        document["purpose"] = "applies"
    return document


def _throughput_1_to_2(document: dict[str, Any]) -> dict[str, Any]:
    """Version 2 adds load, times, sessions, bounds and estimates, which older records do not know."""
    return document


UPGRADES: Mapping[tuple[str, int], Step] = {
    ("trial", 1): _trial_1_to_2,
    ("trial", 2): _trial_2_to_3,
    ("trial", 3): _trial_3_to_4,
    ("judgement", 1): _judgement_1_to_2,
    ("check", 1): _check_1_to_2,
    ("throughput", 1): _throughput_1_to_2,
}
"""From (kind, version) to the step that makes version + 1 of it. A step is added, never changed."""


def parse_record(
    expected: type[RecordType],
    data: bytes,
    *,
    where: str,
    upgrades: Mapping[tuple[str, int], Step] = UPGRADES,
) -> RecordType:
    """The record in ``data``, upgraded to the current version.

    Args:
        expected: the record type the place of the file promises.
        data: bytes of the file.
        where: path for messages.
        upgrades: the chain to use.

    Raises:
        NewerRecordError: the file was written by a newer Harnessmark.
        RecordError: not JSON, another kind, an unknown version, or invalid content.
    """
    document = _document(data, where)
    kind = document.get("kind")
    if kind != expected.KIND:
        raise RecordError(
            f"expected a {expected.KIND} record, found {kind!r}",
            where=where,
            remedy="restore the file from git",
        )
    document = _upgraded(expected, document, where, upgrades)
    try:
        return expected.model_validate_json(json.dumps(document))
    except ValidationError as error:
        faults = "; ".join(plain_faults(error, whole="record"))
        raise RecordError(
            f"invalid {kind} record: {faults}", where=where, remedy="restore the file from git"
        ) from None


def _document(data: bytes, where: str) -> dict[str, Any]:
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RecordError(
            f"not readable as JSON: {error}", where=where, remedy="restore the file from git"
        ) from None
    if not isinstance(document, dict):
        raise RecordError("not a JSON object", where=where, remedy="restore the file from git")
    return document


def _upgraded(
    expected: type[Record], document: dict[str, Any], where: str, upgrades: Mapping[tuple[str, int], Step]
) -> dict[str, Any]:
    version = document.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise RecordError(f"schema_version is {version!r}", where=where, remedy="restore the file from git")
    if version > expected.VERSION:
        raise NewerRecordError(
            f"{expected.KIND} record of version {version}; this Harnessmark reads up to {expected.VERSION}",
            where=where,
            remedy="update Harnessmark (git pull, then install again)",
        )
    while version < expected.VERSION:
        step = upgrades.get((expected.KIND, version))
        if step is None:
            raise RecordError(
                f"no upgrade step from version {version}", where=where, remedy="report this as a fault"
            )
        document = step(dict(document))
        version += 1
        document["schema_version"] = version
    return document
