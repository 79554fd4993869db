"""A run that is killed, interrupted or torn goes on where it was, and asks nothing twice."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runner.endpoint.statistics.outcomes import GIVEN_UP
from runner.engine.bench.command import BenchCall, bench_command
from runner.engine.bench.ledger import LOAD_TIME_SPENT, TIME_SPENT
from runner.engine.bench.resuming import MARK_BYTES, mark_key
from runner.engine.lock import locked
from runner.errors import ConfigurationError, StoreError, UsageError
from tests.engine.bench.project import MODEL, REPOSITORY, Project, make_project, options_of, server_log

# Arguments: the project; what happens to the run, if anything; after which trial that is. On a busy machine
# whoever watches it from outside may be too late: all trials together take a second.
PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from tests.engine.bench.project import Project, options_of
root, happens, trial = (*sys.argv[1:], "", "")[:3]
project = Project(Path(root))
class Said(list):
    def append(self, line):
        print(line, flush=True)
        if trial and line.startswith(f"[{trial}/"):
            if happens == "waits":
                while not (project.root / "go").exists():
                    time.sleep(0.02)
            else:
                os.kill(os.getpid(), signal.Signals[happens])
project.said = Said()
sys.exit(project.bench(options_of(profile="smoke", concurrency=2)))
"""
DEADLINE = 240.0
IN_FLIGHT = 2


@pytest.fixture
def slow(tmp_path: Path) -> Project:
    """Two mappings of which every answer takes a while."""
    return make_project(tmp_path, [("one", ("slow150",)), ("two", ("slow150",))])


def ended_by(signal_name: str, trial: int, project: Project) -> int:
    """The exit code of a run in a process of its own that gets a signal after so many trials."""
    command = [sys.executable, "-c", PROGRAM, str(project.root), signal_name, str(trial)]
    return subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, timeout=DEADLINE).returncode


def test_a_killed_run_loses_only_what_was_in_flight_and_is_finished_by_resume(slow: Project) -> None:
    assert ended_by("SIGKILL", 3, slow) == -signal.SIGKILL
    run = slow.run()
    before, kept = run.trials_path.read_bytes(), {trial.key for trial in run.trials()}
    assert run.summary() is None
    assert len(kept) >= 3

    log = slow.root / "server.log"
    assert slow.bench(resume=run.run_id, log=log) == 0
    manifest, trials, summary = slow.read()
    assert run.trials_path.read_bytes().startswith(before)
    assert [trial.key for trial in trials[: len(kept)]] == [
        trial.key for trial in trials if trial.key in kept
    ]
    assert {trial.key for trial in trials} == {each.key for each in manifest.planned}
    assert len(server_log(log)) == len(manifest.planned) - len(kept)
    assert (summary.ended, summary.account.left) == ("complete", 0)


def test_ctrl_c_ends_with_3_and_everything_that_was_in_flight_is_saved(slow: Project) -> None:
    assert ended_by("SIGINT", 2, slow) == 3
    manifest, trials, summary = slow.read()
    assert (summary.ended, summary.exit_code) == ("partial", 3)
    assert "interrupted" in summary.ended_reason
    assert 2 <= len(trials) < len(manifest.planned)
    assert summary.account.left == len(manifest.planned) - len(trials)
    assert all(request.outcome == "ok" for trial in trials for request in trial.requests)

    assert slow.bench(resume="latest") == 0
    assert slow.read()[2].account.left == 0


