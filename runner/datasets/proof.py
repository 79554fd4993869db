"""Proof: shows for every task with checks that its reference solution passes and no change at all fails."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.datasets.checking import CheckRun, run_check
from runner.datasets.checkout import seal
from runner.datasets.dataset import Task
from runner.datasets.loading import load_dataset
from runner.datasets.patch import apply_patch
from runner.datasets.removal import remove
from runner.datasets.reveal import reveal_hidden_files
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
            return (
                f"{self.task}: the reference solution passes, an empty patch fails "
                f"(slowest check {self.slowest_check_seconds:.1f} s)"
            )
        return "\n".join((f"{self.task}: not proven", *(f"  {problem}" for problem in self.problems)))


@dataclass(frozen=True)
class _Tried:
    """What the checks said to one patch; ``reason`` where it does not apply."""

    runs: Mapping[str, CheckRun]
    reason: str | None = None


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
        unchanged = _try(task, b"", path, cache)
        solved = _try(task, solution.read_bytes(), path, cache) if solution else None
    except RepositoryError as error:
        return TaskProof(task.id, None, None, None, problems=(error.what,))
    problems = [*_reference_problems(solved), *_unchanged_problems(unchanged)]
    runs = [*unchanged.runs.values(), *(solved.runs.values() if solved else ())]
    return TaskProof(
        task=task.id,
        reference_passes=None if solved is None else not _reference_problems(solved),
        empty_patch_fails=_fails(unchanged),
        slowest_check_seconds=max(run.duration_seconds for run in runs),
        problems=tuple(problems),
    )


def _reference_problems(solved: _Tried | None) -> list[str]:
    if solved is None:
        return ["it has checks, but no reference_solution shows that they can be passed"]
    if solved.reason is not None:
        return [f"the reference solution does not apply: {solved.reason}"]
    return [
        f"the reference solution does not pass {name} ({run.status.value}): {_last_line(run)}"
        for name, run in solved.runs.items()
        if run.status is not CheckStatus.PASSED
    ]


def _unchanged_problems(unchanged: _Tried) -> list[str]:
    problems = [
        f"{name} cannot be run ({run.status.value}): {_last_line(run)}"
        for name, run in unchanged.runs.items()
        if run.status not in {CheckStatus.PASSED, CheckStatus.FAILED}
    ]
    if not problems and not _fails(unchanged):
        problems.append("all checks pass where nothing was changed, so they show nothing")
    return problems


def _fails(tried: _Tried) -> bool:
    return any(run.status is CheckStatus.FAILED for run in tried.runs.values())


def _try(task: Task, patch: bytes, path: Path, cache: Path) -> _Tried:
    """Every check on a checkout of its own."""
    runs: dict[str, CheckRun] = {}
    for check in task.checks:
        with _scratch_folder() as scratch:
            checkout = seal(
                task.repo,
                task.ref,
                beside=path.parent,
                cache=cache,
                workspace=scratch / "workspace",
                git_dir=scratch / "trusted.git",
            )
            applied = apply_patch(checkout, patch)
            if not applied.ok:
                return _Tried(runs, applied.reason)
            reveal_hidden_files(check, path, checkout.workspace)
            runs[check.name] = run_check(
                check.command, workspace=checkout.workspace, timeout_seconds=check.timeout_seconds
            )
    return _Tried(runs)


@contextlib.contextmanager
def _scratch_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="proof-"))
    try:
        yield folder
    finally:
        remove(folder)


def _last_line(run: CheckRun) -> str:
    lines = run.output_tail.strip().splitlines()
    return lines[-1][:200] if lines else "it wrote nothing"
