"""A sweep whose runner is killed: what it left is in nobody's way, and its record is made all the same."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from runner.engine.places import Places
from runner.engine.sweeps import command
from runner.replay import STAND_IN, ReplayServer
from runner.serving.database import holder_of
from tests.engine.sweeps.test_command import FAST, ROOT, SMALL, records, sweep, talks_at

PROGRAM = """
import json, sys
from pathlib import Path
from tests.engine.sweeps.kill_points import sweep
sys.exit(sweep(Path(sys.argv[1]), **json.loads(sys.argv[2])))
"""
PATIENCE = 120.0
POINTS = range(1, 60, 5)
"""Of some sixty from asking for the end to the end."""


def killed_once(places: Places, is_time: Callable[[], Iterable[object]], **given: Any) -> None:
    """Sweep in a process of its own, and kill it when it is time; its collector has ended by the return."""
    command = [sys.executable, "-c", PROGRAM, str(places.root), json.dumps(given)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as runner:
        deadline = time.monotonic() + PATIENCE
        while not [*is_time()]:
            assert runner.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        runner.send_signal(signal.SIGKILL)
        assert runner.wait() == -signal.SIGKILL
    for database in places.artifacts.glob("sweeps/*/metrics.duckdb"):
        while holder_of(database) is not None:
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places(tmp_path / "project")
    found.root.mkdir()
    found.datasets.symlink_to(ROOT / "datasets")
    return found


def test_agents_of_a_killed_sweep_do_not_make_those_of_the_next_runner_fail(places: Places) -> None:
    flags = {"load": "agents", "provider": "replay", "model": "replay-careful", "isolation": "none"}
    times = {"levels": "2", "window_seconds": "1", "interval_seconds": "0.2"}
    killed_once(places, lambda: places.artifacts.glob("work/*/*/workspace"), **flags, **times)
    code, shown = sweep(places, resume=True)
    assert code == 0, shown
    ((level,),) = (record.levels for record in records(places))
    assert {session.status for session in level.sessions} <= {"ok", "cutoff"}, shown
    assert not [*places.artifacts.glob("work/*/*")]


def test_a_kill_at_the_end_of_a_sweep_leaves_one_record_with_its_scrapes(
    places: Places, tmp_path: Path
) -> None:
    with ReplayServer(places.cassettes, service=FAST) as server:
        given = {"endpoint": f"{server.base_url}/v1", "model": STAND_IN, "levels": "1,2", **SMALL}
        kept = "sweeps/*/levels/1.json"
        times = {"window_seconds": "1", "interval_seconds": "0.1"}
        killed_once(places, lambda: places.artifacts.glob(kept), **given, **times)
    command = [sys.executable, "-m", "tests.engine.sweeps.kill_points", str(places.root), str(tmp_path)]
    ended = subprocess.run(
        [*command, *map(str, POINTS)], cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=PATIENCE
    )
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert sum(each["first"] == -signal.SIGKILL for each in found) >= 8
    whole = {"levels": [[True]], "scrapes": [True], "archives": 1, "faults": [], "databases": []}
    assert [each for each in found if {name: each[name] for name in whole} != whole] == []


def test_a_second_ctrl_c_ends_a_sweep_with_3_and_says_how_it_goes_on(places: Places) -> None:
    with ReplayServer(places.cassettes, service=FAST) as server:
        times = {"levels": "1", "window_seconds": "60"}
        given = {"endpoint": f"{server.base_url}/v1", "model": STAND_IN, **times}
        command = [sys.executable, "-u", "-c", PROGRAM, str(places.root), json.dumps(given)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as runner:
            deadline = time.monotonic() + PATIENCE
            # Its collector starts: that is waited for without a look at what the user wants.
            while not [*places.artifacts.glob("sweeps/*/*.log")]:
                assert runner.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.005)
            runner.send_signal(signal.SIGINT)
            assert runner.stdout is not None
            while "is given up" not in runner.stdout.readline():
                assert runner.poll() is None
            runner.send_signal(signal.SIGINT)
            shown, _ = runner.communicate(timeout=PATIENCE)
            assert runner.returncode == 3, shown
    assert "levels kept: none; go on with: invoke sweep --resume=sweep-" in shown


def test_ctrl_c_while_the_figures_of_a_sweep_are_shown_does_not_tell_to_go_on_with_it(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_of: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "outcome_lines", interrupted)
    with ReplayServer(places.cassettes, service=FAST) as server:
        code, shown = sweep(places, **talks_at(server))
    [record] = records(places)
    assert code == 0
    assert f"{record.sweep_id} is recorded" in shown
    assert "--resume" not in shown
