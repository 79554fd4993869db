"""``invoke check`` and ``invoke integrity`` look at stored trials again and never overwrite anything."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.engine.checking_command import check_command, make_agenda
from runner.engine.graded import Graded
from runner.engine.integrity_command import integrity_command
from runner.engine.places import Places
from runner.errors import StoreError, UsageError
from runner.records import (
    CheckPurpose,
    CheckRecord,
    CheckStatus,
    Fingerprint,
    Outcome,
    TrialRecord,
    sha256_of,
)
from runner.store import ResultsStore, StoredTrial, verify
from tests import examples
from tests.engine.conftest import PROJECT, made
from tests.engine.runs import demonstration
from tests.engine.standin import run_script


@pytest.fixture
def copied(whole: tuple[Places, str], tmp_path: Path) -> Places:
    """A project with a finished demonstration that a test may change."""
    places, _ = whole
    for name in ("results", "datasets"):
        shutil.copytree(places.root / name, tmp_path / "project" / name)
    shutil.copytree(places.streams, tmp_path / "project" / ".artifacts" / "streams")
    return Places(tmp_path / "project")


def checked(places: Places, **flags: object) -> tuple[int, list[str]]:
    lines: list[str] = []
    code = check_command(places, lines.append, environment=os.environ, **flags)  # type: ignore[arg-type]
    return code, lines


def scanned(places: Places, **flags: object) -> tuple[int, list[str]]:
    lines: list[str] = []
    code = integrity_command(places, lines.append, environment=os.environ, **flags)  # type: ignore[arg-type]
    return code, lines


def files(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def verdicts(stored: StoredTrial, number: int) -> dict[str, CheckStatus]:
    return {check.name: check.status for check in stored.checks if check.number == number}


def test_checks_run_again_say_the_same_and_are_new_records(copied: Places) -> None:
    before = files(copied.results)
    code, lines = checked(copied, cell=["quarter-hour-default"])
    assert code == 0
    assert lines[0].startswith("2 trials to grade")
    after = files(copied.results)
    assert {name: data for name, data in after.items() if name in before and "ledger" not in name} == {
        name: data for name, data in before.items() if "ledger" not in name
    }
    for stored in demonstration(copied).trials():
        again = verdicts(stored, 2)
        if stored.record.identity.task == "quarter-hour-default":
            assert again == verdicts(stored, 1)
            assert set(again) == {"patch-applies", "rules", "build", "hidden-tests", "visible-tests"}
        else:
            assert again == {}
    assert verify(copied.roots().demonstration) == []


def test_records_name_the_tests_their_isolation_and_the_run_before_the_patch(
    whole: tuple[Places, str],
) -> None:
    places, _ = whole
    [first, *_] = demonstration(places).trials()
    by_purpose = {check.purpose: check for check in first.checks}
    hidden, regression = by_purpose[CheckPurpose.HIDDEN], by_purpose[CheckPurpose.REGRESSION]
    assert hidden.tests is not None
    assert len(hidden.tests.passed) + len(hidden.tests.failed) > 0
    assert regression.base is not None
    assert regression.base.tests is not None
    assert regression.base.status is CheckStatus.PASSED
    assert set(regression.base.tests.passed) <= set(regression.tests.passed if regression.tests else ())
    assert hidden.isolation == first.record.isolation
    assert {check.task_digest for check in first.checks} == {first.record.fingerprint.task_digest}


def test_only_missing_grades_what_has_no_verdict(copied: Places) -> None:
    store = demonstration(copied)
    stored = next(iter(store.trials()))
    (stored.folder / "checks" / "hidden-tests-1.json").unlink()
    code, lines = checked(copied, only_missing=True)
    assert (code, lines[0].split(";")[0]) == (0, "1 trial to grade")
    again = store.trial(stored.record.identity)
    # Checks that were there are made again with it, under their next number.
    assert {(check.name, check.number) for check in again.checks} >= {("hidden-tests", 1), ("build", 2)}
    assert checked(copied, only_missing=True)[1][-1] == "Nothing is left to do."


def test_a_stopped_round_is_gone_on_with(copied: Places) -> None:
    stop = threading.Event()
    stop.set()
    assert checked(copied, cell=["whole-minutes"], stop=stop)[0] == 3
    assert len(make_agenda(copied, None, ["whole-minutes"]).entries) == 2
    path = next(iter(demonstration(copied).trials())).folder.parents[2]
    assert checked(copied, path=str(path), cell=["whole-minutes"])[0] == 0
    [left] = make_agenda(copied, None, ["whole-minutes"]).entries
    assert not left.stored.folder.is_relative_to(path)
    assert checked(copied, cell=["whole-minutes"])[0] == 0
    assert all(
        len(verdicts(each.stored, 2)) == 5 for each in make_agenda(copied, None, ["whole-min"]).entries
    )


class FullDisk(ResultsStore):
    """A store on a disk that takes two checks more."""

    left = 2

    def write_check(self, plan_id: str, check: CheckRecord) -> None:
        self.left -= 1
        if self.left < 0:
            raise StoreError("could not write: no space left on device")
        super().write_check(plan_id, check)


def test_a_round_that_ended_between_two_checks_of_its_last_trial_is_not_begun_anew(copied: Places) -> None:
    store = demonstration(copied)
    stored = next(each for each in store.trials() if each.record.identity.task == "quarter-hour-default")
    again = [check.model_copy(update={"number": 2}) for check in stored.checks]
    graded = Graded(copied.artifacts / "graded")
    with pytest.raises(StoreError):
        graded.keep(FullDisk(store.root), stored.record, again)
    code, lines = checked(copied, path=str(stored.folder))
    assert code == 0
    assert lines[0] == "brought into the store from an interrupted command: checks of 1 trial"
    assert lines[-1] == "Nothing is left to do."
    stored = demonstration(copied).trial(stored.record.identity)
    assert sorted(check.number for check in stored.checks) == sorted([1, 2] * len(again))
    assert verify(store.root) == []
    assert list(graded.folder.iterdir()) == []


def test_a_dry_run_writes_nothing(copied: Places) -> None:
    before = files(copied.results)
    assert checked(copied, dry_run=True)[0] == 0
    assert scanned(copied, dry_run=True)[0] == 0
    assert files(copied.results) == before


def test_a_path_outside_every_store_is_a_users_mistake(places: Places, tmp_path: Path) -> None:
    for command in (checked, scanned):
        with pytest.raises(UsageError, match="no store"):
            command(places, path=str(tmp_path))


def imported(places: Places, patch: bytes | None) -> TrialRecord:
    """An imported trial of the demonstration's dataset, with or without a patch."""
    who = examples.identity("quarter-hour-default")
    artifacts = {} if patch is None else {"patch.diff": patch}
    record = examples.trial(who).model_copy(
        update={
            "source": examples.SOURCE,
            "invocations": (),
            "fingerprint": Fingerprint(),
            "artifacts": tuple(
                examples.trial()
                .artifacts[0]
                .model_copy(update={"name": name, "sha256": sha256_of(data), "size_bytes": len(data)})
                for name, data in artifacts.items()
            ),
        }
    )
    store = ResultsStore(places.results)
    store.write_plan(examples.plan(who))
    store.write_trial(record, artifacts=artifacts)
    return record


