"""A correction changes how a record reads, and never the record's file."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from runner.errors import OverwriteError, RecordError
from runner.records import CorrectionRecord, Outcome
from runner.store import ResultsStore, verify
from tests import examples

PATH = "swe/model-a_endpoint/loop/fix/hello-world/fix-typo/1/trial.json"


def correction(name: str = "void-1", /, **changes: object) -> CorrectionRecord:
    """The example trial's outcome becomes cheating."""
    fields: dict[str, object] = {
        "correction_id": name,
        "path": PATH,
        "record_sha256": examples.trial().digest(),
        "field": "outcome",
        "old_value": "completed",
        "new_value": "cheating",
        "reason": "it read the results",
        "corrected_at": examples.LATER,
    }
    return CorrectionRecord.model_validate({**fields, **changes})


@pytest.fixture
def store(tmp_path: Path) -> ResultsStore:
    made = ResultsStore(tmp_path / "results")
    made.write_plan(examples.plan())
    made.write_trial(
        examples.trial(), scans=[examples.scan()], artifacts={"implementation.md": examples.NOTE}
    )
    return made


def test_a_corrected_trial_reads_corrected_and_its_file_is_as_it_was(store: ResultsStore) -> None:
    before = (store.root / PATH).read_bytes()
    store.write_correction(examples.PLAN_ID, correction())
    [stored] = store.trials()
    assert stored.record.outcome is Outcome.CHEATING
    assert [each.reason for each in stored.corrections] == ["it read the results"]
    assert store.trial(examples.identity()).record == stored.record
    assert (store.root / PATH).read_bytes() == before
    assert store.digest_of(examples.identity()) == examples.trial().digest()
    assert verify(store.root) == []


def test_scans_are_kept_beside_a_trial_and_listed_in_its_ledger(store: ResultsStore) -> None:
    again = examples.scan().model_copy(update={"number": 10})
    store.write_scan(examples.PLAN_ID, again)
    [stored] = store.trials()
    assert [scan.number for scan in stored.scans] == [1, 10]
    assert (stored.folder / "integrity" / "scan-10.json").is_file()
    assert verify(store.root) == []
    with pytest.raises(OverwriteError):
        store.write_scan(examples.PLAN_ID, again.model_copy(update={"rules_version": "2"}))


def test_corrections_are_made_in_the_order_of_their_times(store: ResultsStore) -> None:
    back: dict[str, object] = {"old_value": "cheating", "new_value": "completed"}
    later = correction("a-later-one", **back, corrected_at=examples.LATER + timedelta(days=1))
    for each in (later, correction()):
        store.write_correction(examples.PLAN_ID, each)
    [stored] = store.trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert [each.correction_id for each in stored.corrections] == ["void-1", "a-later-one"]


def test_a_field_inside_another_one_is_corrected_by_its_dotted_name(store: ResultsStore) -> None:
    change: dict[str, object] = {"field": "limits.max_turns", "old_value": 50, "new_value": 60}
    store.write_correction(examples.PLAN_ID, correction(**change))
    assert store.trial(examples.identity()).record.limits.max_turns == 60


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"record_sha256": "0" * 64}, "made for other content"),
        ({"old_value": "timeout"}, "outcome is not 'timeout'"),
        ({"field": "nothing.at.all"}, "nothing.at.all is not"),
        ({"new_value": "excellent"}, "invalid record"),
    ],
)
def test_a_correction_that_does_not_fit_is_an_error_and_not_a_guess(
    store: ResultsStore, changes: dict[str, object], words: str
) -> None:
    store.write_correction(examples.PLAN_ID, correction(**changes))
    with pytest.raises(RecordError, match=words):
        list(store.trials())


def test_verify_names_a_correction_of_other_content_and_one_of_nothing(store: ResultsStore) -> None:
    store.write_correction(examples.PLAN_ID, correction("one", record_sha256="0" * 64))
    store.write_correction(examples.PLAN_ID, correction("two", path=PATH.replace("/1/", "/2/")))
    found = {finding.path: finding.problem for finding in verify(store.root)}
    assert found == {"corrections/one.json": "altered", "corrections/two.json": "misplaced"}


def test_a_correction_that_no_ledger_lists_is_found(store: ResultsStore) -> None:
    path = store.root / "corrections" / "void-1.json"
    path.parent.mkdir()
    path.write_bytes(correction().to_bytes())
    assert [(each.path, each.problem) for each in verify(store.root)] == [
        ("corrections/void-1.json", "extra")
    ]
