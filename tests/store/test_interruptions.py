"""What crashes, full disks and several writers at a time do to a store, and what puts it right."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path, PurePosixPath

import pytest

from runner.errors import RecordError, StoreError
from runner.records import CheckRecord, parse_record
from runner.store import ResultsStore, verify
from runner.store.ledger import Ledger
from tests import examples

PROJECT = Path(__file__).parent.parent.parent
FOLDER = "swe/model-a_endpoint/loop/fix/hello-world/fix-typo/1"
PLAN = f"plans/{examples.PLAN_ID}.json"
LEDGER = f"ledger/{examples.PLAN_ID}.jsonl"
RESUME = f"invoke run --resume {examples.PLAN_ID}"


def filled(root: Path) -> ResultsStore:
    """A store with one planned and finished trial."""
    store = ResultsStore(root)
    store.write_plan(examples.plan())
    store.write_trial(
        examples.trial(), checks=[examples.check()], artifacts={"implementation.md": examples.NOTE}
    )
    return store


def cut_ledger(root: Path, lines: int, more: bytes = b"") -> None:
    """Leave the first ``lines`` of the ledger, as a process killed then would."""
    path = root / LEDGER
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]) + more)


def test_a_run_that_starts_does_not_disturb_what_another_one_is_writing(tmp_path: Path) -> None:
    store = filled(tmp_path)
    others = tmp_path / ".staging/run-of-somebody-else/abc"
    others.mkdir(parents=True)
    own = tmp_path / ".staging" / examples.PLAN_ID / "abc"
    own.mkdir(parents=True)
    store.clear_interrupted(examples.plan())
    assert (others.is_dir(), own.exists()) == (True, False)


def test_a_run_that_starts_does_not_disturb_what_another_one_begins_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, made = ResultsStore(tmp_path), iter([True])
    make = tempfile.mkstemp

    def cleared_at_once(prefix: str, dir: Path) -> tuple[int, str]:  # noqa: A002 - the library names it
        temporary = make(prefix=prefix, dir=dir)
        if next(made, False):
            ResultsStore(tmp_path).clear_interrupted(examples.plan())
            assert not Path(temporary[1]).exists()
        return temporary

    monkeypatch.setattr(tempfile, "mkstemp", cleared_at_once)
    store.write_plan(examples.plan())
    assert store.plan(examples.PLAN_ID) == examples.plan()


def test_a_file_system_without_locks_is_told_and_keeps_no_half_written_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refused)
    with pytest.raises(StoreError, match="could not write: No locks"):
        ResultsStore(tmp_path).write_plan(examples.plan())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("place", ["plans/.writing-abc", f"{FOLDER}/checks/.writing-abc"])
def test_a_file_left_half_written_by_a_killed_process_is_cleared(tmp_path: Path, place: str) -> None:
    store = filled(tmp_path)
    (tmp_path / place).write_bytes(b"{")
    assert [finding.problem for finding in verify(tmp_path)] == ["unfinished"]
    store.clear_interrupted(examples.plan())
    assert verify(tmp_path) == []


def test_two_processes_that_append_to_one_ledger_in_turn_keep_one_chain(tmp_path: Path) -> None:
    filled(tmp_path)
    first, second = ResultsStore(tmp_path), ResultsStore(tmp_path)
    for number, store in enumerate((first, second, first, second), 2):
        store.write_judgement(examples.PLAN_ID, examples.judgement().model_copy(update={"number": number}))
    assert verify(tmp_path) == []


def test_writers_at_the_same_moment_list_a_file_once(tmp_path: Path) -> None:
    filled(tmp_path)
    stores = [ResultsStore(tmp_path) for _ in range(8)]
    ready = threading.Barrier(len(stores))

    def write(store: ResultsStore) -> None:
        ready.wait()
        for number in range(1, 6):
            store.write_judgement(
                examples.PLAN_ID, examples.judgement().model_copy(update={"number": number})
            )

    threads = [threading.Thread(target=write, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify(tmp_path) == []


def test_a_torn_line_is_cut_before_another_process_appends(tmp_path: Path) -> None:
    filled(tmp_path)
    cut_ledger(tmp_path, 2, b'{"path":"swe/mod')
    ResultsStore(tmp_path).adopt(examples.plan())
    assert verify(tmp_path) == []


def piped(path: Path) -> None:
    """A pipe that nobody writes to."""
    os.mkfifo(path)


def endless(path: Path) -> None:
    """A link to what never ends."""
    path.symlink_to("/dev/zero")


FULL_DISK = """
import resource, signal, sys
from pathlib import Path, PurePosixPath
from runner.errors import StoreError
from runner.store import ResultsStore
from tests import examples
root = Path(sys.argv[1])
store = ResultsStore(root)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = (root / "ledger" / f"{examples.PLAN_ID}.jsonl").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, size + 40))
try:
    store._ledger(examples.PLAN_ID).append(PurePosixPath("swe/some/file"), b"{}")
except StoreError as error:
    print(error.what, end="")
