"""Connections: faults that lie between the keys of a dataset, or between it and the files beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from runner.datasets.bundle import bundle_refs, object_of
from runner.datasets.document import Document, Value, text_at
from runner.datasets.faults import Fault, Location, listed, nearest
from runner.datasets.hidden import hidden_files_in
from runner.datasets.location import (
    COMMIT_ID,
    RepositoryKind,
    check_ref,
    check_relative,
    check_repository,
    repository_kind,
)
from runner.datasets.schema import SCHEMA_VERSION
from runner.errors import RepositoryError

Keys = dict[str, Value]
GUARDED = {"rules", "frozen", "only_additions"}
OWN_NAMES = {"patch-applies", "rules"}


def connection_faults(document: Document, folder: Path) -> list[Fault]:
    """All of them, found even where single keys have faults of their own."""
    return list(_Connections(document, folder).faults())


def items_of(mapping: Keys, key: str) -> list[tuple[int, Keys]]:
    """The items of a list that are mappings, with their places; empty where there is no such list."""
    value = mapping.get(key)
    if not isinstance(value, list):
        return []
    return [(place, item) for place, item in enumerate(value) if isinstance(item, dict)]


class _Connections:
    def __init__(self, document: Document, folder: Path) -> None:
        self._document = document
        self._folder = folder

    def faults(self) -> Iterator[Fault]:
        """Every fault that shows only when two places of the document are compared."""
        root = self._document.root
        version = root.get("schema_version")
        if version == "1.0":
            yield self._fault(
                ("schema_version",),
                f"1.0 has no version and visibility; add both keys, then write {SCHEMA_VERSION!r}",
            )
        yield from self._too_new(root)
        yield from self._duplicates(("tasks",), items_of(root, "tasks"), "id")
        yield from self._own_checks((), root)
        levels = root.get("complexity_levels")
        known = [level for level in levels if isinstance(level, str)] if isinstance(levels, list) else []
        for index, task in items_of(root, "tasks"):
            place: Location = ("tasks", index)
            yield from self._complexity(place, task, known)
            yield from self._problem(place, task)
            yield from self._checks(place, task)
            yield from self._repository(place, task)

    def _complexity(self, place: Location, task: Keys, known: list[str]) -> Iterator[Fault]:
        level = text_at(task, "complexity")
        if level is None:
            if "complexity" not in task and task.get("kind") != "load":
                yield self._fault(place, "complexity is missing; only tasks of kind load may leave it out")
        elif known and level not in known:
            message = f"{level[:60]!r} is not one of {listed(known)}{nearest(level, known)}"
            yield self._fault((*place, "complexity"), message)

    def _problem(self, place: Location, task: Keys) -> Iterator[Fault]:
        has_problem = bool(task.get("problem_statement") or task.get("problem_issue_url"))
        if not has_problem and not task.get("problem_missing"):
            yield self._fault(
                place,
                "needs problem_statement, problem_issue_url, or in problem_missing the reason for neither",
            )
        if has_problem and task.get("problem_missing"):
            yield self._fault((*place, "problem_missing"), "the task has a problem; remove this key")

    def _checks(self, place: Location, task: Keys) -> Iterator[Fault]:
        checks = [*items_of(task, "checks"), *items_of(self._document.root, "checks")]
        yield from self._own_checks(place, task)
        solution = text_at(task, "reference_solution")
        if solution is None or not _passes(check_relative, solution):
            return
        where = (*place, "reference_solution")
        path = self._folder / solution
        if not path.resolve().is_relative_to(self._folder.resolve()) or not path.is_file():
            yield self._fault(where, f"there is no file {solution!r} beside the dataset file")
        elif not checks:
            yield self._fault(where, "nothing can prove it: the task has no checks")

    def _too_new(self, root: Keys) -> Iterator[Fault]:
        """Keys that a reader of the version which the file names would not know."""
        if root.get("schema_version") != "1.1":
            return
        places: list[tuple[Location, Keys, set[str]]] = [((), root, {*GUARDED, "checks"})]
        for index, task in items_of(root, "tasks"):
            places.append((("tasks", index), task, GUARDED))
            for number, check in items_of(task, "checks"):
                places.append((("tasks", index, "checks", number), check, {"purpose", "report"}))
        for place, keys, later in places:
            for key in later & keys.keys():
                yield self._fault((*place, key), f"needs schema_version {SCHEMA_VERSION!r}")

    def _own_checks(self, place: Location, holder: Keys) -> Iterator[Fault]:
        checks = items_of(holder, "checks")
        yield from self._duplicates((*place, "checks"), checks, "name")
        for index, check in checks:
            where = (*place, "checks", index)
            if text_at(check, "name") in OWN_NAMES:
                yield self._fault((*where, "name"), "is the name of a check that is always made")
            names = check.get("hidden_files")
            for number, name in enumerate(names if isinstance(names, list) else []):
                if isinstance(name, str) and _passes(check_relative, name):
                    yield from self._hidden((*where, "hidden_files", number), name)

    def _hidden(self, where: Location, name: str) -> Iterator[Fault]:
        try:
            hidden_files_in(self._folder, name)
        except ValueError as error:
            yield self._fault(where, str(error))

    def _repository(self, place: Location, task: Keys) -> Iterator[Fault]:
        repo = text_at(task, "repo")
        if repo is None or not _passes(check_repository, repo):
            return
        if repository_kind(repo) is not RepositoryKind.BUNDLE:
            return
        try:
            refs = bundle_refs(self._folder / repo)
        except RepositoryError as error:
            yield self._fault((*place, "repo"), error.what)
            return
        own = text_at(task, "ref")
        ref = own or text_at(self._document.root, "default_ref")
        if ref is None or not _passes(check_ref, ref) or COMMIT_ID.fullmatch(ref) or object_of(refs, ref):
            return
        names = [name.split("/", 2)[-1] for name in refs]
        where = (*place, "ref") if own else ("default_ref",)
        yield self._fault(where, f"{ref!r} is not in {repo}{nearest(ref, names)}; it holds {listed(names)}")

    def _duplicates(self, place: Location, items: list[tuple[int, Keys]], key: str) -> Iterator[Fault]:
        first: dict[str, int | None] = {}
        for index, item in items:
            name = text_at(item, key)
            where = (*place, index, key)
            if name is not None and name in first:
                yield self._fault(where, f"{name[:60]!r} is taken by the item on line {first[name]}")
            elif name is not None:
                first[name] = self._document.line(where)

    def _fault(self, location: Location, message: str) -> Fault:
        return Fault(location, self._document.line(location), message)


def _passes(check: Callable[[str], str], text: str) -> bool:
    try:
        check(text)
    except ValueError:
        return False
    return True
