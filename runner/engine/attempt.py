"""Attempt: runs one planned trial from a sealed checkout to records in the store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.datasets import SealedCheckout, Task, make_patch, seal
from runner.datasets.removal import remove
from runner.engine.archive import keep_stream
from runner.engine.folding import fold_costs, fold_usage, total
from runner.engine.grading import Grading, grade, resolved
from runner.engine.masking import Mask
from runner.engine.outcome import decide_outcome
from runner.engine.settings import RunSettings
from runner.engine.supervision import supervise
from runner.errors import HarnessmarkError
from runner.harnesses.base import Assignment, Harness, Reading
from runner.harnesses.endpoint import Endpoint
from runner.records import (
    Artifact,
    ArtifactState,
    CheckRecord,
    Cost,
    CostBasis,
    Hosting,
    Invocation,
    InvocationKind,
    Outcome,
    PlannedTrial,
    Serving,
    TrialRecord,
    sha256_of,
)
from runner.skills import Skill

PATCH = "patch.diff"
MAX_ARTIFACT_BYTES = 4 * 1024 * 1024
RETRIED = frozenset({Outcome.MODEL_ERROR, Outcome.INFRASTRUCTURE})


@dataclass(frozen=True)
class Desk:
    """Everything one trial needs that the whole run shares or that was resolved for it."""

    planned: PlannedTrial
    position: int
    plan_id: str
    demonstration: bool
    hosting: Hosting
    settings: RunSettings
    task: Task
    dataset_path: Path
    harness: Harness
    skill: Skill
    endpoint: Endpoint
    folder: Path
    """Scratch folder of this trial: unique to plan and position, removed at the end."""
    repositories: Path
    streams: Path
    installed: Path
    cancelled: threading.Event
    on_line: Callable[[str], None] | None = None

    def mask(self) -> Mask:
        """What must not appear in the records of this trial."""
        return Mask(secret=self.endpoint.api_key, folder=str(self.folder))


@dataclass(frozen=True)
class Attempt:
    """A finished trial, ready to be written."""

    trial: TrialRecord
    checks: tuple[CheckRecord, ...]
    artifacts: Mapping[str, bytes]

    @property
    def resolved(self) -> bool | None:
        """Whether every check passed; None where there is nothing to tell."""
        return resolved(self.checks)


@dataclass(frozen=True)
class _Pass:
    """One invocation with what it left behind."""

    invocation: Invocation
    reading: Reading
    artifacts: Mapping[str, bytes]
    outcome: Outcome
    reason: str


def attempt(desk: Desk) -> Attempt:
    """Run the trial of ``desk``: checkout, invocations, artifacts, patch, checks.

    A harness or model that fails ends in an outcome, not in an exception; so does a checkout that cannot
    be made (``infrastructure``).
    """
    remove(desk.folder)
    desk.folder.mkdir(parents=True)
    try:
        checkout = seal(
            desk.task.repo,
            desk.task.ref,
            beside=desk.dataset_path.parent,
            cache=desk.repositories,
            workspace=desk.folder / "workspace",
            git_dir=desk.folder / "trusted.git",
        )
        passes = _invoke_until_done(desk, checkout)
        last = passes[-1]
        checks: tuple[CheckRecord, ...] = ()
        if last.outcome is not Outcome.CANCELLED:
            grading = Grading(desk.task, desk.dataset_path, desk.repositories, desk.folder / "grading")
            checks = grade(desk.planned.identity, last.artifacts.get(PATCH, b""), grading)
        return Attempt(_trial_record(desk, checkout, passes), checks, last.artifacts)
    except (HarnessmarkError, OSError) as error:
        return Attempt(_infrastructure_record(desk, str(error)), (), {})
    finally:
        remove(desk.folder)


def _invoke_until_done(desk: Desk, checkout: SealedCheckout) -> list[_Pass]:
    """First pass, then the cheap repair before the dear one: a retry only where nothing was kept."""
    passes = [_invoke(desk, checkout, InvocationKind.FIRST, 1)]
    top_ups, retries = desk.settings.max_topups, desk.settings.max_retries
    while True:
        last = passes[-1]
        if last.outcome is Outcome.INCOMPLETE and PATCH in last.artifacts and top_ups > 0:
            top_ups -= 1
            kind = InvocationKind.TOP_UP
        elif last.outcome in RETRIED and PATCH not in last.artifacts and retries > 0:
            retries -= 1
            kind = InvocationKind.RETRY
        else:
            return passes
        passes.append(_invoke(desk, checkout, kind, len(passes) + 1))


def _invoke(desk: Desk, checkout: SealedCheckout, kind: InvocationKind, number: int) -> _Pass:
    scratch = desk.folder / f"invocation-{number}"
    artifacts = desk.folder / "artifacts"
    home = scratch / "home"
    home.mkdir(parents=True)
    artifacts.mkdir(exist_ok=True)
    present = () if kind is not InvocationKind.TOP_UP else tuple(_read_artifacts(desk, checkout, artifacts))
    assignment = Assignment(
        prompt=desk.skill.prompt(
            desk.task, artifacts=artifacts, workspace=checkout.workspace, present=present
        ),
        workspace=checkout.workspace,
        artifacts=artifacts,
        home=home,
        endpoint=desk.endpoint,
        limits=desk.settings.limits(),
        installed=desk.installed,
    )
    launch = desk.harness.launch(assignment)
    stdout = scratch / "stdout"
    finished = supervise(
        launch,
        stdout=stdout,
        timeout_seconds=desk.settings.timeout_seconds,
        cancelled=desk.cancelled,
        on_line=desk.on_line,
    )
    reading = desk.harness.read(stdout, assignment)
    collected = _read_artifacts(desk, checkout, artifacts)
    missing = [name for name in desk.skill.artifacts if name not in collected]
    outcome, reason = decide_outcome(finished, reading, missing)
    mask = desk.mask()
    invocation = Invocation(
        number=number,
        kind=kind,
        started_at=finished.started_at,
        ended_at=finished.ended_at,
        duration_seconds=finished.duration_seconds,
        command=tuple(mask.text(part) for part in launch.command),
        exit_code=finished.exit_code,
        stop_reason=reading.stop_reason,
        error=None if reading.error is None else mask.text(reading.error),
        turns=reading.turns,
        retries=reading.retries,
        usage=reading.usage,
        usage_by_model=dict(reading.usage_by_model),
        stream_sha256=keep_stream(stdout, desk.streams),
    )
    return _Pass(invocation, reading, collected, outcome, mask.text(reason))


def _read_artifacts(desk: Desk, checkout: SealedCheckout, folder: Path) -> dict[str, bytes]:
    """The artifacts that are there: the patch made by us, the rest as the agent left them.

    The agent is not trusted: links are not followed, and a file above the size limit counts as missing.
    """
    found: dict[str, bytes] = {}
    for name in desk.skill.artifacts:
        path = folder / name
        if name == PATCH:
            data = make_patch(checkout)
        elif path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_ARTIFACT_BYTES:
            data = path.read_bytes()
        else:
            continue
        if data.strip():
            found[name] = data
    return found


def _trial_record(desk: Desk, checkout: SealedCheckout, passes: list[_Pass]) -> TrialRecord:
    last = passes[-1]
    invocations = tuple(each.invocation for each in passes)
    return _record(desk, last.outcome, last.reason).model_copy(
        update={
            "started_at": invocations[0].started_at,
            "ended_at": invocations[-1].ended_at,
            "duration_seconds": round(sum(each.duration_seconds for each in invocations), 3),
            "isolation": "none",
            "base_commit": checkout.base_commit,
            "invocations": invocations,
            "turns": total(each.turns for each in invocations),
            "turns_definition": desk.harness.turns_definition,
            "usage": fold_usage(invocations),
            "costs": _costs(desk, passes),
            "warnings": tuple(dict.fromkeys(warning for each in passes for warning in each.reading.warnings)),
            "artifacts": tuple(_artifact(name, last.artifacts.get(name)) for name in desk.skill.artifacts),
            "artifacts_produced": len(last.artifacts),
            "artifacts_expected": len(desk.skill.artifacts),
        }
    )


def _infrastructure_record(desk: Desk, message: str) -> TrialRecord:
    return _record(desk, Outcome.INFRASTRUCTURE, desk.mask().text(message))


def _record(desk: Desk, outcome: Outcome, reason: str) -> TrialRecord:
    settings = desk.settings
    return TrialRecord(
        identity=desk.planned.identity,
        fingerprint=desk.planned.fingerprint,
        plan_id=desk.plan_id,
        position=desk.position,
        demonstration=desk.demonstration,
        outcome=outcome,
        outcome_reason=reason,
        serving=Serving(
            hosting=desk.hosting,
            instance_type=settings.instance_type,
            tensor_parallel_size=settings.tensor_parallel_size,
            precision=settings.precision,
            context_window=desk.endpoint.context_window,
        ),
        limits=settings.limits(),
    )


def _costs(desk: Desk, passes: list[_Pass]) -> tuple[Cost, ...]:
    if desk.demonstration:
        return (Cost(basis=CostBasis.NONE, amount_usd=0.0, source="the built-in model server bills nothing"),)
    return fold_costs([each.reading.costs for each in passes])


def _artifact(name: str, data: bytes | None) -> Artifact:
    if data is None:
        return Artifact(name=name, state=ArtifactState.MISSING)
    return Artifact(name=name, state=ArtifactState.PRESENT, sha256=sha256_of(data), size_bytes=len(data))
