"""CodingTask: a repository, what is to be done in it, and the checks that decide whether it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from runner.endpoint.suites.case import Difficulty
from runner.endpoint.suites.coding.candidate import CheckRun, Workbench
from runner.endpoint.suites.extraction import same_json


@dataclass(frozen=True)
class Check:
    """A few lines of Python that leave something in ``result``, and what that must be.

    The lines run beside the candidate's code; the expectation stays in this process, so that no code of
    the candidate's can know it or report it in place of a result.
    """

    name: str
    code: str
    expected: JsonValue = None
    raises: str | None = None
    """Name of the exception that must come instead."""

    def failure(self, run: CheckRun) -> str:
        """Why ``run`` is not what was wanted; empty where it is."""
        if self.raises is not None:
            if run.raised == self.raises:
                return ""
            return f"{self.raises} was not raised, but {run.raised or 'nothing'}"
        if run.raised is not None:
            return f"raised {run.raised}: {run.text}"
        return "" if same_json(run.value, self.expected) else "gave another value"


@dataclass(frozen=True)
class CodingTask:
    """A task.

    Args:
        files: the repository at the start, the tests that the model sees included.
        request: what the user asks for.
        checks: what decides; different from the visible tests.
        kept_texts: path and text that must stand in a file at the end, such as a name in a readme.
        lines_about: how large the repository is, so that tasks can be put in order.
    """

    identifier: str
    title: str
    difficulty: Difficulty
    files: Mapping[str, str]
    request: str
    checks: tuple[Check, ...]
    kept_texts: tuple[tuple[str, str], ...] = ()
    max_turns: int = 16

    @property
    def lines_about(self) -> int:
        """Lines of all files at the start."""
        return sum(text.count("\n") for text in self.files.values())

    @property
    def total(self) -> int:
        """How many things are checked."""
        return len(self.checks) + len(self.kept_texts)

    async def failures(self, files: Mapping[str, str], workbench: Workbench) -> tuple[str, ...]:
        """``name: why`` of everything that is not as it should be; empty where the task is solved."""
        runs = await workbench.checks(files, [check.code for check in self.checks])
        found = [
            f"{check.name}: {why}"
            for check, run in zip(self.checks, runs, strict=True)
            if (why := check.failure(run))
        ]
        found += [
            f"{path}: does not say {text!r}"
            for path, text in self.kept_texts
            if text not in files.get(path, "")
        ]
        return tuple(found)
