"""Proof: shows for every task with checks that its reference solution passes and no change at all fails."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.datasets.changes import changes_of
from runner.datasets.checkout import seal_task
from runner.datasets.dataset import Task
from runner.datasets.loading import load_dataset
from runner.datasets.patch import check_patch
from runner.datasets.patterns import matches
from runner.datasets.removal import remove
from runner.datasets.rules import broken_rules
from runner.datasets.trying import Tried, Workbench
from runner.errors import RepositoryError
from runner.records import CheckStatus


@dataclass(frozen=True)
class TaskProof:
    """What was shown about one task."""

    task: str
    reference_passes: bool | None
    """Null where it could not be tried."""
    empty_patch_fails: bool | None
    """Null where it could not be tried."""
    slowest_check_seconds: float | None
    problems: tuple[str, ...] = ()
    """One line for each reason why the task is not proven."""
    passes_before: tuple[str, ...] = ()
    """Checks that must pass before any patch, and do: builds, style, tests that were there."""
    skipped: str | None = None
    """Why there is nothing to prove."""

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the task."""
        return not self.problems

    def line(self) -> str:
        """What was shown, as a user reads it; one more line for each problem."""
        if self.skipped:
            return f"{self.task}: skipped, {self.skipped}"
        if self.ok:
            before = f", {' and '.join(self.passes_before)} pass before it" if self.passes_before else ""
            return (
                f"{self.task}: the reference solution passes, an empty patch fails{before} "
                f"(slowest check {self.slowest_check_seconds:.1f} s)"
            )
        return "\n".join((f"{self.task}: not proven", *(f"  {problem}" for problem in self.problems)))


@dataclass(frozen=True)
class _Shown:
    """What the checks said to one patch; ``reason`` where it does not apply."""

    runs: Mapping[str, Tried]
    reason: str | None = None
    broken: tuple[str, ...] = ()
    """Rules of the dataset that the patch breaks."""


def check_dataset(
    path: Path, *, cache: Path, on_task: Callable[[TaskProof], None] | None = None
) -> tuple[TaskProof, ...]:
    """Try out every task of the dataset in ``path``.

    Args:
        path: the dataset file.
        cache: folder for copies of repositories.
        on_task: called with each result as soon as it is there.

    Raises:
        DatasetError: the file has faults.
    """
    proofs = []
    for task in load_dataset(path).tasks:
        proofs.append(_prove(task, path, cache))
        if on_task is not None:
            on_task(proofs[-1])
    return tuple(proofs)


def _prove(task: Task, path: Path, cache: Path) -> TaskProof:
    if not task.checks:
        return TaskProof(task.id, None, None, None, skipped="it has no checks")
    solution = path.parent / task.reference_solution if task.reference_solution else None
    try:
        with _scratch_folder() as scratch:
            bench = Workbench(task, path, cache, scratch / "checks")
            unchanged = _try(bench, b"", scratch / "unchanged")
            solved = _try(bench, solution.read_bytes(), scratch / "solved") if solution else None
    except RepositoryError as error:
        return TaskProof(task.id, None, None, None, problems=(error.what,))
    problems = [*_reference_problems(solved), *_unchanged_problems(task, unchanged)]
    runs = [*unchanged.runs.values(), *(solved.runs.values() if solved else ())]
    return TaskProof(
        task=task.id,
        reference_passes=None if solved is None else not _reference_problems(solved),
        empty_patch_fails=_fails(task, unchanged),
        slowest_check_seconds=max(run.duration_seconds for run in runs),
        problems=tuple(problems),
        passes_before=tuple(name for name in unchanged.runs if name not in _hidden(task)),
    )


def _reference_problems(solved: _Shown | None) -> list[str]:
    if solved is None:
        return ["it has checks, but no reference_solution shows that they can be passed"]
    if solved.reason is not None:
        return [f"the reference solution does not apply: {solved.reason}"]
    failed = [
        f"the reference solution does not pass {name} ({run.status.value}): {_last_line(run)}"
        for name, run in solved.runs.items()
        if run.status is not CheckStatus.PASSED
    ]
    return [*(f"the reference solution breaks a rule: {rule}" for rule in solved.broken), *failed]


def _unchanged_problems(task: Task, unchanged: _Shown) -> list[str]:
    """Builds, style and tests that were there must pass before any patch; hidden tests must not all pass."""
    hidden = _hidden(task)
    problems = []
    for name, run in unchanged.runs.items():
        if run.status not in {CheckStatus.PASSED, CheckStatus.FAILED}:
            problems.append(f"{name} cannot be run ({run.status.value}): {_last_line(run)}")
        elif run.status is CheckStatus.FAILED and name not in hidden:
            problems.append(f"{name} fails where nothing was changed: {_last_line(run)}")
    if not problems and not _fails(task, unchanged):
        problems.append("all checks pass where nothing was changed, so they show nothing")
    return problems


def _fails(task: Task, shown: _Shown) -> bool:
    """Whether something that only a solution passes fails."""
    return any(shown.runs[name].status is CheckStatus.FAILED for name in _hidden(task))


def _hidden(task: Task) -> set[str]:
    return {check.name for check in task.checks if check.purpose == "hidden"}


def _try(bench: Workbench, patch: bytes, folder: Path) -> _Shown:
    """Every check on a checkout of its own."""
    task, path = bench.task, bench.dataset_path
    checkout = seal_task(task, folder, dataset_path=path, cache=bench.cache)
    applied = check_patch(checkout, patch)
    if not applied.ok:
        return _Shown({}, applied.reason)
    runs = {check.name: bench.attempt(check, patch) for check in task.checks}
    return _Shown(runs, broken=(*_broken(task, patch), *_frozen(task, patch)))


def _broken(task: Task, patch: bytes) -> tuple[str, ...]:
    return () if task.rules is None else broken_rules(task.rules, patch)


def _frozen(task: Task, patch: bytes) -> tuple[str, ...]:
    """Files that the task keeps from changes and the reference changes all the same."""
    return tuple(
        f"{path} must stay as it is"
        for change in changes_of(patch)
        for path in change.paths
        if matches(path, task.frozen) or (change.removed and matches(path, task.only_additions))
    )


@contextlib.contextmanager
def _scratch_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="proof-"))
    try:
        yield folder
    finally:
        remove(folder)


def _last_line(run: Tried) -> str:
    if run.reason is not None:
        return run.reason[:200]
    lines = run.output_tail.strip().splitlines()
    return lines[-1][:200] if lines else "it wrote nothing"
