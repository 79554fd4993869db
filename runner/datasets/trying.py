"""Trying: runs one check of a task on fresh checkouts, before and after a patch where it compares the two."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.datasets.checking import CheckRun, run_check
from runner.datasets.checkout import SealedCheckout, seal_task
from runner.datasets.dataset import Task, TaskCheck
from runner.datasets.git import must_git
from runner.datasets.patch import apply_patch
from runner.datasets.patterns import matches
from runner.datasets.removal import remove
from runner.datasets.reports import FAILED, PASSED, Outcomes, read_report, report_path
from runner.datasets.reveal import reveal_hidden_files
from runner.records import BaseRun, CheckStatus, TestOutcomes

SHOWN = 10


@dataclass(frozen=True)
class Tried:
    """What one run of a check showed."""

    status: CheckStatus
    exit_code: int | None
    duration_seconds: float
    output_tail: str
    tests: TestOutcomes | None = None
    base: BaseRun | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Ran:
    """One run of a command, with the tests that it told of."""

    run: CheckRun
    outcomes: Outcomes | None

    @property
    def tests(self) -> TestOutcomes | None:
        """The outcomes as a record; None when no report could be read."""
        return None if self.outcomes is None else self.outcomes.record()


@dataclass(frozen=True)
class Workbench:
    """Where the checks of a task are run."""

    task: Task
    dataset_path: Path
    cache: Path
    """Copies of the repositories that tasks come from."""
    folder: Path
    """Scratch folder; each run gets a folder of its own below, which is removed afterwards."""
    wrap: Callable[[Sequence[str], Path, Path], Sequence[str]] | None = None
    """Puts a command inside an isolation."""
    stopped: Callable[[], bool] = lambda: False
    before: MutableMapping[tuple[str, str], Ran] = field(default_factory=dict)
    """Runs before any patch by task digest and check, so that several trials share one."""

    def attempt(self, check: TaskCheck, patch: bytes) -> Tried:
        """Run ``check`` with ``patch``, which applies; an empty one is the code as it was.

        Raises:
            CheckStopped: the user wants nothing to go on.
            RepositoryError: a checkout cannot be made.
            DatasetError: a hidden file changed.
        """
        if check.purpose == "regression":
            return self._compared(check, patch)
        return _tried(self._ran(check, patch))

    def _compared(self, check: TaskCheck, patch: bytes) -> Tried:
        """Only what passed before counts, and all of that must pass still."""
        key = (self.task.digest(), check.name)
        before = self.before.get(key) or self._ran(check, b"")
        self.before[key] = before
        base = BaseRun(
            status=before.run.status,
            exit_code=before.run.exit_code,
            duration_seconds=before.run.duration_seconds,
            tests=before.tests,
        )
        unusable = _unusable(before)
        if unusable:
            tail = before.run.output_tail
            return Tried(CheckStatus.ERROR, None, 0.0, tail, base=base, reason=unusable)
        after = self._ran(check, patch)
        status, reason = _verdict(before, after)
        return replace(_tried(after), status=status, reason=reason, base=base)

    def _ran(self, check: TaskCheck, patch: bytes) -> Ran:
        folder = self.folder / check.name
        checkout = self._seal(folder)
        apply_patch(checkout, patch)
        if check.purpose == "regression":
            restore(checkout, self.task.kept)
        reveal_hidden_files(check, self.dataset_path, checkout.workspace)
        if (report := report_path(check.report)) is not None:
            # One that is there already would be what somebody wrote, not what this run found.
            _clear(checkout.workspace, report)
        run = run_check(
            check.command,
            workspace=checkout.workspace,
            timeout_seconds=check.timeout_seconds,
            wrap=self.wrap,
            stopped=self.stopped,
        )
        outcomes = read_report(check.report, run.output, checkout.workspace)
        tail = run.output_tail.replace(str(checkout.workspace), "<workspace>")
        remove(folder)
        return Ran(replace(run, output_tail=tail, output=""), outcomes)

    def _seal(self, folder: Path) -> SealedCheckout:
        remove(folder)
        folder.mkdir(parents=True)
        return seal_task(self.task, folder, dataset_path=self.dataset_path, cache=self.cache)


def restore(checkout: SealedCheckout, patterns: Sequence[str]) -> None:
    """Put the files that ``patterns`` mean back as they were, whatever a patch did to them."""
    if not patterns:
        return
    listed = must_git(
        "ls-tree", "-r", "-z", "--name-only", checkout.base_commit, git_dir=checkout.git_dir
    ).split(b"\0")
    names = [name for name in listed if name and matches(name.decode("utf-8", "replace"), patterns)]
    for name in names:
        _clear(checkout.workspace, name.decode("utf-8", "surrogateescape"))
    must_git(
        "checkout-index",
        "--force",
        "-z",
        "--stdin",
        git_dir=checkout.git_dir,
        work_tree=checkout.workspace,
        cwd=checkout.workspace,
        stdin=b"\0".join([*names, b""]),
    )


def _clear(workspace: Path, name: str) -> None:
    """Remove what stands in the way of a file: itself, and a link or file where it needs a folder."""
    path = workspace
    for part in name.split("/"):
        path = path / part
        if path.is_symlink() or not path.is_dir():
            remove(path)
            return
    remove(path)


def _tried(ran: Ran) -> Tried:
    run = ran.run
    return Tried(run.status, run.exit_code, run.duration_seconds, run.output_tail, ran.tests)


def _unusable(before: Ran) -> str:
    """Why the run before the patch says nothing; empty where it does."""
    if before.run.status not in {CheckStatus.PASSED, CheckStatus.FAILED}:
        return f"it could not be run on the code before the patch ({before.run.status.value})"
    if before.outcomes is None:
        failed = before.run.status is CheckStatus.FAILED
        return "it fails on the code before the patch, and names no tests" if failed else ""
    return "" if before.outcomes.named(PASSED) else "no test passed before the patch"


def _verdict(before: Ran, after: Ran) -> tuple[CheckStatus, str | None]:
    if after.run.status not in {CheckStatus.PASSED, CheckStatus.FAILED} or before.outcomes is None:
        return after.run.status, None
    passing = set(after.outcomes.named(PASSED)) if after.outcomes is not None else set()
    lost = [name for name in before.outcomes.named(PASSED) if name not in passing]
    if lost:
        more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
        return CheckStatus.FAILED, f"passed before and do not now: {', '.join(lost[:SHOWN])}{more}"[:1000]
    failing = after.outcomes.named(FAILED) if after.outcomes is not None else []
    if after.run.status is CheckStatus.FAILED and not failing:
        # It ended badly although every test that it named is fine: something else broke.
        return CheckStatus.FAILED, "all tests that passed before pass, but the command fails"
    kept = f"{len(failing)} tests fail that did not pass before" if failing else None
    return CheckStatus.PASSED, kept