def test_an_imported_trial_with_a_patch_is_graded(places: Places) -> None:
    solution = (PROJECT / "datasets/hello-world/solutions/quarter-hour-default.patch").read_bytes()
    record = imported(places, solution)
    code, lines = checked(places)
    assert (code, lines[-1]) == (0, "1 resolved")
    stored = ResultsStore(places.results).trial(record.identity)
    assert {check.status for check in stored.checks} == {CheckStatus.PASSED}
    assert verify(places.results) == []


def test_an_imported_trial_without_a_patch_is_left_out_with_the_reason(places: Places) -> None:
    imported(places, None)
    assert "no patch of it is kept" in checked(places)[1][0]
    assert "it is imported" in scanned(places)[1][0]


def test_a_changed_task_is_graded_only_when_asked_for(copied: Places) -> None:
    dataset = copied.datasets / "hello-world.yaml"
    dataset.write_text(dataset.read_text().replace("timeout_seconds: 30", "timeout_seconds: 31"))
    code, lines = checked(copied, cell=["fair-rounding"])
    assert (code, lines[0]) == (0, "left out: 2 trials: its task has changed since it ran")
    assert checked(copied, cell=["fair-rounding"], changed_tasks=True)[0] == 0
    stored = next(
        each for each in demonstration(copied).trials() if "fair-rounding" in each.record.identity.key
    )
    assert len({check.task_digest for check in stored.checks}) == 2


