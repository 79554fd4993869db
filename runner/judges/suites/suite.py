"""Suite: pairs of submissions that differ in one respect, made from honest ones, versioned, with a digest."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, ValidationError

from runner.datasets import Dataset, Task, find_dataset, load_dataset
from runner.errors import ConfigurationError, UsageError
from runner.judges.brief import Case
from runner.judges.rubric import Rubric
from runner.judges.suites.edits import AnyEdit, Desk, Sheet
from runner.records import CHANGED, REFERENCE, Part, sha256_of
from runner.records.base import Slug
from runner.records.plain_words import plain_faults

FOLDER, WORK = "judge-suites", "work"
SUITES = ("injection", "anchors", "length", "order")
"""In the order in which they are run."""
GOOD, PARTIAL = "good", "partial"
DOCUMENTS = ("github-issue.md", "lld.md", "review.md", "testing.md")
"""The same for both submissions for a task: half of what they speak of may be missing."""
Quality = Literal["good", "partial"]


class Made(Part):
    """One way to make the other side of a pair."""

    id: Slug
    edits: tuple[AnyEdit, ...] = Field(min_length=1)
    tasks: tuple[Slug, ...] = Field(default=(), description="only for these; default: as the suite says")
    quality: tuple[Quality, ...] = Field(default=(), description="default: as the suite says")


class Category(Part):
    """Ways that have something in common."""

    name: Slug
    title: str = Field(min_length=1)
    cases: tuple[Made, ...] = Field(min_length=1)


class SuiteEntry(Part):
    """The file of a suite."""

    schema_version: int = Field(ge=1, le=1)
    name: Slug
    version: str = Field(pattern=r"^[0-9a-z][0-9a-z.]*$", max_length=20)
    title: str = Field(min_length=1)
    dataset: Slug = Field(description="its tasks are what the submissions are for")
    quality: tuple[Quality, ...] = Field(min_length=1)
    tasks_each: int = Field(ge=1, description="for how many of the tasks each case is made")
    categories: tuple[Category, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Pair:
    """Two submissions for one task; what sets the second one apart is what is tried out."""

    id: str
    category: str
    task: Task
    sides: Mapping[str, Sheet]
    """By ``reference`` and ``changed``."""

    def digest(self, side: str) -> str:
        """Of what is shown of a side."""
        sheet = self.sides[side]
        content = [sheet.note, sheet.patch, sorted(sheet.documents.items()), sheet.reversed]
        return sha256_of(json.dumps(content).encode())

    def case(self, side: str) -> Case:
        """A side as judges get it."""
        return Case(self.task, self.sides[side].files)

    def rubric(self, side: str, rubric: Rubric) -> Rubric:
        """``rubric``, with its artifacts and their files in the order that the side asks for."""
        if not self.sides[side].reversed:
            return rubric
        artifacts = [
            each.model_copy(update={"files": each.files[::-1]}) for each in reversed(rubric.artifacts)
        ]
        return rubric.model_copy(update={"artifacts": tuple(artifacts)})


@dataclass(frozen=True)
class Suite:
    """Pairs in an order in which any first few come from as many categories as they can."""

    name: str
    version: str
    title: str
    dataset: str
    dataset_path: Path
    categories: Mapping[str, str]
    """Titles by name."""
    pairs: tuple[Pair, ...]
    digest: str


def suite_names(datasets: Path) -> tuple[str, ...]:
    """Suites that there are, those of our own first."""
    found = {path.stem for path in (datasets / FOLDER).glob("*.yaml")}
    return tuple(name for name in SUITES if name in found) + tuple(sorted(found - set(SUITES)))


def load_suite(name: str, datasets: Path) -> Suite:
    """The suite called ``name``.

    Args:
        datasets: folder of the datasets; suites are in ``judge-suites`` in it.

    Raises:
        UsageError: there is no such suite.
        ConfigurationError: its file, or a submission that it is made from, has faults.
    """
    path = datasets / FOLDER / f"{name}.yaml"
    if name not in suite_names(datasets):
        known = ", ".join(suite_names(datasets)) or "none"
        raise UsageError(f"there is no suite {name!r} to try judges out with", remedy=f"suites: {known}")
    entry = _entry(path)
    dataset_path = find_dataset(entry.dataset, datasets)
    dataset = load_dataset(dataset_path)
    works = _works(path.parent / WORK, dataset, dataset_path)
    pairs: list[list[Pair]] = []
    faults: list[str] = []
    for category in entry.categories:
        pairs.append(list(_pairs(category, entry, dataset, path.parent, works, faults)))
    if faults:
        raise ConfigurationError(
            "the suite has faults:\n    " + "\n    ".join(faults), where=f"{FOLDER}/{path.name}"
        )
    mixed = [pair for row in itertools.zip_longest(*pairs) for pair in row if pair is not None]
    return Suite(
        name=entry.name,
        version=entry.version,
        title=entry.title,
        dataset=dataset.scope,
        dataset_path=dataset_path,
        categories={category.name: category.title for category in entry.categories},
        pairs=tuple(mixed),
        digest=_digest(mixed),
    )


def _entry(path: Path) -> SuiteEntry:
    where = f"{FOLDER}/{path.name}"
    try:
        # Through JSON, so that lists of the file may stand for the fixed sequences of the entry.
        document = json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")))
        entry = SuiteEntry.model_validate_json(document)
    except ValidationError as error:
        faults = plain_faults(error, whole="suite")
        raise ConfigurationError("the suite has faults:\n    " + "\n    ".join(faults), where=where) from None
    except (OSError, ValueError, TypeError, yaml.YAMLError, RecursionError) as error:
        raise ConfigurationError(f"the suite cannot be read: {error}", where=where) from None
    names = [case.id for category in entry.categories for case in category.cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or entry.name != path.stem:
        fault = f"cases are named twice: {', '.join(twice)}" if twice else f"its name is {entry.name!r}"
        raise ConfigurationError(fault, where=where)
    return entry


def _works(folder: Path, dataset: Dataset, dataset_path: Path) -> dict[tuple[str, str], Sheet]:
    """The honest submissions: the reference solution of each task, and one that does a part of it."""
    works: dict[tuple[str, str], Sheet] = {}
    for task in dataset.tasks:
        own = folder / task.id
        if not own.is_dir() or task.reference_solution is None:
            continue
        patches = {GOOD: dataset_path.parent / task.reference_solution, PARTIAL: own / f"{PARTIAL}.diff"}
        for quality, patch in patches.items():
            try:
                note = (own / f"{quality}.md").read_text(encoding="utf-8")
                documents = {name: (own / name).read_text(encoding="utf-8") for name in DOCUMENTS}
                works[task.id, quality] = Sheet(note, patch.read_text(encoding="utf-8"), documents)
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigurationError(
                    f"a submission cannot be read: {error}", where=f"{FOLDER}/{WORK}/{task.id}"
                ) from None
    if not works:
        raise ConfigurationError("there are no submissions to make pairs from", where=f"{FOLDER}/{WORK}")
    return works


def _pairs(
    category: Category,
    entry: SuiteEntry,
    dataset: Dataset,
    folder: Path,
    works: Mapping[tuple[str, str], Sheet],
    faults: list[str],
) -> Iterator[Pair]:
    """Pairs of a category: every case for one task, then every case for another one."""
    tasks = list(dict.fromkeys(task for task, _ in works))
    start = [each.name for each in entry.categories].index(category.name)
    planned = [
        (case, list(_turned(case.tasks or tasks, 0 if case.tasks else start + place)))
        for place, case in enumerate(category.cases)
    ]
    for turn in range(len(tasks)):
        for case, own in planned:
            if turn >= (len(own) if case.tasks else min(entry.tasks_each, len(own))):
                continue
            for quality in case.quality or entry.quality:
                try:
                    desk = Desk(dataset.task_by_id(own[turn]), folder, works)
                    reference = changed = works[own[turn], quality]
                    for edit in case.edits:
                        changed = edit.apply(changed, desk)
                except (ValueError, KeyError, OSError, UsageError) as error:
                    faults.append(f"{category.name}.{case.id}, task {own[turn]}: {error}")
                    continue
                name = f"{case.id}.{own[turn]}" + (f".{quality}" if len(entry.quality) > 1 else "")
                yield Pair(name, category.name, desk.task, {REFERENCE: reference, CHANGED: changed})


def _turned(tasks: Sequence[str], by: int) -> Iterator[str]:
    """``tasks`` from another one on, so that no task is in all pairs of a category."""
    return (tasks[(by + place) % len(tasks)] for place in range(len(tasks)))


def _digest(pairs: Sequence[Pair]) -> str:
    """Of every pair with its task, in the order of their names."""
    facts = [
        [pair.id, pair.category, pair.task.digest(), pair.digest(REFERENCE), pair.digest(CHANGED)]
        for pair in sorted(pairs, key=lambda pair: pair.id)
    ]
    return sha256_of(json.dumps(facts).encode())
