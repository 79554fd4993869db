"""A run goes on without its terminal, as a real process; it is looked at, stopped, killed, taken up again."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from runner.engine.command import run_command
from runner.engine.detached import Stamped
from runner.engine.detaching import Order, detach
from runner.engine.journal import RunState, read_state
from runner.engine.places import Places
from runner.engine.processes import Process, identify, is_alive
from runner.engine.status import Status, status_of
from runner.engine.status_command import status_command
from runner.engine.stopping import stop_command
from runner.errors import ConfigurationError, UsageError
from runner.store import ResultsStore
from tests.engine.standin import HARNESS, PROVIDER, script

PROJECT = Path(__file__).parent.parent.parent
KEY = "a-key-that-only-the-environment-holds-77"
ENVIRONMENT = {"PYTHONPATH": str(PROJECT), "DETACHED_KEY": KEY}
FLAGS = {
    "harness": HARNESS,
    "provider": PROVIDER,
    "model": "m",
    "count": 2,
    "concurrency": 1,
    "isolation": "none",
    "api_key_env": "DETACHED_KEY",
    "budget_tokens": 10**9,
}
WAITS = """
say(tokens=5)
go = pathlib.Path(__file__).with_name("go")
while not go.exists(): time.sleep(0.02)
change(); note()
"""


def call(places: Places, resume: str | None = None, **more: object) -> tuple[int, str]:
    output = io.StringIO()
    code = run_command(
        places,
        Console(file=output, width=200),
        config=None,
        flags={} if resume else {**FLAGS, **more},
        environment=ENVIRONMENT,
        resume=resume,
        detach=True,
    )
    return code, output.getvalue()


def look(places: Places) -> Status:
    [plan] = ResultsStore(places.results).plans()
    return status_of(plan, ResultsStore(places.results), places, datetime.now(UTC))


def until(places: Places, wanted: Callable[[Status], bool]) -> Status:
    deadline = time.monotonic() + 90
    while not wanted(status := look(places)):
        assert time.monotonic() < deadline, f"{status!r}\n{the_log(places)}"
        time.sleep(0.05)
    return status


def the_log(places: Places) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in places.artifacts.glob("runs/*/run.log"))


def until_gone(places: Places) -> Status:
    """How the run stands when its process is gone: it says that it ended before it prints its last lines."""
    status = until(places, lambda each: not each.runner.is_alive)
    [path] = places.artifacts.glob("runs/*/state.json")
    state = read_state(path)
    assert state is not None
    deadline = time.monotonic() + 90
    while is_alive(Process(state.pid, state.started or 0)):
        assert time.monotonic() < deadline, f"it ended, but does not go: {status!r}\n{the_log(places)}"
        time.sleep(0.02)
    return status


@pytest.fixture
def detached(places: Places) -> Iterator[tuple[Places, str]]:
    """A project with a detached run of two trials, the first of which waits, and what was said of it."""
    script(places, WAITS)
    code, output = call(places)
    assert code == 0
    try:
        yield places, output
    finally:
        [path] = (places.artifacts / "runs").glob("*/state.json")
        state = read_state(path)
        assert state is not None
        runner = Process(state.pid, state.started or 0)
        if is_alive(runner):
            os.kill(runner.pid, signal.SIGKILL)


def test_it_runs_apart_from_the_terminal_and_says_where_to_look(detached: tuple[Places, str]) -> None:
    places, output = detached
    status = until(places, lambda each: bool(each.running) and each.running[0].agent == "at work")
    pid, folder = status.runner.pid, Path(f"/proc/{status.runner.pid}")
    assert pid is not None
    assert os.getsid(pid) == pid != os.getsid(0)
    assert (folder / "fd/0").readlink() == Path("/dev/null")
    assert status.log is not None
    assert (folder / "fd/1").readlink() == (folder / "fd/2").readlink() == places.root / status.log
    assert KEY.encode() not in (folder / "cmdline").read_bytes()
    for said in (
        f"plan: {status.plan_id}",
        f"log: {status.log}",
        f"invoke status --plan {status.plan_id} --follow",
        f"invoke stop --plan {status.plan_id}",
    ):
        assert said in output
    assert (status.done, len(status.running), status.left) == (0, 1, 1)
    assert status.eta.seconds is None
    os.kill(pid, signal.SIGHUP)
    (places.harnesses / "go").touch()
    ended = until_gone(places)
    assert (ended.runner.state, ended.runner.exit_code, ended.done) == ("ended", 0, 2)
    assert ended.resume is None
    log = (places.root / status.log).read_text(encoding="utf-8").splitlines()
    lines = [line for line in log if line]
    assert all(datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S").year > 2000 for line in lines)
    assert any(line.endswith("2 of 2 trials finished: 2 completed") for line in lines)
    assert not [
        each for each in (places.artifacts / "runs").rglob("*.*") if KEY.encode() in each.read_bytes()
    ]


def test_it_is_asked_to_stop_first_gently_and_then_at_once(detached: tuple[Places, str]) -> None:
    places, _ = detached
    until(places, lambda each: bool(each.running) and each.running[0].agent == "at work")
    said: list[str] = []
    assert stop_command(places, said.append, plan_id=None, now=False) == 0
    assert "starts nothing more; 1 trials in flight are finished first" in said[0], the_log(places)
    assert look(places).runner.stopping == "no more"
    stop_command(places, said.append, plan_id=look(places).plan_id, now=True)
    status = until_gone(places)
    assert (status.done, status.left, status.runner.state, status.runner.exit_code) == (0, 2, "ended", 3)
    with pytest.raises(UsageError, match="nobody is at work on"):
        stop_command(places, said.append, plan_id=status.plan_id, now=True)
    with pytest.raises(UsageError, match="nobody is at work on a plan"):
        stop_command(places, said.append, plan_id=None, now=False)


def test_a_killed_runner_is_told_as_such_and_another_one_goes_on(detached: tuple[Places, str]) -> None:
    places, _ = detached
    before = until(places, lambda each: bool(each.running) and each.running[0].agent == "at work")
    assert before.runner.pid is not None
    while not any(path.stat().st_size for path in (places.artifacts / "work").rglob("stdout")):
        time.sleep(0.02)
    os.kill(before.runner.pid, signal.SIGKILL)
    status = until_gone(places)
    assert (status.runner.state, status.running, status.left) == ("killed", (), 2)
    output = io.StringIO()
    assert status_command(places, Console(file=output, width=200)) == 3
    assert f"go on with: invoke run --resume {status.plan_id}" in output.getvalue()
    assert "runner: killed" in output.getvalue()
    (places.harnesses / "go").touch()
    code, said = call(places, resume=status.plan_id)
    assert code == 0
    assert f"plan: {status.plan_id}" in said
    followed = io.StringIO()
    assert status_command(places, Console(file=followed), follow=True, sleep=lambda _: time.sleep(0.05)) == 0
    assert "2 planned: 2 done, 0 running, 0 left" in followed.getvalue()
    shown = io.StringIO()
    status_command(places, Console(file=shown), as_json=True)
    told = json.loads(shown.getvalue())
    assert (told["status"]["done"], told["unfinished"]) == (2, [])
    assert told["status"]["tokens"] == 15


def test_a_mistake_shows_at_once_and_nothing_is_left_behind(places: Places) -> None:
    script(places, WAITS)
    with pytest.raises(UsageError, match="needs --model"):
        call(places, model=None)
    assert not (places.artifacts / "runs").exists()
    assert not list(places.root.rglob("plans/*.json"))
    with pytest.raises(UsageError, match="there is no plan yet"):
        status_command(places, Console(file=io.StringIO()))


def test_a_runner_that_ended_at_once_is_told_where_an_earlier_one_had_its_number(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, now = places.state("run-1"), datetime.now(UTC)

    class Renumbered(subprocess.Popen[bytes]):
        """A process with the number of the one that worked on the plan before the machine was restarted."""

        def __init__(self, *words: Any, **named: Any) -> None:
            super().__init__(*words, **named)
            earlier = RunState(plan_id="run-1", pid=self.pid, started=1, begun_at=now, heartbeat=now)
            path.write_text(earlier.model_dump_json(), encoding="utf-8")

    monkeypatch.setattr(subprocess, "Popen", Renumbered)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(ConfigurationError, match="ended before it took up the plan"):
        detach(places, "run-1", Order(flags={}), {}, lambda _: None)


def test_a_signal_goes_only_to_the_very_process_that_said_it_is_at_work(places: Places) -> None:
    me = identify(os.getpid())
    assert me is not None
    assert is_alive(me)
    assert not is_alive(Process(me.pid, me.started + 1))


def test_the_lines_of_a_log_carry_their_time() -> None:
    file = io.StringIO()
    stamped = Stamped(file, lambda: datetime(2026, 1, 2, 3, 4, 5))
    for part in ("one", " line\nan", "other\n", "\n", "last"):
        assert stamped.write(part) == len(part)
    stamped.flush()
    expected = "2026-01-02 03:04:05 one line\n2026-01-02 03:04:05 another\n\n2026-01-02 03:04:05 last"
    assert file.getvalue() == expected
