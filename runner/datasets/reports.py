"""Reports: names of tests that passed and failed, from what a test program printed or wrote.

The output is that of code which is not trusted. It can lie about names, so a verdict never rests on a name
alone that is said to pass; it can be huge or broken, so everything is bounded, and what is not understood is
left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal
from xml.parsers import expat

from runner.datasets.location import check_relative
from runner.records import TestOutcomes
from runner.records.check import MAX_NAMES

ReportKind = Literal["unittest", "pytest", "junit"]
JUNIT = "junit "
MAX_TESTS = 50_000
MAX_REPORT_BYTES = 20_000_000
MAX_NAME = 300
MAX_DEPTH = 100
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_RANK = {SKIPPED: 0, PASSED: 1, FAILED: 2}
_UNITTEST = re.compile(r"\S+ \([\w.<>]+\).*")
_UNITTEST_WORDS = {
    "ok": PASSED,
    "FAIL": FAILED,
    "ERROR": FAILED,
    "expected failure": PASSED,
    "unexpected success": FAILED,
}
_PYTEST_SUMMARY = re.compile(r"=+ short test summary info =+")
_PYTEST_SHORT = re.compile(r"(PASSED|FAILED|ERROR|XFAIL|XPASS) (\S+::.*|\S+)")
_PYTEST_LONG = re.compile(r"(\S+::.*?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: .*)?(?: *\[ *\d+%\])?")
_PYTEST_WORDS = {
    "PASSED": PASSED,
    "FAILED": FAILED,
    "ERROR": FAILED,
    "SKIPPED": SKIPPED,
    "XFAIL": PASSED,
    "XPASS": PASSED,
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Outcomes:
    """Tests by name. One that is told of twice has the worse of both: a lie cannot turn a failure round."""

    def __init__(self, report: ReportKind) -> None:
        self.report: ReportKind = report
        self._by_name: dict[str, str] = {}

    def add(self, name: str, state: str) -> None:
        """One more report of a test; beyond ``MAX_TESTS`` nothing is taken."""
        name = _CONTROL.sub("?", name).strip()[:MAX_NAME]
        if not name or (name not in self._by_name and len(self._by_name) >= MAX_TESTS):
            return
        before = self._by_name.get(name)
        if before is None or _RANK[state] > _RANK[before]:
            self._by_name[name] = state

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def named(self, state: str) -> list[str]:
        """Names in that state, in the order of their first report."""
        return [name for name, each in self._by_name.items() if each == state]

    def record(self) -> TestOutcomes:
        """The names as a record holds them, each list cut at its limit."""
        lists = {state: tuple(self.named(state)) for state in _RANK}
        return TestOutcomes(
            report=self.report,
            passed=lists[PASSED][:MAX_NAMES],
            failed=lists[FAILED][:MAX_NAMES],
            skipped=lists[SKIPPED][:MAX_NAMES],
            left_out=sum(max(len(names) - MAX_NAMES, 0) for names in lists.values()),
        )


def check_report(declared: str) -> str:
    """``declared`` if it says how tests report: ``unittest``, ``pytest`` or ``junit <path>``.

    Raises:
        ValueError: it does not.
    """
    if declared in {"unittest", "pytest"}:
        return declared
    if declared.startswith(JUNIT):
        return JUNIT + check_relative(declared.removeprefix(JUNIT))
    raise ValueError("expected unittest, pytest, or junit and the path of the file that the command writes")


def report_path(declared: str | None) -> str | None:
    """The file below the workspace that the command writes its report to; None where it prints it."""
    return declared.removeprefix(JUNIT) if declared is not None and declared.startswith(JUNIT) else None


def read_report(declared: str | None, output: str, workspace: Path) -> Outcomes | None:
    """Outcomes by name; None where none can be told.

    Args:
        declared: as the dataset says; None means that the printed text tells by itself.
        output: what was printed, or its end.
        workspace: where the command ran.
    """
    path = report_path(declared)
    if path is not None:
        data = _inside(workspace / path, workspace)
        return None if data is None else from_junit(data)
    readers: Mapping[str, Callable[[str], Outcomes]] = {"pytest": from_pytest, "unittest": from_unittest}
    for name, reader in readers.items():
        found = reader(output) if declared in {None, name} else None
        if found:
            return found
    return None


def from_unittest(output: str) -> Outcomes:
    """From ``unittest -v``: ``test_x (module.Case.test_x) ... ok``, also where other text comes between."""
    outcomes, waiting, previous = Outcomes("unittest"), "", ""
    for line in _lines(output):
        head, dots, rest = (line[:-4], "...", "") if line.endswith(" ...") else line.partition(" ... ")
        if dots:
            # A test with a docstring is told of on two lines: its name, then the first line of that.
            waiting = next((name for name in (head.strip(), previous) if _UNITTEST.fullmatch(name)), "")
            line = rest
        state = _unittest_state(line.strip())
        if waiting and state is not None:
            outcomes.add(waiting, state)
            waiting = ""
        previous = line.strip() or previous
    return outcomes


def _unittest_state(word: str) -> str | None:
    return SKIPPED if word.startswith("skipped ") else _UNITTEST_WORDS.get(word)


def from_pytest(output: str) -> Outcomes:
    """From ``pytest -v`` or the summary of ``pytest -rA``."""
    outcomes, summary = Outcomes("pytest"), False
    for line in _lines(output):
        if _PYTEST_SUMMARY.fullmatch(line):
            summary = True
        elif summary and (short := _PYTEST_SHORT.fullmatch(line)) is not None:
            outcomes.add(short[2].split(" - ", 1)[0], _PYTEST_WORDS[short[1]])
        elif not summary and (long := _PYTEST_LONG.fullmatch(line)) is not None:
            outcomes.add(long[1], _PYTEST_WORDS[long[2]])
    return outcomes


def from_junit(data: bytes) -> Outcomes | None:
    """From a JUnit XML file; None where it is none. A file that declares types or entities is refused."""
    outcomes = Outcomes("junit")
    reader = _JUnit(outcomes)
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = reader.refuse
    parser.EntityDeclHandler = reader.refuse
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(data[: MAX_REPORT_BYTES + 1], True)
    except (expat.ExpatError, _Refused):
        return None
    return outcomes if len(data) <= MAX_REPORT_BYTES else None


class _Refused(Exception):
    """Something that no report holds."""


class _JUnit:
    """Takes test cases as their elements begin and end."""

    def __init__(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes
        self._depth = 0
        self._name = ""
        self._state = PASSED

    def refuse(self, *_: object) -> None:
        """End the reading: a document type has no place in a report."""
        raise _Refused

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Refused
        if tag == "testcase":
            parts = (attributes.get("classname"), attributes.get("name"))
            self._name, self._state = "::".join(part for part in parts if part), PASSED
        elif tag in {"failure", "error"}:
            self._state = FAILED
        elif tag == "skipped" and self._state is not FAILED:
            self._state = SKIPPED

    def end(self, tag: str) -> None:
        """An element ends; the end of a test case counts it."""
        self._depth -= 1
        if tag == "testcase" and self._name:
            self._outcomes.add(self._name, self._state)
            self._name = ""


def _lines(output: str) -> Iterator[str]:
    """Lines without colour; one that is too long to be a report of a test is passed over."""
    for line in output.split("\n"):
        if len(line) <= 2000:
            yield re.sub(r"\x1b\[[0-9;]{0,20}m", "", line).rstrip()


def _inside(path: Path, workspace: Path) -> bytes | None:
    """Content of a plain file that lies in the workspace and leads nowhere else; None for all else."""
    try:
        if not path.resolve(strict=True).is_relative_to(workspace.resolve()) or path.is_symlink():
            return None
        if not path.is_file():
            return None
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_REPORT_BYTES + 1)
    except (OSError, RuntimeError):
        return None
