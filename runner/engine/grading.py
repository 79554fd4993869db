"""Grading: tries a patch out on a fresh checkout; hidden files reach the workspace only here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from runner.datasets import (
    SealedCheckout,
    Task,
    TaskCheck,
    apply_patch,
    check_patch,
    reveal_hidden_files,
    run_check,
    seal,
)
from runner.datasets.removal import remove
from runner.engine.isolation import CheckWrap
from runner.errors import HarnessmarkError
from runner.records import CheckRecord, CheckStatus, TrialIdentity

PATCH_CHECK = "patch-applies"
NOT_RUN = {
    CheckStatus.FAILED: "the patch does not apply",
    CheckStatus.ERROR: "whether the patch applies could not be tried",
}


@dataclass(frozen=True)
class Grading:
    """What grading a trial needs."""

    checkout: SealedCheckout
    """The one that the patch was made from; only its trusted repository is read."""
    task: Task
    dataset_path: Path
    repositories: Path
    """Cache of the repositories that tasks come from."""
    folder: Path
    """Scratch folder; removed and made anew."""
    mask: Callable[[str], str] = str
    """Takes secrets out of what a check printed."""
    wrap: CheckWrap | None = None
    """Puts a check inside: what it runs is code of an agent."""
    stopped: Callable[[], bool] = lambda: False
    """Whether the user wants nothing to go on."""


def grade(trial: TrialIdentity, patch: bytes, grading: Grading) -> tuple[CheckRecord, ...]:
    """Check records of ``patch``: first whether it applies, then every check that the task declares.

    Each check runs on a checkout of its own, so that no check sees what another left behind.

    Raises:
        CheckStopped: the user wants nothing to go on; the trial is graded when it is taken up again.
    """
    applies = _tried(trial, PATCH_CHECK, grading, lambda: _patch_applies(trial, patch, grading))
    records = [applies]
    for check in grading.task.checks:
        if applies.status is CheckStatus.PASSED:
            run = partial(_run, trial, check, patch, grading)
            records.append(_tried(trial, check.name, grading, run))
        else:
            why = NOT_RUN[applies.status] if patch else "the workspace was not changed"
            records.append(_without_run(trial, check.name, CheckStatus.NOT_RUN, why))
    remove(grading.folder)
    return tuple(records)


def _tried(
    trial: TrialIdentity, name: str, grading: Grading, check: Callable[[], CheckRecord]
) -> CheckRecord:
    """The record of ``check``; where our side fails at it, one that says so: the agent's work is not lost."""
    try:
        return check()
    except (HarnessmarkError, OSError) as error:
        reason = grading.mask(" ".join(str(error).split()))[:1000]
        return _without_run(trial, name, CheckStatus.ERROR, reason)


def _run(trial: TrialIdentity, check: TaskCheck, patch: bytes, grading: Grading) -> CheckRecord:
    workspace = _fresh_checkout(grading, check.name, patch)
    reveal_hidden_files(check, grading.dataset_path, workspace)
    started = datetime.now(UTC)
    run = run_check(
        check.command,
        workspace=workspace,
        timeout_seconds=check.timeout_seconds,
        wrap=grading.wrap,
        stopped=grading.stopped,
    )
    return CheckRecord(
        trial=trial,
        name=check.name,
        number=1,
        status=run.status,
        command=tuple(check.command),
        exit_code=run.exit_code,
        started_at=started,
        duration_seconds=run.duration_seconds,
        timeout_seconds=check.timeout_seconds,
        output_tail=grading.mask(run.output_tail.replace(str(workspace), "<workspace>"))[-4000:],
    )


def resolved(checks: tuple[CheckRecord, ...]) -> bool | None:
    """Whether every check passed; None where there is none to tell, or our side failed at one."""
    if not checks or any(check.status is CheckStatus.ERROR for check in checks):
        return None
    return all(check.status is CheckStatus.PASSED for check in checks)


def _patch_applies(trial: TrialIdentity, patch: bytes, grading: Grading) -> CheckRecord:
    started, begun = datetime.now(UTC), time.monotonic()

    def record(status: CheckStatus, reason: str | None) -> CheckRecord:
        return CheckRecord(
            trial=trial,
            name=PATCH_CHECK,
            number=1,
            status=status,
            command=("git", "apply", "--check"),
            started_at=started,
            duration_seconds=round(time.monotonic() - begun, 3),
            reason=reason,
        )

    if not patch:
        return record(CheckStatus.FAILED, "the workspace was not changed")
    applied = check_patch(grading.checkout, patch)
    if applied.ok:
        return record(CheckStatus.PASSED, None)
    return record(CheckStatus.FAILED, applied.reason.replace(str(grading.folder), "")[:1000])


def _fresh_checkout(grading: Grading, name: str, patch: bytes) -> Path:
    checkout = _seal(grading, name)
    apply_patch(checkout, patch)
    return checkout.workspace


def _without_run(trial: TrialIdentity, name: str, status: CheckStatus, reason: str) -> CheckRecord:
    return CheckRecord(
        trial=trial,
        name=name,
        number=1,
        status=status,
        started_at=datetime.now(UTC),
        duration_seconds=0.0,
        reason=reason,
    )


def _seal(grading: Grading, name: str) -> SealedCheckout:
    folder = grading.folder / name
    remove(folder)
    folder.mkdir(parents=True)
    return seal(
        grading.task.repo,
        grading.task.ref,
        beside=grading.dataset_path.parent,
        cache=grading.repositories,
        workspace=folder / "workspace",
        git_dir=folder / "trusted.git",
    )
