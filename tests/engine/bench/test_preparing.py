"""A benchmark is seen and stopped from its first moment on, while it has no file in the store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from runner.engine.bench.announcing import announced, announcements
from runner.engine.bench.sitting import taken_up
from runner.engine.bench.standing import bench_name, bench_standing
from runner.engine.journal import read_state
from runner.engine.lock import locked
from runner.engine.standing import Standing, standing_lines
from runner.engine.stopping import stop_command
from runner.engine.works import all_works
from runner.errors import UsageError
from runner.store.bench_run import BenchRun
from tests import bench_examples
from tests.bench_examples import NOON
from tests.engine.bench.picky import Body, Refusal, picky
from tests.engine.bench.project import REPOSITORY, make_project
from tests.engine.bench.test_killed import DEADLINE

PROGRAM = """
import sys
from pathlib import Path
from tests.engine.bench.project import Project, options_of
project = Project(Path(sys.argv[1]))
options = options_of(models=("some-model",), url=sys.argv[2], profile="smoke", budget_usd=None)
code = project.bench(options)
print(project.said[-1])
sys.exit(code)
"""


def test_a_pre_flight_that_hangs_is_shown_with_its_phase_and_stopped(tmp_path: Path) -> None:
    project, asked, release = make_project(tmp_path, [("one", ())]), threading.Event(), threading.Event()

    def hangs(_body: Body) -> Refusal | None:
        asked.set()
        release.wait(DEADLINE)
        return None

    with picky(hangs) as server:
        command = [sys.executable, "-c", PROGRAM, str(project.root), server.url]
        child = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        try:
            assert asked.wait(DEADLINE)
            [work] = all_works(project.places)
            standing = work.look(NOON)
            assert isinstance(standing, Standing)
            assert (standing.runner.state, standing.runner.pid) == ("at work", child.pid)
            assert (standing.runner.phase, standing.done, standing.resume) == ("pre-flight", 0, None)
            assert standing.left == standing.planned > 0
            assert "spent: unknown while the pre-flight asks" in "\n".join(standing_lines(standing, NOON))
            said: list[str] = []
            assert stop_command(project.places, said.append, plan_id=None, now=False) == 0
            assert "before its first trial" in said[0]
            assert child.wait(DEADLINE) == 3
        finally:
            release.set()
            child.kill()
            shown, _ = child.communicate()
    assert shown.strip() == "interrupted before anything was measured"
    assert all_works(project.places) == []
    ended = work.look(NOON)
    assert isinstance(ended, Standing)
    assert (ended.runner.state, ended.resume) == ("ended", None)
    assert "note: it ended before its first trial; nothing was measured" in standing_lines(ended, NOON)
    with pytest.raises(UsageError, match="nobody is at work"):
        stop_command(project.places, said.append, plan_id=None, now=False)


def test_a_calibration_says_that_it_is_one_and_ends_at_the_first_press(tmp_path: Path) -> None:
    project, said = make_project(tmp_path, [("one", ())]), list[str]()
    manifest = bench_examples.manifest()
    path = project.places.state(bench_name(manifest.run_id))

    def pressed() -> None:
        with (
            taken_up(project.places, manifest.run_id, 1, said.append) as sitting,
            sitting.preparing("calibrating"),
        ):
            state = read_state(path)
            assert state is not None
            assert state.phase == "calibrating"
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(DEADLINE)

    with pytest.raises(KeyboardInterrupt):
        pressed()
    state = read_state(path)
    assert state is not None
    assert state.ended_at is not None
    assert state.failure is None
    assert said == [], "nothing is in flight that could be finished"


def test_a_press_just_before_a_pre_flight_begins_lets_it_ask_nothing(tmp_path: Path) -> None:
    project, asked = make_project(tmp_path, [("one", ())]), list[str]()
    with taken_up(project.places, bench_examples.RUN, 1, lambda _: None) as sitting:
        sitting.stop.press()
        with pytest.raises(KeyboardInterrupt), sitting.preparing("pre-flight"):
            asked.append("a question that is billed")
    assert asked == []


def test_a_benchmark_that_begins_while_it_is_looked_at_is_read_from_the_store(tmp_path: Path) -> None:
    project, manifest = make_project(tmp_path, [("one", ())]), bench_examples.manifest()
    roots = project.places.roots()
    run = BenchRun(
        roots.demonstration if manifest.demonstration else roots.public, manifest.model, manifest.run_id
    )
    with announced(project.places, run, manifest):
        assert [*announcements(project.places)] == [], "nobody holds its lock"
        with locked(project.places.lock(bench_name(manifest.run_id)), wait=False, holder="a test"):
            [(found, prepared)] = announcements(project.places)
            assert (found.run_id, prepared) == (manifest.run_id, manifest)
            before = bench_standing(found, project.places, NOON, prepared)
            run.begin(manifest)
            assert [*announcements(project.places)] == []
            after = bench_standing(found, project.places, NOON, prepared)
    assert (before.planned, before.at_work) == (after.planned, None)
    assert after.at_work is not None