def test_a_demonstration_scanned_again_is_clean_and_nothing_is_kept_twice(copied: Places) -> None:
    before = files(copied.results)
    code, lines = scanned(copied)
    assert (code, lines) == (0, ["10 clean"])
    assert files(copied.results) == before
    assert scanned(copied, only_missing=True)[1] == ["10 already scanned"]


CHEAT = """
command = "cat {path}"
say(type="tool", name="bash", arguments=dict(command=command))
change(); note()
"""


def cheated(places: Places) -> ResultsStore:
    """A store with a trial that is void."""
    run_script(places, CHEAT.format(path=places.results / "x"), isolation="none")
    return ResultsStore(places.results)


def test_a_void_that_a_crash_kept_out_is_made_good(places: Places) -> None:
    store = cheated(places)
    [path] = (places.results / "corrections").glob("*.json")
    before = path.read_bytes()
    path.unlink()
    assert [each.record.outcome for each in store.trials()] == [Outcome.COMPLETED]
    scanned(places, only_missing=True)
    assert path.read_bytes() == before
    assert [each.record.outcome for each in store.trials()] == [Outcome.CHEATING]
    assert verify(places.results) == []


def test_a_trial_from_before_the_scans_is_found_out_later(places: Places) -> None:
    store = cheated(places)
    [stored] = store.trials()
    shutil.rmtree(stored.folder / "integrity")
    shutil.rmtree(places.results / "corrections")
    code, lines = scanned(places)
    assert code == 2
    assert lines[0].startswith("void: m_elsewhere/stand-in/fix/hello-world/")
    assert str(places.root) not in lines[0]
    assert [each.record.outcome for each in store.trials()] == [Outcome.CHEATING]
    assert scanned(places)[0] == 2
    assert len(list((stored.folder / "integrity").iterdir())) == 1


def test_a_void_that_somebody_took_back_stays_taken_back(places: Places) -> None:
    store = cheated(places)
    [stored] = store.trials()
    [void] = stored.corrections
    back = {
        "correction_id": "taken-back",
        "old_value": "cheating",
        "new_value": "completed",
        "reason": "a mistake",
    }
    back["corrected_at"] = examples.LATER.replace(year=2100)  # type: ignore[assignment]
    store.write_correction(stored.record.plan_id, void.model_copy(update=back))
    scanned(places)
    assert [each.record.outcome for each in store.trials()] == [Outcome.COMPLETED]


def test_limits_that_differ_from_the_plan_are_found(places: Places) -> None:
    store = cheated(places)
    [stored] = store.trials()
    path = stored.folder / "trial.json"
    path.write_bytes(path.read_bytes().replace(b'"max_turns": 250', b'"max_turns": 999'))
    shutil.rmtree(places.results / "corrections")
    shutil.rmtree(stored.folder / "integrity")
    code, lines = scanned(places)
    assert code == 2
    assert any("limits: the record holds other limits than its plan" in line for line in lines)


def test_a_stream_that_is_not_kept_is_said_to_be_missing(places: Places) -> None:
    store = cheated(places)
    shutil.rmtree(places.streams)
    scanned(places)
    [stored] = store.trials()
    assert (stored.scans[-1].scanned.streams, stored.scans[-1].scanned.streams_missing) == (0, 1)
    assert stored.record.outcome is Outcome.CHEATING


def test_a_project_without_results_has_nothing_to_do(tmp_path: Path) -> None:
    places = made(tmp_path / "project")
    assert checked(places) == (0, ["0 trials to grade; 0 have their checks", "Nothing is left to do."])
    assert scanned(places) == (0, ["no trial to scan"])


@pytest.mark.parametrize("command", [checked, scanned])
def test_a_cell_that_fits_nothing_is_not_taken_for_work_that_is_done(
    places: Places, command: Callable[..., object]
) -> None:
    cheated(places)
    with pytest.raises(UsageError, match="no stored trial fits 'hello-wrold'"):
        command(places, cell=("hello-wrold",))
