"""Records of every version are read; newer, broken and foreign ones are refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import NewerRecordError, RecordError
from runner.records import (
    KINDS,
    CheckPurpose,
    CheckRecord,
    JudgementRecord,
    Record,
    TrialRecord,
    parse_record,
)
from tests import bench_examples, examples

GOLDEN = Path(__file__).parent.parent / "data" / "golden"
EXAMPLES: tuple[Record, ...] = (
    examples.trial(),
    examples.judgement(),
    examples.check(),
    examples.scan(),
    examples.plan(),
    examples.sweep(),
    examples.correction(),
    examples.proof(),
    bench_examples.manifest(),
    bench_examples.trial(),
    bench_examples.summary(),
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def golden_files() -> list[Path]:
    return sorted(GOLDEN.glob("*.json"))


@pytest.mark.parametrize("record", EXAMPLES, ids=lambda record: record.KIND)
def test_a_record_read_back_equals_the_record_written(record: Record) -> None:
    assert parse_record(type(record), record.to_bytes(), where="here") == record


@pytest.mark.parametrize("path", golden_files(), ids=lambda path: path.stem)
def test_every_golden_file_is_still_read_and_upgraded_to_the_current_version(path: Path) -> None:
    kind = path.stem.rpartition("-")[0]
    record = parse_record(KINDS[kind], path.read_bytes(), where=str(path))
    assert record.model_dump()["schema_version"] == KINDS[kind].VERSION


def test_there_is_one_golden_file_for_each_version_of_each_kind() -> None:
    expected = {
        f"{kind}-{version}" for kind, record in KINDS.items() for version in range(1, record.VERSION + 1)
    }
    assert {path.stem for path in golden_files()} == expected


@pytest.mark.parametrize("record", EXAMPLES, ids=lambda record: record.KIND)
def test_the_golden_file_of_the_current_version_holds_the_bytes_written_today(record: Record) -> None:
    golden = GOLDEN / f"{record.KIND}-{record.VERSION}.json"
    assert golden.read_bytes() == record.to_bytes(), "a changed shape needs a new version and an upgrade step"


def test_an_invalid_judgement_of_the_first_version_gets_a_reason() -> None:
    document = json.loads((GOLDEN / "judgement-1.json").read_bytes())
    document |= {"status": "invalid", "task_score": None, "scores": None}
    record = parse_record(JudgementRecord, json.dumps(document).encode(), where="here")
    assert record.invalid_reason == "the record is older than the field that says why"


def test_a_record_of_a_newer_version_says_to_update() -> None:
    document = json.loads(examples.trial().to_bytes())
    document["schema_version"] = TrialRecord.VERSION + 1
    with pytest.raises(NewerRecordError, match="update Harnessmark"):
        parse_record(TrialRecord, json.dumps(document).encode(), where="results/trial.json")


NOW = TrialRecord.VERSION


class LaterVersion(TrialRecord):
    """The trial record as it might be two versions from now: a field has been renamed."""

    VERSION = NOW + 2
    schema_version: int = NOW + 2


def test_upgrade_steps_run_one_after_the_other() -> None:
    def rename(document: dict[str, Any]) -> dict[str, Any]:
        document["outcome_reason"] = document.pop("why")
        return document

    def shout(document: dict[str, Any]) -> dict[str, Any]:
        document["outcome_reason"] = document["outcome_reason"].upper()
        return document

    document = json.loads(examples.trial().to_bytes())
    document["why"] = document.pop("outcome_reason")
    upgraded = parse_record(
        LaterVersion,
        json.dumps(document).encode(),
        where="here",
        upgrades={("trial", NOW): rename, ("trial", NOW + 1): shout},
    )
    assert (upgraded.outcome_reason, upgraded.schema_version) == ("ALL ARTIFACTS ARE THERE", NOW + 2)


def test_a_missing_upgrade_step_is_an_error_and_not_a_guess() -> None:
    with pytest.raises(RecordError, match=f"no upgrade step from version {NOW}"):
        parse_record(LaterVersion, examples.trial().to_bytes(), where="here", upgrades={})


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "not readable as JSON"),
        (b"\xff\xfe", "not readable as JSON"),
        (b"[" * 100_000, "not readable as JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "expected a trial record, found None"),
        (b'{"kind": "plan"}', "expected a trial record, found 'plan'"),
        (b'{"kind": "trial"}', "schema_version is None"),
        (b'{"kind": "trial", "schema_version": true}', "schema_version is True"),
        (b'{"kind": "trial", "schema_version": 0}', "schema_version is 0"),
    ],
)
def test_a_file_that_is_no_trial_record_is_refused_with_its_path(data: bytes, complaint: str) -> None:
    with pytest.raises(RecordError, match=complaint) as caught:
        parse_record(TrialRecord, data, where="results/trial.json")
    assert caught.value.where == "results/trial.json"


def test_all_faults_of_a_record_are_in_one_message() -> None:
    document = json.loads(examples.trial().to_bytes())
    document["outcome"] = "splendid"
    document["surprise"] = 1
    document["turns"] = "four"
    with pytest.raises(RecordError) as caught:
        parse_record(TrialRecord, json.dumps(document).encode(), where="here")
    assert all(name in caught.value.what for name in ("outcome", "surprise", "turns"))


@given(JSON_VALUES)
def test_no_json_document_does_more_than_raise_a_record_error(value: object) -> None:
    with pytest.raises((RecordError, NewerRecordError)):
        parse_record(TrialRecord, json.dumps(value).encode(), where="here")


@given(st.binary(max_size=200))
def test_no_bytes_do_more_than_raise_a_record_error(data: bytes) -> None:
    with pytest.raises((RecordError, NewerRecordError)):
        parse_record(TrialRecord, data, where="here")


def test_a_check_of_the_first_version_keeps_its_content_and_knows_no_names() -> None:
    document = json.loads((GOLDEN / "check-1.json").read_bytes())
    record = parse_record(CheckRecord, json.dumps(document).encode(), where="here")
    assert (record.name, record.status.value) == (document["name"], document["status"])
    assert (record.purpose, record.tests, record.base, record.isolation) == (None, None, None, None)
    document["name"] = "patch-applies"
    applies = parse_record(CheckRecord, json.dumps(document).encode(), where="here")
    assert applies.purpose is CheckPurpose.APPLIES
