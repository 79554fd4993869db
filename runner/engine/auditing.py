"""Auditing: scans a trial for forbidden help, and voids one that had it, by a correction."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.datasets import Task
from runner.integrity import RULES_VERSION, Evidence, Ground, scan_trial
from runner.records import (
    CorrectionRecord,
    IntegrityRecord,
    Limits,
    Outcome,
    PlanRecord,
    TrialIdentity,
    TrialRecord,
    sha256_of,
)
from runner.store import ResultsStore
from runner.store.layout import trial_path

FIELD = "outcome"


@dataclass(frozen=True)
class Surroundings:
    """Where a trial ran, and how its stream is read."""

    project: Path | None
    scratch: Path
    streams: Path
    installed: Path
    trace: Callable[[str], str | None]
    mask: Callable[[str], str]

    def ground(self) -> Ground:
        """The folders as the agent saw them."""
        return Ground(
            project="" if self.project is None else str(self.project),
            scratch=str(self.scratch),
            home=str(Path.home()),
            programs=(str(self.installed), sys.prefix, sys.base_prefix),
        )


def audit(
    record: TrialRecord,
    task: Task,
    dataset_path: Path,
    patch: bytes | None,
    around: Surroundings,
    *,
    number: int = 1,
    digest: str | None = None,
    planned: Limits | None = None,
) -> IntegrityRecord:
    """Scan one trial.

    Args:
        record: of the trial.
        task: that it was given.
        dataset_path: the file of the task.
        patch: None where none is kept.
        around: where it ran.
        number: of this scan.
        digest: of the record's file where that may differ from the record; None: it is just being made.
        planned: limits that the plan set for every trial, where it did.
    """
    solution = dataset_path.parent / task.reference_solution if task.reference_solution else None
    scan = scan_trial(
        Evidence(
            record=record,
            task=task,
            ground=around.ground(),
            patch=patch,
            reference=solution.read_bytes() if solution is not None and solution.is_file() else None,
            streams=around.streams,
            trace=around.trace,
            mask=around.mask,
            planned=planned,
        )
    )
    return IntegrityRecord(
        trial=record.identity,
        number=number,
        rules_version=RULES_VERSION,
        scanned_at=datetime.now(UTC),
        trial_sha256=digest or record.digest(),
        scanned=scan.scanned,
        findings=scan.findings,
        left_out=scan.left_out,
    )


def void(
    store: ResultsStore, plan_id: str, identity: TrialIdentity, scan: IntegrityRecord, outcome: Outcome
) -> None:
    """Make the outcome of a stored trial ``cheating`` where ``scan`` found what voids it.

    The correction has one name for one trial and follows from the scan: written again it is the same, and one
    that somebody took back by a later correction stays taken back.

    Args:
        store: holds the trial.
        plan_id: of its plan.
        identity: of the trial.
        scan: the one that found it.
        outcome: as it stands in the trial's file.
    """
    if not scan.voids or outcome is Outcome.CHEATING:
        return
    path = str(trial_path(identity))
    told = [
        f"{each.rule}: {each.text}" + (f" ({each.evidence})" if each.evidence else "") for each in scan.voids
    ]
    store.write_correction(
        plan_id,
        CorrectionRecord(
            correction_id=void_id(identity),
            path=path,
            record_sha256=scan.trial_sha256,
            field=FIELD,
            old_value=outcome.value,
            new_value=Outcome.CHEATING.value,
            reason=f"integrity scan {scan.number}: {'; '.join(told)}"[:2000],
            corrected_at=scan.scanned_at,
        ),
    )


def void_id(identity: TrialIdentity) -> str:
    """Name of the correction that voids a trial."""
    return f"void-{sha256_of(str(trial_path(identity)).encode())[:24]}"


def void_found(store: ResultsStore, identity: TrialIdentity) -> None:
    """Void a stored trial whose scan was written before a crash, and its correction was not."""
    stored = store.trial(identity)
    finding = next((scan for scan in stored.scans if scan.voids), None)
    if finding is not None and not any(
        each.correction_id == void_id(identity) for each in stored.corrections
    ):
        void(store, stored.record.plan_id, identity, finding, stored.record.outcome)


def planned_limits(plan: PlanRecord) -> Limits | None:
    """The limits that ``plan`` set for every trial; None where its groups may have had others each."""
    try:
        groups = json.loads(plan.settings.get("groups", ""))
    except ValueError:
        return None
    alike = plan.purpose == "run" and isinstance(groups, list) and len(groups) == 1
    return plan.limits if alike else None
