"""Dataset and Task: a dataset file as the rest of the program sees it."""

from __future__ import annotations

import json
from collections import Counter
from enum import StrEnum
from typing import Any

from pydantic import Field

from runner.datasets.faults import listed, nearest
from runner.datasets.hidden import HiddenFile
from runner.datasets.location import repository_name
from runner.datasets.schema import CheckEntry, DatasetEntry, TaskEntry
from runner.errors import UsageError
from runner.records import sha256_of

DOCUMENTARY_OF_TASK = {"gist", "problem_missing", "reference_solution", "public_since"}
DOCUMENTARY_OF_DATASET = {
    "title",
    "description",
    "created",
    "license",
    "metrics",
    "source",
    "visibility",
    "tasks",
    # What tasks inherit is part of their own digests.
    "checks",
    "rules",
    "frozen",
    "only_additions",
}
LATER_DEFAULTS: dict[str, object] = {
    "rules": None,
    "frozen": [],
    "only_additions": [],
    "purpose": "hidden",
    "report": None,
}
"""Keys that came after results were digested: where they say nothing, they are no part of a digest."""


class ProblemSource(StrEnum):
    """Where the problem of a task is written down."""

    TEXT = "text"
    ISSUE = "issue"
    ISSUE_AND_TEXT = "issue+text"
    NONE = "none"


class TaskCheck(CheckEntry):
    """A check with the files that it needs, as they were when the dataset was loaded."""

    hidden: tuple[HiddenFile, ...] = ()


class Task(TaskEntry):
    """A task with its ref filled in and its hidden files listed."""

    ref: str
    checks: tuple[TaskCheck, ...] = ()
    pinned_object: str | None = Field(
        default=None, description="object the ref stands for, where that can be known without asking a server"
    )

    @property
    def problem_source(self) -> ProblemSource:
        """Where the problem is written down."""
        if self.problem_statement:
            return ProblemSource.ISSUE_AND_TEXT if self.problem_issue_url else ProblemSource.TEXT
        return ProblemSource.ISSUE if self.problem_issue_url else ProblemSource.NONE

    @property
    def runnable(self) -> bool:
        """Whether an agent can be given the problem."""
        return self.problem_source is not ProblemSource.NONE

    @property
    def repository_name(self) -> str:
        """Last part of the repository's address."""
        return repository_name(self.repo)

    def digest(self) -> str:
        """SHA-256 of everything that decides what the agent is given and how it is graded.

        Covered: all keys except ``gist``, ``problem_missing``, ``reference_solution`` and ``public_since``;
        the content of the hidden files; the object a bundle's ref stands for. How the file is laid out, and
        keys that only repeat a default, change nothing.
        """
        body = _without_later_defaults(self.model_dump(mode="json", exclude=DOCUMENTARY_OF_TASK))
        return _digest({**body, "checks": [_without_later_defaults(check) for check in body["checks"]]})

    @property
    def kept(self) -> tuple[str, ...]:
        """Patterns of files that checks restore before they run what was there."""
        return (*self.frozen, *self.only_additions)


class Dataset(DatasetEntry):
    """A dataset with all its tasks."""

    tasks: tuple[Task, ...]

    @property
    def scope(self) -> str:
        """The ``<dataset>`` part of result paths: ``output_scope``, else the name."""
        return self.output_scope or self.name

    def task_by_id(self, task_id: str) -> Task:
        """The task of that id.

        Raises:
            UsageError: there is none; the nearest id is suggested.
        """
        for task in self.tasks:
            if task.id == task_id:
                return task
        known = [task.id for task in self.tasks]
        raise UsageError(
            f"the dataset {self.name!r} has no task {task_id!r}{nearest(task_id, known)}",
            remedy=f"choose from: {listed(known, 30)}",
        )

    def tasks_per_complexity(self) -> dict[str, int]:
        """Number of tasks by level, in the order of ``complexity_levels``; levels without tasks are 0."""
        counts = Counter(task.complexity for task in self.tasks)
        return {level: counts[level] for level in self.complexity_levels}

    def digest(self) -> str:
        """SHA-256 of name, version, levels and the digests of all tasks in order."""
        body = self.model_dump(mode="json", exclude=DOCUMENTARY_OF_DATASET)
        return _digest({**body, "tasks": [task.digest() for task in self.tasks]})


def _without_later_defaults(body: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in body.items() if key not in LATER_DEFAULTS or value != LATER_DEFAULTS[key]
    }


def _digest(body: object) -> str:
    text = json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256_of(text.encode())
