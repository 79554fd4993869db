"""An interrupted run loses no finished trial, and resuming completes exactly the rest."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time

import pytest

from runner.engine.places import Places
from runner.errors import ConfigurationError, UsageError
from runner.store import verify
from runner.store.layout import TRIALS
from tests.engine.runs import demonstration, run, undo_last_trial

PATIENCE = 240.0
CHILD = """
import os, signal, sys, time
from pathlib import Path
from rich.console import Console
from runner.engine.command import run_command
from runner.engine.places import Places
root, how = Path(sys.argv[1]), sys.argv[2]

class Shown:
    # Does something of the test's when the first trial is told to have ended.
    told = False

    def write(self, text):
        sys.stdout.write(text)
        if "#1: " in text and not self.told:
            self.told = True
            if how == "is pressed":
                os.kill(os.getpid(), signal.SIGINT)
            if how == "waits":
                (root / "waits").touch()
                deadline = time.monotonic() + 300
                while not (root / "go").exists() and time.monotonic() < deadline:
                    time.sleep(0.02)

    def flush(self):
        sys.stdout.flush()

resume = True if how == "resumes" else None
flags = {} if resume else {"count": 3, "seed": 5}
sys.exit(run_command(Places(root), Console(file=Shown(), width=200), config=None, flags=flags,
                     environment=os.environ, resume=resume))
"""


def start(places: Places, how: str) -> subprocess.Popen[bytes]:
    """A runner in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(places.root), how], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def trials_at(places: Places) -> int:
    """How many are finished; what is half made beside them comes and goes while one looks."""
    return len(list((places.roots().demonstration / TRIALS).rglob("trial.json")))


def test_a_finished_trial_is_not_run_again(places: Places) -> None:
    run(places, {"count": 2, "model": "replay-careful"})
    store = demonstration(places)
    [plan] = store.plans()
    victim = undo_last_trial(store, plan.plan_id)
    [kept] = [stored.folder for stored in store.trials()]
    before = (kept / "trial.json").read_bytes()
    code, output = run(places, resume=plan.plan_id)
    assert code == 0
    assert "1 of 2 trials are there already" in output
    assert (kept / "trial.json").read_bytes() == before
    assert (victim / "trial.json").is_file()
    assert verify(store.root) == []


def test_a_trial_that_a_killed_runner_could_not_list_any_more_is_found_by_a_resume_without_a_name(
    places: Places,
) -> None:
    run(places, {"count": 1, "model": "replay-careful"})
    store = demonstration(places)
    [plan] = store.plans()
    ledger = store.root / "ledger" / f"{plan.plan_id}.jsonl"
    ledger.write_bytes(ledger.read_bytes().splitlines(keepends=True)[0])
    (places.scratch(plan.plan_id, 0) / "workspace").mkdir(parents=True)
    assert verify(store.root) != []
    assert run(places, resume=True)[0] == 0
    assert verify(store.root) == []
    assert not any((places.artifacts / "work").iterdir())
    with pytest.raises(UsageError, match="no plan is unfinished"):
        run(places, resume=True)


def test_a_finished_trial_that_was_deleted_stops_a_resume_before_anything_is_paid_for(places: Places) -> None:
    run(places, {"count": 2, "model": "replay-careful"})
    store = demonstration(places)
    [plan] = store.plans()
    shutil.rmtree(next(store.trials()).folder)
    with pytest.raises(ConfigurationError, match=r"1 of the finished trials of plan .* are damaged"):
        run(places, resume=plan.plan_id)
    assert trials_at(places) == 1


def test_ctrl_c_finishes_what_is_in_flight_and_leaves_with_partial(places: Places) -> None:
    output, _ = (runner := start(places, "is pressed")).communicate(timeout=PATIENCE)
    left = 6 - trials_at(places)
    assert b"Finishing the trials in flight" in output
    assert runner.returncode == (3 if left else 0)
    assert verify(places.roots().demonstration) == [] or left
    if left:
        assert b"invoke run --resume" in output
        assert run(places, resume=True)[0] == 0
    assert trials_at(places) == 6


def test_two_runners_of_one_plan_do_not_get_in_each_others_way(places: Places) -> None:
    first = start(places, "waits")
    while not (places.root / "waits").exists():
        assert first.poll() is None
        time.sleep(0.02)
    output, _ = start(places, "resumes").communicate(timeout=PATIENCE)
    (places.root / "go").touch()
    first.communicate(timeout=PATIENCE)
    assert b"at work already" in output
    assert trials_at(places) == 6


def test_a_changed_dataset_stops_a_resume_with_what_changed(places: Places) -> None:
    run(places, {"count": 2, "model": "replay-careful"})
    store = demonstration(places)
    [plan] = store.plans()
    undo_last_trial(store, plan.plan_id)
    dataset = places.datasets / "hello-world.yaml"
    text = dataset.read_text(encoding="utf-8")
    assert "timeout_seconds: " in text
    dataset.write_text(text.replace("timeout_seconds: ", "timeout_seconds: 1"), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="dataset_digest, task_digest"):
        run(places, resume=plan.plan_id)


def test_settings_of_the_plan_cannot_change_on_resume(places: Places) -> None:
    run(places, {"count": 1, "model": "replay-careful"})
    with pytest.raises(UsageError, match="--max-turns"):
        run(places, {"max_turns": 3}, resume=True)


def test_nothing_to_resume_is_said(places: Places) -> None:
    with pytest.raises(UsageError, match="no plan is unfinished"):
        run(places, resume=True)
    run(places, {"count": 1, "model": "replay-careful"})
    with pytest.raises(UsageError, match="no plan is unfinished"):
        run(places, resume=True)
    with pytest.raises(UsageError, match="there is no plan"):
        run(places, resume="run-of-yesterday")
