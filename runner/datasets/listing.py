"""Listing: the datasets of a folder as plain data to print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.datasets.dataset import Dataset
from runner.datasets.loading import all_datasets, load_dataset
from runner.errors import DatasetError
from runner.records.nouns import counted


@dataclass(frozen=True)
class TaskLine:
    """One task in a listing."""

    id: str
    kind: str
    complexity: str | None
    problem_source: str
    """``text``, ``issue``, ``issue+text`` or ``none``."""
    checks: int
    repository: str
    ref: str
    gist: str | None
    runnable: bool

    def line(self) -> str:
        """The task as a user reads it."""
        state = f"{self.checks} checks" if self.runnable else "cannot be run: no problem statement"
        place = f"{self.repository}@{self.ref}"
        level = self.complexity or "no level"
        return f"  {self.id} ({level}): problem as {self.problem_source}, {place}, {state}"


@dataclass(frozen=True)
class DatasetListing:
    """One dataset in a listing; ``faults`` is its report where the file is not valid."""

    path: Path
    name: str
    title: str | None = None
    version: str | None = None
    visibility: str | None = None
    digest: str | None = None
    tasks_per_complexity: Mapping[str, int] | None = None
    tasks: tuple[TaskLine, ...] = ()
    faults: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the file is valid."""
        return self.faults is None

    def lines(self, *, in_full: bool) -> list[str]:
        """The dataset as a user reads it: one line, and with ``in_full`` one more for each task."""
        if self.faults is not None:
            return [self.faults]
        lines = [
            f"{self.name} {self.version} ({self.visibility}): {self.title}; "
            f"{counted(len(self.tasks), 'task')}: {self._levels()}"
        ]
        if in_full:
            lines.append(f"digest {self.digest}")
            lines += [task.line() for task in self.tasks]
        return lines

    def _levels(self) -> str:
        """Tasks by level; those without one are no zeros of the levels there are."""
        counts = [(count, level) for level, count in (self.tasks_per_complexity or {}).items() if count]
        without = sum(task.complexity is None for task in self.tasks)
        if without:
            counts.append((without, "without a level"))
        return ", ".join(f"{count} {level}" for count, level in counts)


def list_datasets(folder: Path) -> tuple[DatasetListing, ...]:
    """Every dataset file in ``folder``; a faulty one is listed with its faults and stops nothing."""
    return tuple(list_dataset(path) for path in all_datasets(folder))


def list_dataset(path: Path) -> DatasetListing:
    """One dataset file."""
    try:
        dataset = load_dataset(path)
    except DatasetError as error:
        return DatasetListing(path=path, name=path.stem, faults=error.message())
    return DatasetListing(
        path=path,
        name=dataset.name,
        title=dataset.title,
        version=dataset.version,
        visibility=dataset.visibility,
        digest=dataset.digest(),
        tasks_per_complexity=dataset.tasks_per_complexity(),
        tasks=_lines(dataset),
    )


def _lines(dataset: Dataset) -> tuple[TaskLine, ...]:
    return tuple(
        TaskLine(
            id=task.id,
            kind=task.kind,
            complexity=task.complexity,
            problem_source=task.problem_source.value,
            checks=len(task.checks),
            repository=task.repository_name,
            ref=task.ref,
            gist=task.gist,
            runnable=task.runnable,
        )
        for task in dataset.tasks
    )
