"""Shell tool: runs one command in its own process group, within a time and an output limit."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from runner.harnesses.loop_agent.keeper import Keeper

MAX_OUTPUT_BYTES = 30_000
READ_BYTES = 65_536
DEFAULT_SECONDS = 120.0
MAX_SECONDS = 600.0
DRAIN_SECONDS = 0.2
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TERM")


@dataclass(frozen=True)
class CommandRun:
    """How a command ended. ``exit_code`` is None when it was killed at its time limit."""

    exit_code: int | None
    output: str


def command_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command of the model sees: a short list of harmless variables, never a key."""
    kept = {name: environment[name] for name in PASSED_ON if name in environment}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **kept}


def run_command(
    command: str,
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float = DEFAULT_SECONDS,
    keeper: Keeper | None = None,
) -> CommandRun:
    """Run ``command`` with the shell in ``folder``; output and errors come together, in order.

    Nothing that the command started in its process group outlives it.

    Raises:
        OSError: the shell cannot be started.
    """
    child = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    gathered = _Gathered()
    try:
        if child.stdout is not None:
            minding = keeper.minding(child.pid) if keeper else contextlib.nullcontext()
            with minding, child.stdout as stream:
                _gather(child, stream, gathered, time.monotonic() + min(seconds, MAX_SECONDS))
    finally:
        _kill_group(child.pid)
        child.wait()
    code = None if gathered.late else child.returncode
    return CommandRun(code, gathered.text())


class _Gathered:
    """First and last part of an output of any length."""

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.dropped = 0
        self.late = False

    def add(self, data: bytes) -> None:
        """Take more output: the first half stays, of the rest only the end."""
        half = MAX_OUTPUT_BYTES // 2
        room = half - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        self.tail += data
        if len(self.tail) > half:
            self.dropped += len(self.tail) - half
            self.tail = self.tail[-half:]

    def text(self) -> str:
        """What is kept, with the size of the gap."""
        gap = f"\n... {self.dropped} bytes left out ...\n".encode() if self.dropped else b""
        return (self.head + gap + self.tail).decode(errors="replace")


def _gather(child: subprocess.Popen[bytes], stream: IO[bytes], gathered: _Gathered, deadline: float) -> None:
    """Read until the pipe closes, the child has ended, or the deadline passes."""
    descriptor = stream.fileno()
    os.set_blocking(descriptor, False)
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                gathered.late = child.poll() is None
                return
            if selector.select(min(left, 0.1)):
                data = os.read(descriptor, READ_BYTES)
                if not data:
                    break
                gathered.add(data)
            elif child.poll() is not None:
                # A process left in the background holds the pipe open; the command itself is done.
                deadline = min(deadline, time.monotonic() + DRAIN_SECONDS)
                if not selector.select(DRAIN_SECONDS):
                    return
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(max(0.0, deadline - time.monotonic()))
    gathered.late = child.poll() is None


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
