"""Loading: from a dataset file to a Dataset, with every fault of the file in one report."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from runner.datasets.bundle import bundle_refs, object_of
from runner.datasets.connections import connection_faults
from runner.datasets.dataset import Dataset, Task, TaskCheck
from runner.datasets.document import MAX_BYTES, read_document
from runner.datasets.faults import Fault, listed, nearest, report
from runner.datasets.hidden import HiddenFile, hidden_files_in
from runner.datasets.location import COMMIT_ID, RepositoryKind, repository_kind
from runner.datasets.schema import CheckEntry, DatasetEntry, TaskEntry
from runner.datasets.wording import fault_of, is_echo
from runner.errors import DatasetError, UsageError

SUFFIXES = (".yaml", ".yml")


def load_dataset(path: Path) -> Dataset:
    """The dataset in ``path``.

    Raises:
        DatasetError: the file cannot be read or has faults; the message lists all of them.
    """
    document = read_document(_bytes_of(path))
    faults: list[Fault] = list(document.faults)
    entry: DatasetEntry | None = None
    if document.root:
        try:
            entry = DatasetEntry.model_validate(document.root, strict=False)
        except ValidationError as error:
            faults += [
                fault_of(detail, document)
                for detail in error.errors(include_url=False)
                if not is_echo(detail)
            ]
        faults += connection_faults(document, path.parent)
    if faults or entry is None:
        raise report(path, faults or [Fault((), None, "the file holds no keys")], document.root)
    tasks = tuple(_resolved(task, entry, path.parent) for task in entry.tasks)
    return Dataset.model_validate({**dict(entry), "tasks": tasks})


def all_datasets(folder: Path) -> list[Path]:
    """Dataset files directly in ``folder``, in order of their names."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())


def find_dataset(name_or_path: str, folder: Path) -> Path:
    """The file of a dataset given by its name (the file's stem in ``folder``) or by a path.

    Raises:
        UsageError: there is no such file; the nearest name is suggested.
    """
    if name_or_path.endswith(SUFFIXES) or "/" in name_or_path:
        path = Path(name_or_path)
        if path.is_file():
            return path
        raise UsageError(
            "there is no dataset file at this path",
            where=name_or_path,
            remedy="check the path, or give a name",
        )
    known = all_datasets(folder)
    for path in known:
        if path.stem == name_or_path:
            return path
    names = [path.stem for path in known]
    raise UsageError(
        f"there is no dataset {name_or_path!r}{nearest(name_or_path, names)}",
        where=str(folder),
        remedy=f"choose from: {listed(names, 30) or 'none is there'}; or give the path of a YAML file",
    )


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise DatasetError(
            f"the dataset cannot be read: {error.strerror}",
            where=str(path),
            remedy="check the path and its rights",
        ) from None


def _resolved(entry: TaskEntry, dataset: DatasetEntry, folder: Path) -> Task:
    own = {check.name for check in entry.checks}
    inherited = () if entry.kind == "load" else [each for each in dataset.checks if each.name not in own]
    checks = tuple(
        TaskCheck(**dict(check), hidden=_hidden(check, folder)) for check in (*entry.checks, *inherited)
    )
    guarded = {
        "rules": entry.rules or dataset.rules,
        "frozen": (*dataset.frozen, *entry.frozen),
        "only_additions": (*dataset.only_additions, *entry.only_additions),
    }
    ref = entry.ref or dataset.default_ref
    pinned = ref if COMMIT_ID.fullmatch(ref) else None
    if pinned is None and repository_kind(entry.repo) is RepositoryKind.BUNDLE:
        pinned = object_of(bundle_refs(folder / entry.repo), ref)
    return Task.model_validate(
        {**dict(entry), **guarded, "ref": ref, "checks": checks, "pinned_object": pinned}
    )


def _hidden(check: CheckEntry, folder: Path) -> tuple[HiddenFile, ...]:
    return tuple(file for name in check.hidden_files for file in hidden_files_in(folder, name))
