"""Driver: the program that candidate code runs in. Its text is handed to a fresh interpreter.

It imports nothing of ours and knows no expected value: it runs what it is told and says what came out.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
import traceback
import unittest
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType

DENIED = (
    "os.fork",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "subprocess.",
    "socket.",
    "ctypes.",
)
MAX_TEXT = 600
MAX_RESULT = 20_000


class OutOfTime(BaseException):
    """A check took too long. No ordinary handler holds it up."""


def ring(_signal: int, _frame: FrameType | None) -> None:
    """The alarm of a check."""
    raise OutOfTime


def deny(event: str, _arguments: tuple[object, ...]) -> None:
    """Keeps honest mistakes in: no processes, no network. What confines hostile code is outside."""
    if event.startswith(DENIED):
        raise PermissionError(f"{event} is not allowed here")


def limit(job: Mapping[str, int]) -> None:
    """Bound what the whole process may use; hard limits, so that it cannot raise them again."""
    limits = [
        (resource.RLIMIT_CPU, job["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, job["file_bytes"]),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ]
    if sys.platform == "linux":
        # Elsewhere an address space cannot be bounded.
        limits.append((resource.RLIMIT_AS, job["memory_bytes"]))
    for name, value in limits:
        resource.setrlimit(name, (value, value))


def forget(folder: str) -> None:
    """Drop the modules of the repository, so that no check sees what another left behind."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.startswith(folder):
            del sys.modules[name]


def last_words(error: BaseException) -> str:
    """A failure as a reader wants it: its last lines."""
    if isinstance(error, OutOfTime):
        return "took too long"
    lines = traceback.format_exception_only(error)
    return "".join(lines).strip()[-MAX_TEXT:]


class Caught:
    """A context that holds whatever candidate code raises, the end of the interpreter included."""

    error: BaseException | None = None

    def __enter__(self) -> Caught:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.error = error
        return True


def run_check(code: str, seconds: float, folder: str) -> dict[str, object]:
    """What ``code`` leaves in ``result``, or what it raised."""
    forget(folder)
    names: dict[str, object] = {"__name__": "check"}
    said = ""
    with Caught() as caught:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        exec(compile(code, "<check>", "exec"), names)  # noqa: S102 - this is what the process is for
        said = json.dumps(names.get("result"), default=repr)
    if caught.error is not None:
        return {"raised": type(caught.error).__name__, "text": last_words(caught.error)}
    return {"result": said[:MAX_RESULT], "whole": len(said) <= MAX_RESULT}


class Lines(unittest.TestResult):
    """Collects one line for each test."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.said: list[tuple[str, str]] = []

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - the library's name
        """Set the alarm."""
        super().startTest(test)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        """Take the alarm off."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        super().stopTest(test)

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        """A test passed."""
        self.said.append((test.id(), ""))

    def addFailure(self, test: unittest.TestCase, err: object) -> None:  # noqa: N802
        """An assertion did not hold."""
        self.said.append((test.id(), last_words(err[1])))  # type: ignore[index]

    def addError(self, test: unittest.TestCase, err: object) -> None:  # noqa: N802
        """Something else went wrong."""
        self.said.append((test.id(), last_words(err[1])))  # type: ignore[index]


def run_tests(folder: str, seconds: float) -> list[tuple[str, str]]:
    """The tests of the repository: name and failure, which is empty for one that passed."""
    lines = Lines(seconds)
    tests = str(Path(folder) / "tests")
    with Caught() as caught:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        unittest.TestLoader().discover(tests, top_level_dir=tests).run(lines)
    if caught.error is not None:
        lines.said.append(("tests", last_words(caught.error)))
    return lines.said


def main(words: Sequence[str]) -> None:
    """Read the job from standard input, do it in ``words[0]``, write what came out as lines of JSON."""
    folder = str(Path(words[0]).resolve())
    job = json.loads(sys.stdin.read())
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdin = io.StringIO("")
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    os.chdir(folder)
    limit(job["limits"])
    signal.signal(signal.SIGALRM, ring)
    sys.addaudithook(deny)
    for check in job["checks"]:
        channel.write(json.dumps(run_check(check, job["seconds"], folder)) + "\n")
        channel.flush()
    if job["tests"]:
        channel.write(json.dumps({"tests": run_tests(folder, job["seconds"])}) + "\n")
        channel.flush()
    # Threads and exit handlers of the candidate do not get a word.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
