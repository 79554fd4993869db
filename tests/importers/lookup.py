"""Committed trials by cell and task, and their warnings by code."""

from __future__ import annotations

from runner.records import (
    JudgementRecord,
    TrialRecord,
)
from runner.store import StoredTrial
from tests.importers import figures
from tests.importers.figures import V1

SSRF = "ssrf-hardening-outbound-url-validation"
EFS = "remove-efs-from-terraform-aws-ecs"
ENV = "migrate-ecs-env-vars-to-secrets-manager"
KEYCLOAK = "replace-keycloak-db-password-with-rds-iam"
FAISS = "remove-faiss"


def stored(harness: str, skill: str, slug: str, task: str, dataset: str = V1) -> StoredTrial:
    """The counted trial of one task."""
    return next(
        found
        for found in figures.cell(harness, skill, dataset, slug).trials
        if found.record.identity.task == task
    )


def record(harness: str, skill: str, slug: str, task: str, dataset: str = V1) -> TrialRecord:
    """Its record."""
    return stored(harness, skill, slug, task, dataset).record


def codes(trial: TrialRecord) -> set[str]:
    """Codes of its warnings."""
    return {warning.code for warning in trial.warnings}


def text(trial: TrialRecord, code: str) -> str:
    """Text of its one warning with that code."""
    (found,) = [warning.text for warning in trial.warnings if warning.code == code]
    return found


def with_code(code: str) -> list[TrialRecord]:
    """Every imported trial that carries ``code``."""
    return [found.record for found in figures.committed() if code in codes(found.record)]


def judgement(found: StoredTrial) -> JudgementRecord:
    """Its one judgement."""
    (only,) = found.judgements
    return only
