"""A check runs apart from us, within its limits, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from runner.datasets import checking, minimal_environment, run_check
from runner.datasets.checking import TAIL_CHARACTERS, CheckRun, CheckStopped
from runner.records import CheckStatus


def python(workspace: Path, code: str, seconds: float = 120.0) -> CheckRun:
    """Run Python code as a check."""
    return run_check(["python", "-c", code], workspace=workspace, timeout_seconds=seconds)


def is_running(pid: int) -> bool:
    """Whether a process lives; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


def test_exit_code_zero_and_only_that_passes(tmp_path: Path) -> None:
    assert python(tmp_path, "print('fine')").status is CheckStatus.PASSED
    failed = python(tmp_path, "import sys; print('broken'); sys.exit(3)")
    assert (failed.status, failed.exit_code, failed.output_tail) == (CheckStatus.FAILED, 3, "broken\n")


def test_a_crash_is_a_failure_with_its_signal(tmp_path: Path) -> None:
    run = python(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (run.status, run.exit_code) == (CheckStatus.FAILED, -11)


def test_python_is_the_interpreter_that_runs_us(tmp_path: Path) -> None:
    assert python(tmp_path, "import sys; print(sys.executable)").output_tail.strip() == sys.executable


def test_it_runs_in_the_workspace(tmp_path: Path) -> None:
    run = python(tmp_path, "import os; print(os.getcwd())")
    assert Path(run.output_tail.strip()) == tmp_path.resolve()


def test_a_command_that_is_not_there_is_our_error_and_not_the_patchs(tmp_path: Path) -> None:
    run = run_check(["no-such-program"], workspace=tmp_path, timeout_seconds=60)
    assert (run.status, run.exit_code) == (CheckStatus.ERROR, None)
    assert "no-such-program" in run.output_tail
    assert run_check(["a\0b"], workspace=tmp_path, timeout_seconds=60).status is CheckStatus.ERROR


def test_nothing_of_our_environment_reaches_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_API_KEY", "hunter2")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    run = python(tmp_path, "import os; print(sorted(os.environ))")
    assert "SECRET_API_KEY" not in run.output_tail
    assert "PYTHONPATH" not in run.output_tail
    assert set(minimal_environment(tmp_path)) >= {"PATH", "HOME", "LANG"}


def test_given_variables_are_added(tmp_path: Path) -> None:
    run = run_check(
        ["python", "-c", "import os; print(os.environ['EXTRA'])"],
        workspace=tmp_path,
        timeout_seconds=60,
        environment={"EXTRA": "value"},
    )
    assert run.output_tail == "value\n"


def test_its_home_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    run = python(tmp_path, "import os, pathlib; h = pathlib.Path.home(); (h / 'x').write_text('x'); print(h)")
    home = Path(run.output_tail.strip())
    assert home != Path(os.environ["HOME"])
    assert not home.exists()


def test_a_home_that_was_filled_with_deep_folders_is_gone_too(tmp_path: Path) -> None:
    code = (
        "import os, pathlib; os.chdir(pathlib.Path.home()); print(os.getcwd(), flush=True)\n"
        "for _ in range(1500): os.mkdir('d'); os.chdir('d')"
    )
    run = python(tmp_path, code)
    assert run.status is CheckStatus.PASSED
    assert not Path(run.output_tail.strip()).exists()


def test_it_gets_no_input(tmp_path: Path) -> None:
    assert python(tmp_path, "import sys; print(repr(sys.stdin.read()))").output_tail == "''\n"


def test_only_the_end_of_long_output_is_kept(tmp_path: Path) -> None:
    run = python(tmp_path, "for n in range(400_000): print('line', n)")
    assert len(run.output_tail) == TAIL_CHARACTERS
    assert run.output_tail.endswith("line 399999\n")


def test_output_that_is_no_text_is_kept_as_text(tmp_path: Path) -> None:
    run = python(tmp_path, "import sys; sys.stdout.buffer.write(b'caf\\xe9 \\xff\\x00')")
    assert run.output_tail == "caf\ufffd \ufffd\0"


def test_both_streams_are_kept_in_order(tmp_path: Path) -> None:
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr, flush=True); print('end')"
    assert python(tmp_path, code).output_tail == "out\nerr\nend\n"


def test_at_the_deadline_children_and_grandchildren_are_killed(tmp_path: Path) -> None:
    # Shells, since even on a busy machine they are at work long before the deadline.
    code = "sh -c 'sleep 60 & echo $$ $! > pids; wait' & echo started; wait"
    begun = time.monotonic()
    run = run_check(["sh", "-c", code], workspace=tmp_path, timeout_seconds=1.5)
    assert time.monotonic() - begun < 50
    assert (run.status, run.exit_code) == (CheckStatus.TIMEOUT, None)
    assert run.output_tail == "started\n"
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert all(wait_until_gone(pid) for pid in pids)


