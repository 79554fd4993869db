"""Checks of untrusted code run in a sandbox of their own: no network, two folders, nothing else."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from runner.datasets import run_check
from runner.datasets.checking import CheckRun
from runner.records import CheckStatus
from tests.isolation.levels import isolation

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is for Linux only")


def check(code: str, workspace: Path, seconds: float = 20.0) -> CheckRun:
    return run_check(
        ["python", "-c", code],
        workspace=workspace,
        timeout_seconds=seconds,
        wrap=isolation("sandbox").check_wrap(),
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


def test_a_check_writes_in_its_workspace_and_its_home(workspace: Path) -> None:
    code = "import os; open('made', 'w').write('x'); open(os.environ['HOME'] + '/y', 'w').write('y')"
    assert check(code, workspace).status is CheckStatus.PASSED
    assert (workspace / "made").read_text() == "x"


def test_a_check_sees_nothing_beside_its_workspace(workspace: Path) -> None:
    (workspace.parent / "solution.diff").write_text("secret")
    run = check(f"import os; print(os.listdir({str(workspace.parent)!r}))", workspace)
    assert run.output_tail.strip() == "['workspace']"


def test_a_check_reaches_no_network(workspace: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        run = check(
            f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))", workspace
        )
    assert run.status is CheckStatus.FAILED
    assert "ConnectionRefusedError" in run.output_tail


def test_a_check_may_use_its_own_loopback(workspace: Path) -> None:
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); "
        "socket.create_connection(s.getsockname()).close()"
    )
    assert check(code, workspace).status is CheckStatus.PASSED


def test_a_check_is_ended_at_its_deadline_with_all_it_started(workspace: Path) -> None:
    mark = f"mark-{os.getpid()}-{workspace.parent.name}"
    code = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60) # {mark}'],"
        " start_new_session=True)\n"
        "time.sleep(60)"
    )
    run = check(code, workspace, seconds=1.0)
    assert run.status is CheckStatus.TIMEOUT
    commands = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in _read(path)]
    assert commands == []


def test_a_failing_check_keeps_its_exit_code(workspace: Path) -> None:
    assert check("import sys; sys.exit(5)", workspace).exit_code == 5


def test_a_check_that_is_not_there_is_our_error(workspace: Path) -> None:
    run = run_check(
        ["no-such-program"],
        workspace=workspace,
        timeout_seconds=5,
        wrap=isolation("sandbox").check_wrap(),
    )
    assert run.status is CheckStatus.ERROR


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
