"""Checking: runs a command on a workspace, in a process group of its own, within limits."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from runner.datasets.lifetime import die_with_parent
from runner.datasets.removal import remove
from runner.records import CheckStatus

TAIL_CHARACTERS = 4000
KEPT_BYTES = 2_000_000
_GRACE_SECONDS = 2.0
_LOOK_SECONDS = 0.25


class CheckStopped(Exception):
    """A check was stopped before it ended, as the user wants nothing to go on."""


@dataclass(frozen=True)
class CheckRun:
    """How a command ended. ``exit_code`` is null where there is none; a signal is a negative number."""

    status: CheckStatus
    exit_code: int | None
    duration_seconds: float
    output_tail: str
    output: str = ""
    """As much of the end of what was printed as names of tests are looked for in."""


class _Tail:
    """Keeps the end of a stream, read in a thread of its own, so that no child waits for a reader.

    The thread closes the stream, and it alone: closing wakes no reader, and one that the system interrupts
    would read on by the bare number, which may be another stream's by then.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept: deque[bytes] = deque()
        self._size = 0
        self._lock = threading.Lock()
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._stream, selectors.PollSelector() as selector:
            selector.register(self._stream, selectors.EVENT_READ)
            while not self._enough.is_set():
                if not selector.select(_LOOK_SECONDS):
                    continue
                chunk = os.read(self._stream.fileno(), 65536)
                if not chunk:
                    return
                with self._lock:
                    self._kept.append(chunk)
                    self._size += len(chunk)
                    while self._size - len(self._kept[0]) >= KEPT_BYTES:
                        self._size -= len(self._kept.popleft())

    def text(self) -> str:
        """What was kept; waits a moment for the stream to end, which a stranger may hold open."""
        self._thread.join(_GRACE_SECONDS)
        self._enough.set()
        self._thread.join()
        with self._lock:
            return b"".join(self._kept).decode("utf-8", "replace")


def run_check(
    command: Sequence[str],
    *,
    workspace: Path,
    timeout_seconds: float,
    environment: Mapping[str, str] | None = None,
    wrap: Callable[[Sequence[str], Path, Path], Sequence[str]] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> CheckRun:
    """Run ``command`` in ``workspace``. Exit code 0 is a pass, everything else a failure.

    The process gets no input, a private home that is removed afterwards, and an environment built from
    nothing plus ``environment``. At the deadline, and when the command has ended, its whole process group is
    killed. ``python`` as the first word is the interpreter that runs us.

    ``wrap`` makes of the command, the workspace and the home the command that is really started, such as
    one that runs it in a sandbox; it may change neither folder nor the environment.

    Raises:
        CheckStopped: ``stopped`` became true; everything that was started is gone.
    """
    if stopped():
        raise CheckStopped
    words = [sys.executable, *command[1:]] if command[0] in {"python", "python3"} else list(command)
    begun = time.monotonic()
    home = Path(tempfile.mkdtemp(prefix="check-"))
    try:
        variables = {**minimal_environment(home), **(environment or {})}
        try:
            if wrap is not None:
                _require_program(words[0], workspace, variables["PATH"])
                words = list(wrap(words, workspace, home))
            process = subprocess.Popen(
                words,
                cwd=workspace,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent() if wrap is None else None,
            )
        except (OSError, ValueError) as error:
            reason = f"the command could not be started: {error}"
            return CheckRun(CheckStatus.ERROR, None, time.monotonic() - begun, reason[:TAIL_CHARACTERS])
        return _watch(process, timeout_seconds, begun, stopped)
    finally:
        remove(home)


def minimal_environment(home: Path) -> dict[str, str]:
    """Environment for code that is not trusted: where programs are, a home, and nothing of ours."""
    return {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
    }


def _require_program(word: str, workspace: Path, search_path: str) -> None:
    """Raise as a start of ``word`` would, which a wrapper would turn into an exit code like any other."""
    if shutil.which(workspace / word if "/" in word else word, path=search_path) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), word)


def _watch(
    process: subprocess.Popen[bytes], timeout_seconds: float, begun: float, stopped: Callable[[], bool]
) -> CheckRun:
    if process.stdout is None:
        raise AssertionError("the process was started with a pipe")
    tail = _Tail(process.stdout)
    exit_code: int | None = None
    status = CheckStatus.TIMEOUT
    try:
        while (left := begun + timeout_seconds - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                exit_code = process.wait(min(left, _LOOK_SECONDS))
                status = CheckStatus.PASSED if exit_code == 0 else CheckStatus.FAILED
                break
            if stopped():
                raise CheckStopped
    finally:
        duration = time.monotonic() - begun
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        text = tail.text()
    return CheckRun(status, exit_code, duration, text[-TAIL_CHARACTERS:], text)