RUNNER = """
import sys
from pathlib import Path
from runner.datasets import run_check
code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(300)"
run_check(["python", "-c", code], workspace=Path(sys.argv[1]), timeout_seconds=300)
"""


def test_a_check_does_not_outlive_a_runner_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", RUNNER, str(tmp_path)]) as runner:
        deadline = time.monotonic() + 120
        pid = ""
        while not pid and time.monotonic() < deadline:
            time.sleep(0.02)
            with contextlib.suppress(FileNotFoundError):
                pid = (tmp_path / "pid").read_text()
        runner.kill()
    assert wait_until_gone(int(pid))


def test_what_a_check_leaves_running_is_killed_and_not_waited_for(tmp_path: Path) -> None:
    code = "import subprocess; p = subprocess.Popen(['sleep', '200']); print(p.pid)"
    begun = time.monotonic()
    run = python(tmp_path, code)
    assert time.monotonic() - begun < 100
    assert run.status is CheckStatus.PASSED
    assert wait_until_gone(int(run.output_tail))


def test_a_check_that_ignores_the_polite_signal_ends_at_the_deadline(tmp_path: Path) -> None:
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)"
    assert python(tmp_path, code, seconds=0.5).status is CheckStatus.TIMEOUT


def test_a_process_that_leaves_the_group_does_not_hold_us_up(tmp_path: Path) -> None:
    code = "import subprocess; p = subprocess.Popen(['sleep', '200'], start_new_session=True); print(p.pid)"
    begun = time.monotonic()
    run = python(tmp_path, code)
    os.kill(int(run.output_tail), 9)
    assert time.monotonic() - begun < 100


def test_no_reader_of_a_closed_pipe_is_left_to_read_what_is_another_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_GRACE_SECONDS", 0.05)
    monkeypatch.setattr(checking, "_LOOK_SECONDS", 0.05)
    before = set(threading.enumerate())
    # Not by its output: so impatient a reader may have seen none of it on a busy machine.
    code = "import subprocess; p = subprocess.Popen(['sleep', '200'], start_new_session=True)"
    python(tmp_path, f"{code}; open('pid', 'w').write(str(p.pid))")
    left = set(threading.enumerate()) - before
    os.kill(int((tmp_path / "pid").read_text()), 9)
    # Stopped and continued, such a reader goes on with whatever has the number of its pipe by then.
    assert not left


def test_a_wrapper_sees_command_workspace_and_home_and_decides_what_is_started(tmp_path: Path) -> None:
    seen: list[tuple[list[str], Path, Path]] = []

    def wrap(command: Sequence[str], workspace: Path, home: Path) -> Sequence[str]:
        seen.append((list(command), workspace, home))
        return ["env", "WRAPPED=yes", *command]

    code = "import os; print(os.environ['WRAPPED'], os.environ['HOME'])"
    run = run_check(["python", "-c", code], workspace=tmp_path, timeout_seconds=60, wrap=wrap)
    [(command, workspace, home)] = seen
    assert run.output_tail.split() == ["yes", str(home)]
    assert (command, workspace) == ([sys.executable, "-c", code], tmp_path)


@pytest.mark.parametrize("command", ["no-such-program", "./no-such-script", "a\0b"])
def test_a_command_that_is_not_there_is_our_error_also_behind_a_wrapper(tmp_path: Path, command: str) -> None:
    run = run_check(
        [command], workspace=tmp_path, timeout_seconds=60, wrap=lambda words, *_: ["env", "--", *words]
    )
    assert (run.status, run.exit_code) == (CheckStatus.ERROR, None)


def test_a_script_of_the_workspace_is_found_behind_a_wrapper(tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "check.sh").chmod(0o755)
    run = run_check(
        ["./check.sh"], workspace=tmp_path, timeout_seconds=60, wrap=lambda words, *_: ["env", *words]
    )
    assert run.status is CheckStatus.PASSED


def test_a_check_that_is_stopped_ends_at_once_with_everything_it_started(tmp_path: Path) -> None:
    code = (
        "import pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "pathlib.Path('pid').write_text(str(child.pid))\n"
        "time.sleep(60)"
    )
    pid = tmp_path / "pid"
    begun = time.monotonic()
    with pytest.raises(CheckStopped):
        run_check(
            ["python", "-c", code],
            workspace=tmp_path,
            timeout_seconds=60,
            stopped=lambda: pid.exists() and pid.read_text() != "",
        )
    assert time.monotonic() - begun < 30
    assert wait_until_gone(int(pid.read_text()))


def test_a_check_is_not_even_started_once_everything_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(CheckStopped):
        run_check(
            ["python", "-c", "open('ran', 'w')"], workspace=tmp_path, timeout_seconds=9, stopped=lambda: True
        )
    assert not (tmp_path / "ran").exists()
