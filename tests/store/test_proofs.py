"""Proofs in the store: a place and a ledger for each judge, and every fault of them is found."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest
from pydantic import ValidationError

from runner.errors import OverwriteError, PathEscapeError, SecretFound
from runner.records import JudgementStatus, ProofRecord, parse_record
from runner.store import ResultsStore, verify
from runner.store.layout import record_path, record_type_at
from tests import examples
from tests.secrets.planted import values

PLACE = PurePosixPath("judges/second-opinion/injection/plain-order.fix-typo-changed-1.json")


@pytest.fixture
def store(tmp_path: Path) -> ResultsStore:
    """A store with one proof."""
    made = ResultsStore(tmp_path)
    made.write_proof(examples.proof())
    return made


def test_a_proof_is_read_back_from_its_place(store: ResultsStore) -> None:
    assert record_path(examples.proof()) == PLACE
    assert record_type_at(PLACE) is ProofRecord
    assert list(store.proofs()) == [examples.proof()]
    assert (store.root / "ledger" / "judge-second-opinion.jsonl").is_file()
    assert verify(store.root) == []


def test_both_sides_and_every_number_have_a_file_of_their_own(store: ResultsStore) -> None:
    store.write_proof(examples.proof(side="reference"))
    store.write_proof(examples.proof(number=2))
    assert len(list(store.proofs())) == 3
    assert verify(store.root) == []


def test_a_proof_is_never_overwritten(store: ResultsStore) -> None:
    store.write_proof(examples.proof())
    with pytest.raises(OverwriteError):
        store.write_proof(examples.proof(verdict="Another one."))
    assert list(store.proofs()) == [examples.proof()]


@pytest.mark.parametrize("change", [{"pair": "../../escape"}, {"suite": "a/b"}, {"pair": ".hidden"}])
def test_no_name_leads_out_of_the_store(change: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(PathEscapeError):
        ResultsStore(tmp_path).write_proof(examples.proof(**change))
    assert list(tmp_path.rglob("*.json")) == []


def test_a_secret_in_a_judges_words_is_not_written(tmp_path: Path) -> None:
    secret = next(iter(values().values()))
    with pytest.raises(SecretFound):
        ResultsStore(tmp_path).write_proof(examples.proof(verdict=f"It holds {secret} in line 4."))
    assert list(tmp_path.rglob("*.json")) == []


def test_a_flipped_byte_a_lost_file_and_a_strange_one_are_named(store: ResultsStore) -> None:
    path = store.root / PLACE
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"begs", b"bags"))
    assert [finding.problem for finding in verify(store.root)] == ["altered"]
    path.rename(path.with_name("other-changed-1.json"))
    assert {(finding.problem, Path(finding.path).name) for finding in verify(store.root)} == {
        ("missing", PLACE.name),
        ("extra", "other-changed-1.json"),
        ("misplaced", "other-changed-1.json"),
    }
    path.with_name("other-changed-1.json").unlink()
    path.write_bytes(b"{}")
    assert {finding.problem for finding in verify(store.root)} == {"altered", "unreadable"}
    path.write_bytes(whole)
    (store.root / "judges" / "stray.json").write_bytes(b"{}")
    assert {finding.problem for finding in verify(store.root)} == {"misplaced", "extra"}


def test_a_damaged_ledger_is_named_once_and_not_for_every_file(store: ResultsStore) -> None:
    for number in range(2, 6):
        store.write_proof(examples.proof(number=number))
    (store.root / "ledger" / "judge-second-opinion.jsonl").write_bytes(b"no entry\n")
    assert [finding.problem for finding in verify(store.root)] == ["altered"]


def test_what_an_interrupted_write_left_is_removed(store: ResultsStore) -> None:
    left = (store.root / PLACE).with_name(".writing-abc")
    left.write_bytes(b"half")
    assert [finding.problem for finding in verify(store.root)] == ["unfinished"]
    store.clear_proofs("second-opinion")
    assert verify(store.root) == []
    store.clear_proofs("never-heard-of")


def test_a_proof_has_a_score_exactly_when_its_answer_was_valid() -> None:
    document = json.loads(examples.proof().to_bytes())
    unscored = {"status": "invalid", "scores": None, "task_score": None, "invalid_reason": "no JSON"}
    read = parse_record(ProofRecord, json.dumps(document | unscored).encode(), where="here")
    assert read.status is JudgementStatus.INVALID
    for change in ({"task_score": 74.0}, {"task_score": None}, {**unscored, "invalid_reason": None}):
        with pytest.raises(ValidationError):
            ProofRecord.model_validate_json(json.dumps(document | change))
