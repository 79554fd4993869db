"""Stored trials: those that a command is to look at again, and the tasks that they were given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from runner.datasets import Dataset, Task, all_datasets, load_dataset
from runner.engine.checkpoint import PATCH
from runner.engine.places import Places
from runner.errors import ConfigurationError, UsageError
from runner.records import ArtifactState, Outcome, TrialRecord
from runner.records.nouns import counted
from runner.store import ResultsStore, StoredTrial, slug
from runner.store.layout import PLANS

NEVER_RAN = frozenset({Outcome.INFRASTRUCTURE, Outcome.CANCELLED})


class LeftOut(Exception):
    """A trial that is not looked at; says why in one sentence."""


@dataclass
class Library:
    """The datasets of a project, each read once."""

    folder: Path
    _datasets: dict[Path, Dataset | None] = field(default_factory=dict)

    def task_of(self, record: TrialRecord, *, changed: bool = False) -> tuple[Path, Task]:
        """The task of a trial, with the path of its dataset.

        Args:
            record: of the trial.
            changed: take the task also where it has changed since the trial ran.

        Raises:
            LeftOut: it is not here, or has changed.
        """
        scope, name = record.identity.cell.dataset, record.identity.task
        found: tuple[Path, Task] | None = None
        for path in all_datasets(self.folder):
            dataset = self._dataset(path)
            if dataset is None or slug(dataset.scope) != scope:
                continue
            task = next((each for each in dataset.tasks if each.id == name), None)
            if task is None:
                continue
            if record.fingerprint.task_digest in {None, task.digest()}:
                return path, task
            found = path, task
        if found is None:
            raise LeftOut(f"no dataset here has task {name} in the scope {scope}")
        if not changed:
            raise LeftOut("its task has changed since it ran")
        return found

    def _dataset(self, path: Path) -> Dataset | None:
        if path not in self._datasets:
            try:
                self._datasets[path] = load_dataset(path)
            except ConfigurationError:
                self._datasets[path] = None
        return self._datasets[path]


def selected(
    places: Places, path: str | None, cells: Sequence[str]
) -> Iterator[tuple[ResultsStore, StoredTrial]]:
    """Stored trials with their store, in the order of their paths.

    Args:
        places: of the project.
        path: a store, or a folder in one; None means every store.
        cells: words or patterns of which one must fit the trial's path; empty means every trial.

    Raises:
        UsageError: the path is in no store, or none of the words fits any trial.
    """
    roots, below = stores_of(path, places)
    found = False
    for root in roots:
        store = ResultsStore(root)
        for stored in store.trials():
            name = "/".join(stored.record.identity.key)
            inside = below is None or stored.folder.is_relative_to(below)
            if inside and (not cells or any(cell in name or fnmatchcase(name, cell) for cell in cells)):
                found = True
                yield store, stored
    if cells and not found:
        raise nothing_fits(cells)


def nothing_fits(cells: Sequence[str]) -> UsageError:
    """No stored trial has any of these words in its path."""
    return UsageError(
        f"no stored trial fits {', '.join(map(repr, cells))}",
        where="--cell",
        remedy="give words of MODEL_PROVIDER/HARNESS/SKILL/DATASET/TASK, as folders below results/ have "
        "them, or leave --cell out",
    )


def patch_of(stored: StoredTrial) -> bytes:
    """The patch of a trial; empty where its agent changed nothing.

    Raises:
        LeftOut: no patch is kept, as with most imported results, or there was never one to keep.
    """
    record = stored.record
    if record.outcome in NEVER_RAN:
        raise LeftOut(f"our side failed in it ({record.outcome.value})")
    data = stored.artifact(PATCH)
    state = next((each.state for each in record.artifacts if each.name == PATCH), None)
    if data is not None:
        return data
    if state is ArtifactState.PRESENT:
        raise LeftOut("the store does not hold its patch")
    if record.source is not None or state is not ArtifactState.MISSING:
        raise LeftOut("no patch of it is kept, as with most imported results")
    return b""


def told(left_out: Counter[str]) -> Iterator[str]:
    """Which trials were left out and why, a line for each reason."""
    for reason, count in left_out.most_common(20):
        yield f"left out: {counted(count, 'trial')}: {reason}"


def stores_of(path: str | None, places: Places) -> tuple[list[Path], Path | None]:
    """Roots of stores, and the folder below one of them that was named.

    Raises:
        UsageError: the path is in no store.
    """
    if path is None:
        return list(places.roots().existing()), None
    folder = Path(path).absolute()
    for candidate in (folder, *folder.parents):
        if (candidate / PLANS).is_dir():
            return [candidate], None if candidate == folder else folder
    raise UsageError(
        "there is no store of results at this path", where=path, remedy="name a folder below results/"
    )
