"""Supervision: one child process, its whole group, within its deadline, its output drained to a file."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from runner.harnesses.base import Launch

OUTPUT_LIMIT = 256 * 1024 * 1024
STDERR_TAIL = 16 * 1024
CHUNK = 64 * 1024
GRACE_SECONDS = 3.0
POLL_SECONDS = 0.1
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Finished:
    """How a child ended. ``exit_code`` is None when a signal ended it."""

    exit_code: int | None
    timed_out: bool
    cancelled: bool
    started_at: datetime
    ended_at: datetime
    duration_seconds: float
    stderr_tail: str
    output_cut: bool


def supervise(
    launch: Launch,
    *,
    stdout: Path,
    timeout_seconds: float | None,
    cancelled: threading.Event,
    on_line: Callable[[str], None] | None = None,
) -> Finished:
    """Run a child to its end, its deadline or a cancellation; nothing of its process group is left.

    Args:
        launch: what to start.
        stdout: file that receives the child's standard output, cut at ``OUTPUT_LIMIT`` bytes.
        timeout_seconds: wall clock; then SIGTERM to the group, a grace period, SIGKILL.
        cancelled: set by the caller to end the child early.
        on_line: called with each line of output, for a live trace.

    Raises:
        OSError: the child could not be started.
    """
    started_at, begun = datetime.now(UTC), time.monotonic()
    process = subprocess.Popen(
        launch.command,
        cwd=launch.working_directory,
        env=dict(launch.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_die_with_parent(),
    )
    drain = _Drain(process, stdout, on_line)
    feeder = threading.Thread(target=_feed, args=(process, launch.stdin), daemon=True)
    feeder.start()
    timed_out = was_cancelled = False
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL_SECONDS)
            break
        timed_out = timeout_seconds is not None and time.monotonic() - begun > timeout_seconds
        was_cancelled = cancelled.is_set()
        if timed_out or was_cancelled:
            _end_group(process)
            break
    _kill_group(process.pid)
    process.wait()
    drain.join()
    feeder.join(GRACE_SECONDS)
    return Finished(
        exit_code=process.returncode if process.returncode >= 0 else None,
        timed_out=timed_out,
        cancelled=was_cancelled and not timed_out,
        started_at=started_at,
        ended_at=datetime.now(UTC),
        duration_seconds=round(time.monotonic() - begun, 3),
        stderr_tail=drain.stderr_tail(),
        output_cut=drain.cut,
    )


class _Drain:
    """Reads both pipes to their end in threads, so that a child never blocks on a full pipe."""

    def __init__(
        self, process: subprocess.Popen[bytes], stdout: Path, on_line: Callable[[str], None] | None
    ) -> None:
        self.cut = False
        self._tail = b""
        self._process = process
        self._threads = (
            threading.Thread(target=self._copy, args=(process.stdout, stdout, on_line), daemon=True),
            threading.Thread(target=self._keep_tail, args=(process.stderr,), daemon=True),
        )
        for thread in self._threads:
            thread.start()

    def _copy(self, pipe: IO[bytes], path: Path, on_line: Callable[[str], None] | None) -> None:
        written, line = 0, b""
        with path.open("wb") as file:
            while chunk := os.read(pipe.fileno(), CHUNK):
                room = OUTPUT_LIMIT - written
                file.write(chunk[:room])
                written += min(len(chunk), max(room, 0))
                self.cut = self.cut or len(chunk) > room
                if on_line is not None:
                    *lines, line = (line + chunk).split(b"\n")
                    line = line[-CHUNK:]
                    for whole in lines:
                        on_line(whole.decode("utf-8", "replace"))

    def _keep_tail(self, pipe: IO[bytes]) -> None:
        while chunk := os.read(pipe.fileno(), CHUNK):
            self._tail = (self._tail + chunk)[-STDERR_TAIL:]

    def join(self) -> None:
        """Wait for the pipes to end; a process that left the group may hold them, so not for ever."""
        for thread in self._threads:
            thread.join(GRACE_SECONDS)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None and not any(thread.is_alive() for thread in self._threads):
                pipe.close()

    def stderr_tail(self) -> str:
        """The last part of the error output, as text."""
        return self._tail.decode("utf-8", "replace")


def _feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    if process.stdin is None:
        return
    with contextlib.suppress(BrokenPipeError, OSError):
        process.stdin.write(data)
    with contextlib.suppress(BrokenPipeError, OSError):
        process.stdin.close()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _die_with_parent() -> Callable[[], None] | None:
    """On Linux the kernel ends the child when the runner is killed: no paid agent runs on alone."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)

    def request() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    return request
