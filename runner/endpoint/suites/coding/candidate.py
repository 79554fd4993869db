"""Candidate: runs what a model wrote in a process of its own, with limits, and never on the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.endpoint.suites.coding import driver

Confine = Callable[[Sequence[str], Path, Path], Sequence[str]]
"""From a command, its workspace and its home to the command that runs it without a network."""
MAX_OUTPUT = 4_000_000


@dataclass(frozen=True)
class CandidateLimits:
    """What one run of candidate code may use. ``seconds`` is for each check, ``wall_seconds`` for all."""

    seconds: float = 2.0
    wall_seconds: float = 20.0
    cpu_seconds: int = 15
    memory_bytes: int = 512 * 1024 * 1024
    file_bytes: int = MAX_OUTPUT


@dataclass(frozen=True)
class CheckRun:
    """What a check gave back. ``value`` counts only where ``raised`` is None."""

    value: object = None
    raised: str | None = None
    text: str = ""


@dataclass(frozen=True)
class TestRun:
    """The repository's own tests: name and failure of each, which is empty for one that passed."""

    __test__ = False
    lines: tuple[tuple[str, str], ...]
    note: str = ""
    """Why there are fewer lines than there should be."""

    @property
    def green(self) -> bool:
        """Whether there were tests and all passed."""
        return bool(self.lines) and not self.note and all(not failure for _, failure in self.lines)

    @property
    def report(self) -> str:
        """As the model reads it."""
        said = [f"FAIL {name}: {failure}" if failure else f"PASS {name}" for name, failure in self.lines]
        passing = sum(not failure for _, failure in self.lines)
        return "\n".join([*said, *([self.note] if self.note else []), f"{passing}/{len(self.lines)} passing"])


@dataclass(frozen=True)
class Workbench:
    """A place to run candidate code.

    Args:
        confine: puts a command into a sandbox; None runs it as a plain process with limits.
        python: the interpreter, as it is called where the command runs; 3.10 or newer.
    """

    confine: Confine | None = None
    python: str = sys.executable
    limits: CandidateLimits = field(default_factory=CandidateLimits)

    async def checks(self, files: Mapping[str, str], codes: Sequence[str]) -> tuple[CheckRun, ...]:
        """What each of ``codes`` gives back in a repository of ``files``; one entry each, in order."""
        said, note = await asyncio.to_thread(self._run, dict(files), list(codes), False)
        found = [_check_run(line) for line in said[: len(codes)]]
        lost = CheckRun(raised="NoAnswer", text=note or "the process ended before this check")
        return (*found, *([lost] * (len(codes) - len(found))))

    async def tests(self, files: Mapping[str, str]) -> TestRun:
        """The result of the repository's own tests."""
        said, note = await asyncio.to_thread(self._run, dict(files), [], True)
        rows = said[0].get("tests") if said else None
        if not isinstance(rows, list):
            return TestRun((), note or "the tests ended without a result")
        return TestRun(tuple((str(row[0]), str(row[1])) for row in rows), note)

    def _run(
        self, files: dict[str, str], codes: list[str], tests: bool
    ) -> tuple[list[dict[str, object]], str]:
        limits = self.limits
        job = {
            "checks": codes,
            "tests": tests,
            "seconds": limits.seconds,
            "limits": {
                "cpu_seconds": limits.cpu_seconds,
                "memory_bytes": limits.memory_bytes,
                "file_bytes": limits.file_bytes,
            },
        }
        with tempfile.TemporaryDirectory(prefix="candidate-", ignore_cleanup_errors=True) as folder:
            workspace, home = Path(folder) / "work", Path(folder) / "home"
            home.mkdir()
            _materialised(files, workspace)
            command: Sequence[str] = (self.python, "-I", "-S", "-B", "-c", _source(), str(workspace))
            if self.confine is not None:
                command = self.confine(command, workspace, home)
            return _supervised(command, json.dumps(job).encode(), Path(folder), home, limits.wall_seconds)


def _source() -> str:
    return Path(driver.__file__).read_text(encoding="utf-8")


def _materialised(files: Mapping[str, str], workspace: Path) -> None:
    workspace.mkdir()
    for name, text in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _supervised(
    command: Sequence[str], job: bytes, folder: Path, home: Path, seconds: float
) -> tuple[list[dict[str, object]], str]:
    """Lines that the process said, and why it said no more; it and its group are gone afterwards."""
    (folder / "job").write_bytes(job)
    environment = {"PATH": os.defpath, "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8"}
    with (
        (folder / "job").open("rb") as asked,
        (folder / "said").open("w+b") as said,
        (folder / "noise").open("wb") as noise,
    ):
        process = subprocess.Popen(
            list(command),
            stdin=asked,
            stdout=said,
            stderr=noise,
            env={**environment, "PYTHONHASHSEED": "0"},
            cwd=folder,
            start_new_session=True,
        )
        in_time = _ended(process, seconds)
        # Not reaped yet, so that the number of the group cannot be anybody else's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        note = f"the process ended with {_ending(code)}" if code else ""
        said.seek(0)
        return _objects(said.read(MAX_OUTPUT)), note if in_time else f"stopped after {seconds:g} s"


def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait until the process has ended, without reaping it; False where it has not after so long."""
    deadline = time.monotonic() + seconds
    pause = 0.005
    while not _is_over(process):
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    return True


def _is_over(process: subprocess.Popen[bytes]) -> bool:
    if not hasattr(os, "waitid"):  # macOS
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _objects(data: bytes) -> list[dict[str, object]]:
    """The lines that are JSON objects, up to the first that is none."""
    found: list[dict[str, object]] = []
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict):
            break
        found.append(value)
    return found


def _check_run(line: Mapping[str, object]) -> CheckRun:
    if "raised" in line or not line.get("whole"):
        return CheckRun(raised=str(line.get("raised", "TooLong")), text=str(line.get("text", ""))[:600])
    try:
        return CheckRun(json.loads(str(line.get("result"))))
    except (ValueError, RecursionError):
        return CheckRun(raised="Unreadable", text="the value cannot be read")