"""


def test_a_full_disk_leaves_no_half_line_in_the_ledger(tmp_path: Path) -> None:
    filled(tmp_path)
    before = (tmp_path / LEDGER).read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, cwd=PROJECT
    )
    assert (done.stdout, done.stderr) == ("could not write: File too large", "")
    assert (tmp_path / LEDGER).read_bytes() == before


def test_a_plan_killed_before_its_ledger_began_can_be_resumed(tmp_path: Path) -> None:
    store = ResultsStore(tmp_path)
    store.write_plan(examples.plan())
    (tmp_path / LEDGER).unlink()
    assert {finding.remedy for finding in verify(tmp_path)} == {RESUME}
    ResultsStore(tmp_path).adopt(examples.plan())
    assert [finding.problem for finding in verify(tmp_path)] == ["unfinished"]


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_a_trial_killed_before_it_was_listed_is_not_to_be_deleted_but_resumed(
    tmp_path: Path, lines: int
) -> None:
    filled(tmp_path)
    cut_ledger(tmp_path, lines)
    findings = verify(tmp_path)
    assert {finding.problem for finding in findings} == {"extra"}
    assert {finding.remedy for finding in findings} == {f"{RESUME} lists it"}
    ResultsStore(tmp_path).adopt(examples.plan())
    assert verify(tmp_path) == []


def test_resuming_does_not_make_a_file_that_somebody_added_legitimate(tmp_path: Path) -> None:
    filled(tmp_path)
    cut_ledger(tmp_path, 1)
    (tmp_path / FOLDER / "artifacts/notes.md").write_bytes(b"added")
    (tmp_path / FOLDER / "artifacts/lld.md").symlink_to(tmp_path / PLAN)
    ResultsStore(tmp_path).adopt(examples.plan())
    assert {finding.path for finding in verify(tmp_path)} == {
        f"{FOLDER}/artifacts/notes.md",
        f"{FOLDER}/artifacts/lld.md",
    }


@pytest.mark.parametrize("gone", [FOLDER, f"{FOLDER}/trial.json"])
def test_a_finished_trial_that_was_deleted_cannot_be_run_again(tmp_path: Path, gone: str) -> None:
    store = filled(tmp_path)
    assert store.damaged(examples.plan()) == []
    path = tmp_path / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert store.damaged(examples.plan()) == [examples.identity()]


def test_one_damaged_line_of_a_ledger_is_one_finding_and_no_call_to_delete_results(tmp_path: Path) -> None:
    filled(tmp_path)
    lines = (tmp_path / LEDGER).read_bytes().splitlines(keepends=True)
    lines[1] = b"X" + lines[1][1:]
    (tmp_path / LEDGER).write_bytes(b"".join(lines))
    [finding] = verify(tmp_path)
    assert (finding.path, finding.detail) == (LEDGER, "line 2 is not a ledger entry")


def test_a_missing_ledger_is_one_finding(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / LEDGER).unlink()
    [finding] = verify(tmp_path)
    assert (finding.path, finding.problem, finding.remedy) == (LEDGER, "missing", "restore it from git")


@pytest.mark.parametrize(
    "place", [PLAN, f"{FOLDER}/trial.json", f"{FOLDER}/artifacts/implementation.md", LEDGER]
)
def test_verify_ends_where_a_file_was_replaced_by_a_pipe_or_an_endless_device(
    tmp_path: Path, place: str
) -> None:
    for number, replace in enumerate((piped, endless)):
        root = tmp_path / str(number)
        filled(root)
        (root / place).unlink()
        replace(root / place)
        assert place in {finding.path for finding in verify(root) if finding.problem == "unreadable"}


def test_an_artifact_is_not_read_through_a_linked_folder(tmp_path: Path) -> None:
    store = filled(tmp_path / "results")
    artifacts = tmp_path / "results" / FOLDER / "artifacts"
    artifacts.rename(tmp_path / "elsewhere")
    artifacts.symlink_to(tmp_path / "elsewhere")
    [stored] = store.trials()
    assert stored.artifact("implementation.md") is None


def test_a_number_of_five_thousand_digits_is_an_unreadable_record_and_no_crash() -> None:
    data = examples.check().to_bytes().replace(b'"number": 1', b'"number": ' + b"9" * 5000)
    with pytest.raises(RecordError, match="not readable as JSON"):
        parse_record(CheckRecord, data, where="checks/x-1.json")


def test_a_ledger_that_two_objects_hold_open_knows_what_the_other_listed(tmp_path: Path) -> None:
    first, second = Ledger(tmp_path / "a.jsonl"), Ledger(tmp_path / "a.jsonl")
    path = PurePosixPath("swe/file")
    first.append(path, b"1")
    second.append(path, b"1")
    assert len((tmp_path / "a.jsonl").read_bytes().splitlines()) == 1
    assert path in second


def test_writing_the_same_again_touches_no_file_and_no_folder(tmp_path: Path) -> None:
    filled(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    filled(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
