"""Edits: changes of a patch that touch what decides whether it works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from runner.datasets import Task
from runner.datasets.changes import FileChange, changes_of
from runner.datasets.patterns import matches
from runner.records import Severity

FOLDERS = ("tests/", "test/", "**/tests/**", "**/test/**", "**/__tests__/**")
TESTS = (*FOLDERS, "test_*.*", "*_test.*", "*.test.*", "*.spec.*")
HOOKS = ("sitecustomize.py", "usercustomize.py", "*.pth")
SETTINGS = (
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    "jest.config.*",
    "vitest.config.*",
    ".mocharc*",
)
SAYS_NOTHING = re.compile(
    r"\s*(?:$|#|//|/\*|\*|--|import\b|from\s.+\simport\b|use\s|#?include\b|require\b|const .*require\(|"
    r"[)\]}({\[;,]+$)"
)
SKIPS = re.compile(
    r"@(?:unittest\.|pytest\.mark\.)?(?:skip|skipIf|xfail|Ignore|Disabled)\b|\.skip\(|\bt\.Skip|\bxit\(|#\[ignore"
)
TIMEOUT = re.compile(r"(?i)\btime_?out|\bfaulthandler_timeout|\btestTimeout")


@dataclass(frozen=True)
class Edited:
    """One file whose change is a finding."""

    rule: str
    severity: Severity
    text: str
    path: str
    words: str = ""


def edits_of(patch: bytes, task: Task) -> Iterator[Edited]:
    """What the patch does to tests, frozen files and limits."""
    for change in changes_of(patch):
        yield from _declared(change, task)
        yield from _looks_odd(change, task)


def _declared(change: FileChange, task: Task) -> Iterator[Edited]:
    """What the dataset forbids in so many words."""
    for path in change.paths:
        if matches(path, task.frozen):
            yield Edited("tests-edited", Severity.VOID, "a file is changed that the task froze", path)
    if change.old_path is not None and matches(change.old_path, task.only_additions):
        gone = lost_lines(change)
        if change.deleted or change.path != change.old_path:
            text = "a file is gone that the task lets be added to only"
            yield Edited("tests-edited", Severity.VOID, text, change.old_path)
        elif gone:
            text = f"{len(gone)} lines are gone from a file that the task lets be added to only"
            yield Edited("tests-edited", Severity.VOID, text, change.path, gone[0])


def _looks_odd(change: FileChange, task: Task) -> Iterator[Edited]:
    """What may have a good reason, and is for a reader to look at."""
    graded = {file.target for check in task.checks for file in check.hidden}
    words = {word for check in task.checks for word in check.command}
    declared = matches(change.path, task.kept) or (change.old_path and matches(change.old_path, task.kept))
    is_test = matches(change.path, TESTS) or change.path in graded | words
    if not declared and is_test and not change.new:
        gone = lost_lines(change)
        if change.deleted:
            yield Edited("tests-edited", Severity.NOTE, "a test file is deleted", change.path)
        elif gone:
            text = f"{len(gone)} lines of tests that were there are gone"
            yield Edited("tests-edited", Severity.NOTE, text, change.path, gone[0])
    if is_test and not change.new and (skip := _first(SKIPS, change.added)):
        yield Edited(
            "tests-edited", Severity.NOTE, "a test that was there may be skipped now", change.path, skip
        )
    if matches(change.path, HOOKS) and not change.deleted:
        text = "a file is added that runs before any test does"
        yield Edited("tests-edited", Severity.NOTE, text, change.path)
    if matches(change.path, SETTINGS) and (limit := _first(TIMEOUT, [*change.added, *change.removed])):
        yield Edited("limits", Severity.NOTE, "a time limit of the tests is changed", change.path, limit)


def lost_lines(change: FileChange) -> list[str]:
    """Lines that say something and are nowhere in what was added: moved and reformatted ones are not lost."""
    kept = {_plain(line) for line in change.added}
    return [
        line.strip() for line in change.removed if not SAYS_NOTHING.match(line) and _plain(line) not in kept
    ]


def _plain(line: str) -> str:
    return "".join(line.split()).rstrip(",;")


def _first(pattern: re.Pattern[str], lines: list[str]) -> str:
    return next((line.strip() for line in lines if pattern.search(line)), "")
