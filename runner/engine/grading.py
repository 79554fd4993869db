"""Grading: tries a patch out on a fresh checkout; hidden files reach the workspace only here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from runner.datasets import SealedCheckout, Task, TaskCheck, check_patch, remove, seal_task
from runner.datasets.rules import broken_rules
from runner.datasets.schema import RulesEntry
from runner.datasets.trying import Ran, Workbench
from runner.engine.isolation import CheckWrap
from runner.errors import HarnessmarkError
from runner.records import CheckPurpose, CheckRecord, CheckStatus, TestOutcomes, TrialIdentity

PATCH_CHECK, RULES_CHECK = "patch-applies", "rules"
BUILT_FIRST = frozenset({CheckPurpose.HIDDEN, CheckPurpose.REGRESSION})
"""What cannot be told of a project that does not build."""
NOT_RUN = {
    CheckStatus.FAILED: "the patch does not apply",
    CheckStatus.ERROR: "whether the patch applies could not be tried",
}


@dataclass(frozen=True)
class Grading:
    """What grading a trial needs."""

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
    checkout: SealedCheckout | None = None
    """The one that the patch was made from; only its trusted repository is read. None: one is made."""
    level: Literal["none", "sandbox", "container"] | None = None
    """The isolation that ``wrap`` stands for."""
    before: MutableMapping[tuple[str, str], Ran] = field(default_factory=dict)
    """Runs of regression checks before any patch; several trials of a task may share them."""

    def bench(self) -> Workbench:
        """Where the commands are run."""
        return Workbench(
            self.task,
            self.dataset_path,
            self.repositories,
            self.folder,
            wrap=self.wrap,
            stopped=self.stopped,
            before=self.before,
        )

    def sealed(self) -> SealedCheckout:
        """The checkout to try the patch on; nothing in its workspace is looked at."""
        if self.checkout is not None:
            return self.checkout
        folder = self.folder / PATCH_CHECK
        remove(folder)
        folder.mkdir(parents=True)
        return seal_task(self.task, folder, dataset_path=self.dataset_path, cache=self.repositories)


def grade(
    trial: TrialIdentity, patch: bytes, grading: Grading, numbers: Mapping[str, int] | None = None
) -> tuple[CheckRecord, ...]:
    """Check records of ``patch``: whether it applies, whether it keeps the rules, then every check.

    Each check runs on a checkout of its own, so that no check sees what another left behind. Tests are not
    run where the project does not build.

    Args:
        trial: whose patch it is.
        patch: the change; empty where there is none.
        grading: what is needed.
        numbers: the number of a check's record by the check's name; 1 where it says nothing.

    Raises:
        CheckStopped: the user wants nothing to go on; the trial is graded when it is taken up again.
    """
    made = _Records(trial, grading, numbers or {})
    records = [made.tried(PATCH_CHECK, CheckPurpose.APPLIES, partial(made.applies, patch))]
    why = NOT_RUN.get(records[0].status, "") if patch else "the workspace was not changed"
    if (rules := grading.task.rules) is not None:
        purpose = CheckPurpose.RULES
        kept = partial(made.rules, rules, patch)
        missing = partial(made.without_run, RULES_CHECK, purpose, CheckStatus.NOT_RUN, why)
        records.append(made.tried(RULES_CHECK, purpose, missing if why else kept))
    bench = grading.bench()
    for check in sorted(grading.task.checks, key=lambda check: check.purpose != "build"):
        purpose = CheckPurpose(check.purpose)
        reason = why or (_unbuilt(records) if purpose in BUILT_FIRST else "")
        if reason:
            records.append(made.without_run(check.name, purpose, CheckStatus.NOT_RUN, reason))
        else:
            records.append(made.tried(check.name, purpose, partial(made.run, bench, check, patch)))
    remove(grading.folder)
    return tuple(records)


def resolved(checks: Sequence[CheckRecord]) -> bool | None:
    """Whether the newest run of every check passed.

    None where no hidden tests tell whether the problem is solved, or our side failed.
    """
    newest: dict[str, CheckRecord] = {}
    for check in checks:
        if check.name not in newest or newest[check.name].number < check.number:
            newest[check.name] = check
    told = any(check.tells for check in newest.values())
    if not told or any(check.status is CheckStatus.ERROR for check in newest.values()):
        return None
    return all(check.status is CheckStatus.PASSED for check in newest.values())


def untested(checks: Sequence[CheckRecord]) -> bool:
    """Whether there was nothing to tell by: checks were made, but the task has no hidden tests."""
    failed = any(check.status is CheckStatus.ERROR for check in checks)
    return bool(checks) and not failed and not any(check.tells for check in checks)


def _unbuilt(records: Sequence[CheckRecord]) -> str:
    """Why tests cannot be run; empty where every build passed."""
    for record in records:
        if record.purpose is CheckPurpose.BUILD and record.status is not CheckStatus.PASSED:
            return f"the project does not build ({record.name}: {record.status.value})"
    return ""


@dataclass(frozen=True)
class _Records:
    """Makes the check records of one trial."""

    trial: TrialIdentity
    grading: Grading
    numbers: Mapping[str, int]

    def tried(self, name: str, purpose: CheckPurpose, check: Callable[[], CheckRecord]) -> CheckRecord:
        """The record of ``check``; where our side fails at it, one that says so: the agent's work is kept."""
        try:
            return check()
        except (HarnessmarkError, OSError) as error:
            reason = self.grading.mask(" ".join(str(error).split()))[:1000]
            return self.without_run(name, purpose, CheckStatus.ERROR, reason)

    def run(self, bench: Workbench, check: TaskCheck, patch: bytes) -> CheckRecord:
        """The record of a command."""
        started, mask = datetime.now(UTC), self.grading.mask
        tried = bench.attempt(check, patch)
        base = tried.base
        if base is not None:
            base = base.model_copy(update={"tests": self._masked(base.tests)})
        return self.without_run(
            check.name, CheckPurpose(check.purpose), tried.status, tried.reason
        ).model_copy(
            update={
                "command": tuple(check.command),
                "exit_code": tried.exit_code,
                "started_at": started,
                "duration_seconds": tried.duration_seconds,
                "timeout_seconds": check.timeout_seconds,
                "isolation": self.grading.level,
                "tests": self._masked(tried.tests),
                "base": base,
                "output_tail": mask(tried.output_tail)[-4000:],
            }
        )

    def applies(self, patch: bytes) -> CheckRecord:
        """Whether the patch applies."""
        started, begun = datetime.now(UTC), time.monotonic()
        if not patch:
            status, reason = CheckStatus.FAILED, "the workspace was not changed"
        else:
            applied = check_patch(self.grading.sealed(), patch)
            status = CheckStatus.PASSED if applied.ok else CheckStatus.FAILED
            reason = applied.reason.replace(str(self.grading.folder), "")
        record = self.without_run(PATCH_CHECK, CheckPurpose.APPLIES, status, reason or None)
        seconds = round(time.monotonic() - begun, 3)
        command = ("git", "apply", "--check")
        return record.model_copy(
            update={"command": command, "started_at": started, "duration_seconds": seconds}
        )

    def rules(self, rules: RulesEntry, patch: bytes) -> CheckRecord:
        """Whether the patch keeps the limits that the dataset sets."""
        broken = broken_rules(rules, patch)
        status = CheckStatus.FAILED if broken else CheckStatus.PASSED
        return self.without_run(RULES_CHECK, CheckPurpose.RULES, status, "; ".join(broken) or None)

    def without_run(
        self, name: str, purpose: CheckPurpose, status: CheckStatus, reason: str | None
    ) -> CheckRecord:
        """The record of a check that started no command."""
        return CheckRecord(
            trial=self.trial,
            name=name,
            number=self.numbers.get(name, 1),
            purpose=purpose,
            status=status,
            started_at=datetime.now(UTC),
            duration_seconds=0.0,
            task_digest=self.grading.task.digest(),
            reason=None if reason is None else self.grading.mask(reason)[:1000],
        )

    def _masked(self, tests: TestOutcomes | None) -> TestOutcomes | None:
        """Names are printed by code that is not trusted: they may hold what no record may."""
        if tests is None:
            return None
        lists = {
            kind: tuple(self.grading.mask(name)[:300] or "?" for name in getattr(tests, kind))
            for kind in ("passed", "failed", "skipped")
        }
        return tests.model_copy(update=lists)
