"""A supervised child ends within its limits, with its whole group, whatever it does."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from runner.engine.supervision import Finished, supervise
from runner.harnesses.base import Launch


def launch(script: str, folder: Path, stdin: bytes = b"") -> Launch:
    """A Python child that runs ``script``."""
    return Launch(
        command=(sys.executable, "-c", textwrap.dedent(script)),
        environment={"PATH": os.environ["PATH"]},
        working_directory=folder,
        stdin=stdin,
    )


def run(script: str, folder: Path, *, stdin: bytes = b"", timeout: float = 50.0) -> Finished:
    return supervise(
        launch(script, folder, stdin),
        stdout=folder / "out",
        timeout_seconds=timeout,
        cancelled=threading.Event(),
    )


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that waits for its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def gone(pid: int) -> bool:
    """Whether a process ends before its sleep does."""
    deadline = time.monotonic() + 40
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def test_an_agent_for_which_no_descriptor_is_left_does_not_run_on_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    def none_left(pid: int) -> int:
        begun.append(pid)
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", none_left)
    with pytest.raises(OSError, match="Too many open files"):
        run("import time; time.sleep(60)", tmp_path)
    assert not alive(*begun)


def test_output_and_exit_code_are_kept(tmp_path: Path) -> None:
    finished = run("import sys; print('hello'); sys.stderr.write('oh no'); sys.exit(7)", tmp_path)
    assert (tmp_path / "out").read_bytes() == b"hello\n"
    assert (finished.exit_code, finished.stderr_tail) == (7, "oh no")
    assert (finished.timed_out, finished.cancelled, finished.output_cut) == (False, False, False)
    assert finished.ended_at >= finished.started_at


def test_standard_input_is_fed_and_closed(tmp_path: Path) -> None:
    run("import sys; print(len(sys.stdin.read()))", tmp_path, stdin=b"x" * 300_000)
    assert (tmp_path / "out").read_bytes() == b"300000\n"


def test_a_child_that_never_reads_its_input_does_not_block_us(tmp_path: Path) -> None:
    finished = run("print('done')", tmp_path, stdin=b"x" * 3_000_000)
    assert finished.exit_code == 0


def test_a_silent_child_is_stopped_at_its_deadline(tmp_path: Path) -> None:
    finished = run("import time; time.sleep(60)", tmp_path, timeout=0.5)
    assert (finished.timed_out, finished.exit_code) == (True, None)
    assert finished.duration_seconds < 50


def test_a_child_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    finished = run(script, tmp_path, timeout=0.5)
    assert finished.timed_out
    assert finished.duration_seconds < 50


def test_grandchildren_do_not_outlive_a_stopped_child(tmp_path: Path) -> None:
    script = """
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(child.pid, flush=True)
        time.sleep(60)
    """
    cancelled = threading.Event()
    finished = supervise(
        launch(script, tmp_path),
        stdout=tmp_path / "out",
        timeout_seconds=50,
        cancelled=cancelled,
        on_line=lambda _: cancelled.set(),
    )
    assert finished.cancelled
    assert gone(int((tmp_path / "out").read_text()))


def test_grandchildren_do_not_outlive_a_child_that_ends_by_itself(tmp_path: Path) -> None:
    script = """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(child.pid, flush=True)
    """
    finished = run(script, tmp_path)
    assert (finished.exit_code, finished.timed_out) == (0, False)
    assert gone(int((tmp_path / "out").read_text()))


def test_of_a_flood_of_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    finished = supervise(
        launch("for n in range(200_000): print(f'line {n:020}')", tmp_path),
        stdout=tmp_path / "out",
        timeout_seconds=50,
        cancelled=threading.Event(),
        output_limit=1_000_000,
    )
    assert finished.output_cut
    assert 900_000 < (tmp_path / "out").stat().st_size <= 1_000_000
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines[0] == f"line {0:020}"
    assert lines[-1] == f"line {199_999:020}"
    whole = [line for line in lines if len(line) == 25]
    assert len(lines) - len(whole) <= 1, "only the line at the cut may be broken"


def test_output_just_below_the_limit_is_whole(tmp_path: Path) -> None:
    finished = supervise(
        launch("import sys; sys.stdout.write('x' * 99_999)", tmp_path),
        stdout=tmp_path / "out",
        timeout_seconds=50,
        cancelled=threading.Event(),
        output_limit=100_000,
    )
    assert not finished.output_cut
    assert (tmp_path / "out").read_bytes() == b"x" * 99_999


def test_only_the_end_of_a_flood_of_errors_is_kept(tmp_path: Path) -> None:
    finished = run(
        "import sys\nfor _ in range(2000): sys.stderr.write('e' * 1000)\nsys.stderr.write('END')", tmp_path
    )
    assert finished.stderr_tail.endswith("END")
    assert len(finished.stderr_tail) <= 16 * 1024


def test_bytes_that_are_no_text_pass_unchanged(tmp_path: Path) -> None:
    lines: list[str] = []
    supervise(
        launch("import os; os.write(1, bytes(range(256)) + b'\\n')", tmp_path),
        stdout=tmp_path / "out",
        timeout_seconds=50,
        cancelled=threading.Event(),
        on_line=lines.append,
    )
    assert (tmp_path / "out").read_bytes() == bytes(range(256)) + b"\n"
    assert lines, "the live trace shows them in some form"


def test_a_cancelled_child_ends_soon(tmp_path: Path) -> None:
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    finished = supervise(
        launch("import time; time.sleep(60)", tmp_path),
        stdout=tmp_path / "out",
        timeout_seconds=60,
        cancelled=cancelled,
    )
    assert (finished.cancelled, finished.timed_out) == (True, False)
    assert finished.duration_seconds < 50


def test_a_program_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    missing = Launch(command=("no-such-program",), environment={}, working_directory=tmp_path)
    with pytest.raises(FileNotFoundError):
        supervise(missing, stdout=tmp_path / "out", timeout_seconds=1, cancelled=threading.Event())


PARENT = """
import sys, threading
from pathlib import Path
from runner.engine.supervision import supervise
from runner.harnesses.base import Launch
folder = Path(sys.argv[1])
script = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
supervise(
    Launch(command=(sys.executable, "-c", script), environment={}, working_directory=folder),
    stdout=folder / "out", timeout_seconds=60, cancelled=threading.Event(),
    on_line=lambda text: (folder / "pid").write_text(text),
)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
def test_the_child_of_a_killed_runner_does_not_run_on(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)])
    deadline = time.monotonic() + 50
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert gone(int((tmp_path / "pid").read_text()))
