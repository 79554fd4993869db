"""Child: a started process with its pipes, attended to in turns by the thread that started it."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from runner.datasets.lifetime import die_with_parent
from runner.engine.draining import BoundedEnd, BoundedFile, Lines
from runner.engine.isolation.wrapped import WrappedLaunch
from runner.engine.processes import Process, descendants, signal_all
from runner.harnesses.base import Launch, stderr_beside

CHUNK = 64 * 1024
STDERR_TAIL = 16 * 1024
KILL_SECONDS = 10.0
AGAIN_SECONDS = 0.1


class Child:
    """A process in a session of its own.

    Nothing happens behind the caller's back: pipes are read and fed only in :meth:`attend` and the methods
    that wait. No thread is needed, and none can be left behind by a pipe that somebody keeps open.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        stdout: Path,
        output_limit: int,
        on_line: Callable[[str], None] | None,
    ) -> None:
        self._selector = selectors.DefaultSelector()
        self._pidfd: int | None = None
        self.output = BoundedFile(stdout, output_limit)
        self.errors = BoundedEnd(STDERR_TAIL)
        self._kept_errors = BoundedFile(stderr_beside(stdout), output_limit) if launch.keep_stderr else None
        self.printed = 0
        self._wrapped = isinstance(launch, WrappedLaunch)
        self._lines = Lines(on_line) if on_line is not None else None
        self._input = memoryview(launch.stdin)
        self._seen: set[Process] = set()
        try:
            self._process = subprocess.Popen(
                launch.command,
                cwd=launch.working_directory,
                env=dict(launch.environment),
                stdin=subprocess.PIPE if launch.stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=None if self._wrapped else die_with_parent(),
            )
        except BaseException:
            self._selector.close()
            self._close_files()
            raise
        try:
            self._register()
        except BaseException:
            # Without descriptors to attend to it by, it would run on with nobody to stop it.
            self.kill()
            self.close(0.0)
            raise

    def _register(self) -> None:
        process = self._process
        for pipe, take in ((process.stdout, self._take_output), (process.stderr, self._take_error)):
            if pipe is not None:
                self._selector.register(pipe, selectors.EVENT_READ, take)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE, self._feed)
        if sys.platform.startswith("linux"):
            self._pidfd = os.pidfd_open(process.pid)
            self._selector.register(self._pidfd, selectors.EVENT_READ, None)

    @property
    def ended(self) -> bool:
        """Whether the process itself has ended."""
        return self._process.poll() is not None

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    def attend(self, seconds: float) -> None:
        """Read and feed the pipes that are ready, after at most ``seconds`` of waiting."""
        for key, _ in self._selector.select(seconds):
            if key.data is not None:
                key.data(key.fileobj)

    def count_processes(self) -> int:
        """How many processes there are below it; notes each, in case one gets away later."""
        below = descendants(self._process.pid)
        self._seen |= below
        return len(below)

    def ask_to_end(self, grace_seconds: float) -> None:
        """The polite signal to everything below; returns when the process ends or the grace is over.

        What an agent prints on its way out is still read.
        """
        below = descendants(self._process.pid)
        self._seen |= below
        if not self._wrapped:
            self._signal_group(signal.SIGTERM)
        signal_all(below, signal.SIGTERM)
        self._attend_until_ended(grace_seconds)

    def kill(self) -> None:
        """End everything that came from the process, now."""
        if self._wrapped:
            # The first process of an isolation clears up when what it waits for is gone, so it is left to it.
            deadline = time.monotonic() + KILL_SECONDS
            while not self.ended and time.monotonic() < deadline:
                # The agent may have stopped it, and may do so again as long as anything of the agent is left.
                self._signal_group(signal.SIGCONT)
                signal_all(descendants(self._process.pid), signal.SIGKILL)
                self.attend(AGAIN_SECONDS)
        self._signal_group(signal.SIGKILL)
        self._process.wait()
        signal_all(self._seen, signal.SIGKILL)

    def close(self, grace_seconds: float) -> None:
        """Read what is left in the pipes, then close them; a stranger may hold them open, so not for ever."""
        deadline = time.monotonic() + grace_seconds
        with contextlib.suppress(KeyError, ValueError):
            if self._process.stdin is not None:
                self._selector.unregister(self._process.stdin)
        if self._pidfd is not None:
            # One that no selector would take is not known to it.
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(self._pidfd)
            os.close(self._pidfd)
        while self._selector.get_map() and time.monotonic() < deadline:
            self.attend(0.1)
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._close_files()

    def _close_files(self) -> None:
        for file in (self.output, self._kept_errors):
            if file is not None:
                file.close()

    def _attend_until_ended(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self.ended and (left := deadline - time.monotonic()) > 0:
            self.attend(min(left, 0.1))

    def _take_output(self, pipe: IO[bytes]) -> None:
        if data := self._read(pipe):
            self.output.add(data)
            if self._lines is not None:
                self._lines.add(data)

    def _take_error(self, pipe: IO[bytes]) -> None:
        if data := self._read(pipe):
            self.errors.add(data)
            if self._kept_errors is not None:
                self._kept_errors.add(data)

    def _read(self, pipe: IO[bytes]) -> bytes:
        data = os.read(pipe.fileno(), CHUNK)
        self.printed += len(data)
        if not data:
            self._selector.unregister(pipe)
        return data

    def _feed(self, pipe: IO[bytes]) -> None:
        try:
            self._input = self._input[os.write(pipe.fileno(), self._input[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            self._input = memoryview(b"")
        if not self._input:
            self._selector.unregister(pipe)
            with contextlib.suppress(OSError):
                pipe.close()

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
