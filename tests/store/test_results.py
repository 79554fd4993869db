"""The store writes whole trials, never overwrites, and reads back what was written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner.errors import OverwriteError, StoreError
from runner.records import Outcome
from runner.store import ResultsStore, StoreRoots, verify
from runner.store.atomic import write_once
from tests import examples

ARTIFACTS = {"implementation.md": examples.NOTE}


@pytest.fixture
def store(tmp_path: Path) -> ResultsStore:
    """A store with one planned and finished trial."""
    made = ResultsStore(tmp_path / "results")
    made.write_plan(examples.plan())
    made.write_trial(
        examples.trial(), checks=[examples.check()], judgements=[examples.judgement()], artifacts=ARTIFACTS
    )
    return made


def listing(root: Path) -> dict[str, bytes]:
    """Every file below ``root`` with its content."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def test_a_trial_is_read_back_with_all_that_was_written(store: ResultsStore) -> None:
    [stored] = store.trials()
    assert stored.record == examples.trial()
    assert stored.judgements == (examples.judgement(),)
    assert stored.checks == (examples.check(),)
    assert stored.artifact("implementation.md") == examples.NOTE
    assert stored.artifact("lld.md") is None


def test_the_layout_is_the_one_of_the_design(store: ResultsStore) -> None:
    folder = "swe/model-a_endpoint/loop/fix/hello-world/fix-typo/1"
    assert set(listing(store.root)) == {
        f"plans/{examples.PLAN_ID}.json",
        f"ledger/{examples.PLAN_ID}.jsonl",
        f"{folder}/trial.json",
        f"{folder}/artifacts/implementation.md",
        f"{folder}/judgements/second-opinion-1.json",
        f"{folder}/checks/hidden-tests-1.json",
    }


def test_writing_the_same_again_changes_nothing(store: ResultsStore) -> None:
    before = listing(store.root)
    again = ResultsStore(store.root)
    again.write_plan(examples.plan())
    again.write_trial(
        examples.trial(), checks=[examples.check()], judgements=[examples.judgement()], artifacts=ARTIFACTS
    )
    assert listing(store.root) == before


def test_a_trial_is_never_overwritten(store: ResultsStore) -> None:
    before = listing(store.root)
    other = examples.trial().model_copy(update={"outcome": Outcome.TIMEOUT})
    with pytest.raises(OverwriteError, match="next trial number"):
        store.write_trial(other)
    assert listing(store.root) == before


def test_a_plan_is_never_overwritten(store: ResultsStore) -> None:
    with pytest.raises(OverwriteError):
        store.write_plan(examples.plan().model_copy(update={"seed": 8}))


def test_a_later_judgement_joins_the_trial_and_the_ledger(store: ResultsStore) -> None:
    second = examples.judgement().model_copy(update={"number": 2})
    store.write_judgement(examples.PLAN_ID, second)
    [stored] = store.trials()
    assert stored.judgements == (examples.judgement(), second)
    assert verify(store.root) == []


def test_sweeps_are_kept_by_deployment(store: ResultsStore) -> None:
    store.write_throughput(examples.PLAN_ID, examples.sweep())
    assert list(store.sweeps()) == [examples.sweep()]
    assert (store.root / "throughput/model-a/2026-01-31/sweep.json").is_file()


def test_a_store_without_files_reads_as_empty(tmp_path: Path) -> None:
    empty = ResultsStore(tmp_path / "nothing")
    assert (list(empty.trials()), list(empty.plans()), list(empty.sweeps())) == ([], [], [])


def test_private_and_demonstration_stores_lie_beside_the_public_one(tmp_path: Path) -> None:
    roots = StoreRoots(tmp_path)
    roots.demonstration.mkdir()
    assert roots.existing() == (tmp_path, tmp_path / "demonstration")


def test_a_full_or_closed_disk_is_a_store_error_and_leaves_no_partial_file(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"not a folder")
    with pytest.raises(StoreError, match="could not write"):
        write_once(blocked / "record.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_two_writers_of_one_file_cannot_replace_each_other(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    assert write_once(path, b"first") is True
    assert write_once(path, b"first") is False
    with pytest.raises(OverwriteError):
        write_once(path, b"second")
    assert path.read_bytes() == b"first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["record.json"]


WRITER = """
import sys
from pathlib import Path
from runner.store import ResultsStore
from tests import examples
store = ResultsStore(Path(sys.argv[1]))
identities = [examples.identity(trial=n) for n in range(1, 400)]
store.write_plan(examples.plan(*identities))
print("writing", flush=True)
for identity in identities:
    store.write_trial(examples.trial(identity), artifacts={"implementation.md": examples.NOTE})
"""


@pytest.mark.parametrize("milliseconds", [5, 25, 60])
def test_a_writer_killed_at_any_moment_leaves_whole_trials_only(tmp_path: Path, milliseconds: int) -> None:
    root = tmp_path / "results"
    project = Path(__file__).parent.parent.parent
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(root)], stdout=subprocess.PIPE, cwd=project)
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(milliseconds / 1000)
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()

    store = ResultsStore(root)
    plan = store.plan(examples.PLAN_ID)
    for stored in store.trials():
        assert stored.artifact("implementation.md") == examples.NOTE
    store.clear_interrupted(plan)
    store.adopt(plan)
    for planned in plan.trials:
        store.write_trial(examples.trial(planned.identity), artifacts=ARTIFACTS)
    assert verify(root) == []
    assert len(list(store.trials())) == len(plan.trials)
