"""Recording: the record of a trial from its invocations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner.datasets import SealedCheckout
from runner.engine.desk import Desk
from runner.engine.earlier import Done
from runner.engine.folding import fold_costs, fold_usage, total
from runner.engine.invoking import Pass
from runner.records import (
    Artifact,
    ArtifactState,
    Cost,
    CostBasis,
    DataWarning,
    Outcome,
    Serving,
    TrialRecord,
    sha256_of,
)
from runner.skills import Skill


def trial_record(desk: Desk, checkout: SealedCheckout, done: Sequence[Done], last: Pass) -> TrialRecord:
    """The record of a trial that ran: outcome and artifacts of its last invocation, sums over all of them."""
    names = desk.skill.artifacts
    record = _record(desk, done, last.done.outcome, last.done.reason)
    return record.model_copy(
        update={
            "warnings": (*record.warnings, *headings_missing(desk.skill, last.artifacts)),
            "base_commit": checkout.base_commit,
            "artifacts": tuple(_artifact(name, last.artifacts.get(name)) for name in names),
            "artifacts_produced": len(last.artifacts),
            "artifacts_expected": len(names),
        }
    )


def headings_missing(skill: Skill, artifacts: Mapping[str, bytes]) -> tuple[DataWarning, ...]:
    """A warning that names, by file, the headings of the contract that are not there; none where all are."""
    lacking = []
    for name, data in artifacts.items():
        missing = skill.missing_headings(name, data.decode(errors="replace"))
        if missing:
            lacking.append(f"{name}: {', '.join(missing)}")
    return (DataWarning(code="headings-missing", text="; ".join(lacking)[:1000]),) if lacking else ()


def infrastructure_record(desk: Desk, done: Sequence[Done], message: str) -> TrialRecord:
    """The record of a trial in which our side failed; what was spent until then is in it."""
    return _record(desk, done, Outcome.INFRASTRUCTURE, desk.mask().text(" ".join(message.split())))


def not_started_record(desk: Desk, done: Sequence[Done]) -> TrialRecord:
    """The record of a trial that is left for later, before its agent or before its grading; never written."""
    return _record(desk, done, Outcome.CANCELLED, "left for later")


def _record(desk: Desk, done: Sequence[Done], outcome: Outcome, reason: str) -> TrialRecord:
    settings = desk.settings
    invocations = tuple(each.invocation for each in done)
    record = TrialRecord(
        identity=desk.planned.identity,
        fingerprint=desk.planned.fingerprint,
        plan_id=desk.plan_id,
        position=desk.position,
        demonstration=desk.demonstration,
        outcome=outcome,
        outcome_reason=reason,
        isolation=desk.isolation.level.value,
        serving=Serving(
            hosting=desk.hosting,
            instance_type=settings.instance_type,
            tensor_parallel_size=settings.tensor_parallel_size,
            precision=settings.precision,
            context_window=desk.endpoint.context_window,
        ),
        limits=settings.limits(),
    )
    if not invocations:
        return record
    return record.model_copy(
        update={
            "started_at": invocations[0].started_at,
            "ended_at": invocations[-1].ended_at,
            "duration_seconds": round(sum(each.duration_seconds for each in invocations), 3),
            "invocations": invocations,
            "turns": total(each.turns for each in invocations),
            "turns_definition": desk.harness.turns_definition,
            "usage": fold_usage(invocations),
            "costs": _costs(desk, done),
            "warnings": tuple(
                dict.fromkeys([*desk.warnings, *(warning for each in done for warning in each.warnings)])
            ),
        }
    )


def _costs(desk: Desk, done: Sequence[Done]) -> tuple[Cost, ...]:
    if desk.demonstration:
        return (Cost(basis=CostBasis.NONE, amount_usd=0.0, source="the built-in model server bills nothing"),)
    return fold_costs([each.costs for each in done])


def _artifact(name: str, data: bytes | None) -> Artifact:
    if data is None:
        return Artifact(name=name, state=ArtifactState.MISSING)
    return Artifact(name=name, state=ArtifactState.PRESENT, sha256=sha256_of(data), size_bytes=len(data))