def test_a_second_ctrl_c_gives_up_what_is_in_flight(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ("slow60000",))])
    command = [sys.executable, "-c", PROGRAM, str(project.root)]
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("asking"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        while "again to give them up" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 3
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    _, trials, summary = project.read()
    # How many had been sent by then is up to the machine.
    assert {(trial.skipped, trial.cut_requests, trial.requests) for trial in trials} <= {(GIVEN_UP, 1, ())}
    assert summary.account.cut_requests == len(trials) <= IN_FLIGHT
    assert summary.account.left == summary.account.planned


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run that is over."""
    project = make_project(tmp_path_factory.mktemp("over"), [("one", ()), ("two", ())])
    assert project.bench(options_of(profile="smoke", cases=("instruction_hierarchy_document",))) == 0
    return project


@pytest.fixture
def over(once: Project, tmp_path: Path) -> Project:
    """The same, to be tampered with."""
    shutil.copytree(once.root, tmp_path / "copy", symlinks=True)
    return Project(tmp_path / "copy")


def test_a_last_line_that_is_cut_is_taken_away_and_told(over: Project) -> None:
    run = over.run()
    whole = run.trials_path.read_bytes()
    lines = whole.splitlines(keepends=True)
    run.trials_path.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
    assert len(run.trials()) == len(lines) - 1

    assert over.bench(resume=run.run_id) == 0
    assert any("was cut: 40 bytes" in line for line in over.said)
    assert len(over.read()[1]) == len(lines)


def test_a_finished_run_that_is_resumed_asks_nothing(over: Project) -> None:
    before, log = over.run().trials_path.read_bytes(), over.root / "server.log"
    assert over.bench(resume="latest", log=log) == 0
    assert over.run().trials_path.read_bytes() == before
    assert not log.exists()


def test_two_runners_never_work_on_one_run(over: Project) -> None:
    lock = over.places.lock(f"bench-{over.run().run_id}")
    with locked(lock, wait=False, holder="a test"), pytest.raises(UsageError, match="at work already"):
        over.bench(resume="latest")


def test_a_target_that_was_changed_since_is_not_gone_on_with(over: Project) -> None:
    path = over.places.datasets / "targets" / f"{MODEL}.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("200000", "100000"), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="in another way"):
        over.bench(resume="latest")


def test_what_a_budget_cut_is_made_up_for_by_resume(slow: Project) -> None:
    options = options_of(profile="smoke", budget_seconds="0.5")
    assert slow.bench(options) == 3
    _, trials, summary = slow.read()
    skipped = [trial for trial in trials if trial.skipped is not None]
    assert skipped
    assert summary.account.skipped == {"the budget of time was spent": len(skipped)}
    # Round by round: no case was asked twice before every case was asked once or the budget was gone.
    done = [trial for trial in trials if trial.skipped is None]
    assert {trial.slot for trial in done} <= {"1"} or len({trial.case for trial in done}) >= 6
    # Resuming gives the budget of time once more: here it is enough for the rest.
    assert slow.bench(resume="latest") in {0, 3}
    again = slow.read()
    assert sum(trial.skipped is None for trial in again[1]) > len(done)
    assert {trial.key for trial in done} <= {trial.key for trial in again[1] if trial.skipped is None}


def test_a_fault_of_ours_is_exit_4_and_what_was_made_before_it_is_saved(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ())])

    def full(line: str) -> None:
        if line.startswith("[2/"):
            raise StoreError("the disk is full")

    options = options_of(profile="smoke", cases=("instruction_hierarchy_document",), runs=4)
    with pytest.raises(StoreError, match="the disk is full") as caught:
        bench_command(project.places, full, BenchCall(options), {})
    _, trials, summary = project.read()
    assert (caught.value.exit_code, summary.exit_code, summary.ended) == (4, 4, "harness-fault")
    assert (len(trials), summary.account.done, summary.account.left) == (2, 2, 2)


def test_a_budget_shorter_than_a_request_lets_one_through_and_records_the_rest(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ("slow5",))])
    budgets = {"budget_seconds": "0.001", "load_budget_seconds": "0.000001"}
    options = options_of(suites=("load",), cases=("output_length_32", "concurrency_2"), runs=3, **budgets)
    assert project.bench(options) == 3
    _, trials, summary = project.read()
    assert [trial.case for trial in trials if trial.skipped is None] == ["output_length_32"]
    assert summary.account.skipped == {TIME_SPENT: 2, LOAD_TIME_SPENT: 3}
    # What was cut from a stage is no part of the figures outside of load.
    assert summary.targets[0].measures["ttft_ms"].tally.skipped == {TIME_SPENT: 2}
    cut = [trial.load for trial in trials if trial.skipped == LOAD_TIME_SPENT]
    assert [place.level for place in cut if place is not None] == [2.0] * 3
    assert [curve.points for curve in summary.load] == [()]


def test_a_key_of_marks_that_a_kill_cut_is_made_anew(once: Project, tmp_path: Path) -> None:
    """With an empty key anybody could find out by trying what a model had answered."""
    manifest = once.read()[0].model_copy(
        update={"settings": once.read()[0].settings.model_copy(update={"keep_responses": False})}
    )
    places = Project(tmp_path).places
    path = places.artifacts / "bench" / f"{manifest.run_id}.key"
    path.parent.mkdir(parents=True)
    path.touch()
    key = mark_key(places, manifest)
    assert len(key) == MARK_BYTES
    assert mark_key(places, manifest) == key
    assert [(each.name, each.stat().st_mode & 0o777) for each in path.parent.iterdir()] == [
        (path.name, 0o600)
    ]
