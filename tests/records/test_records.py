"""Records refuse what cannot be true."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from runner.records import (
    Artifact,
    ArtifactScore,
    ArtifactState,
    Cost,
    CostBasis,
    JudgementRecord,
    JudgementStatus,
    Standing,
    TrialRecord,
    json_schemas,
)
from tests import examples

SCORE = st.integers(min_value=0, max_value=25)


def remade(record: TrialRecord, **changes: object) -> TrialRecord:
    """``record`` validated anew with changed fields."""
    return TrialRecord.model_validate({**dict(record), **changes})


def rejudged(**changes: object) -> JudgementRecord:
    """The example judgement validated anew with changed fields."""
    return JudgementRecord.model_validate({**dict(examples.judgement()), **changes})


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        examples.trial().outcome_reason = "because"


def test_a_cost_without_an_amount_says_why() -> None:
    with pytest.raises(ValidationError, match="missing_reason"):
        Cost(basis=CostBasis.METERED, amount_usd=None, source="agent")


@pytest.mark.parametrize("amount", [-0.01, float("nan"), float("inf")])
def test_a_cost_is_a_finite_amount_of_at_least_nothing(amount: float) -> None:
    with pytest.raises(ValidationError):
        Cost(basis=CostBasis.METERED, amount_usd=amount, source="agent")


def test_a_trial_that_does_not_count_says_why() -> None:
    with pytest.raises(ValidationError, match="standing_reason"):
        remade(examples.trial(), standing=Standing.SUPERSEDED)


def test_a_present_artifact_has_a_digest() -> None:
    with pytest.raises(ValidationError, match="sha256"):
        Artifact(name="lld.md", state=ArtifactState.PRESENT)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValidationError, match="zone"):
        remade(examples.trial(), started_at=datetime(2026, 1, 31, 12, 0))


def test_times_are_kept_in_utc() -> None:
    local = datetime(2026, 1, 31, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    assert b'"started_at": "2026-01-31T12:00:00Z"' in remade(examples.trial(), started_at=local).to_bytes()


@given(SCORE, SCORE, SCORE, SCORE, st.integers(min_value=0, max_value=100))
def test_an_artifact_total_is_the_sum_of_its_criteria_or_refused(
    a: int, b: int, c: int, d: int, total: int
) -> None:
    parts = {"completeness": a, "correctness": b, "specificity": c, "risk_awareness": d}
    if total == a + b + c + d:
        assert ArtifactScore(**parts, total=total).total == total
    else:
        with pytest.raises(ValidationError, match="add up"):
            ArtifactScore(**parts, total=total)


@pytest.mark.parametrize("criterion", [26, -1, 25.0, "25", True])
def test_a_criterion_is_a_whole_number_from_0_to_25(criterion: object) -> None:
    with pytest.raises(ValidationError):
        ArtifactScore.model_validate(
            {"completeness": criterion, "correctness": 0, "specificity": 0, "risk_awareness": 0, "total": 25}
        )


def test_a_task_score_that_is_not_the_mean_of_the_totals_is_refused() -> None:
    with pytest.raises(ValidationError, match="mean of the totals"):
        rejudged(task_score=76.0)


def test_a_task_score_within_rounding_of_the_mean_is_taken() -> None:
    assert rejudged(task_score=75.0009).task_score == 75.0009


def test_an_invalid_judgement_has_no_score() -> None:
    with pytest.raises(ValidationError, match="exactly when"):
        rejudged(status=JudgementStatus.INVALID)
    unscored = {"status": JudgementStatus.INVALID, "task_score": None, "scores": None}
    assert rejudged(**unscored, invalid_reason="no JSON object").task_score is None
    with pytest.raises(ValidationError, match="invalid_reason"):
        rejudged(**unscored)
    with pytest.raises(ValidationError, match="invalid_reason"):
        rejudged(invalid_reason="no JSON object")


def test_a_schema_is_made_for_every_kind_and_closes_its_objects() -> None:
    schemas = json_schemas()
    assert {name.rpartition("-")[0] for name in schemas} == {
        "trial",
        "bench-manifest",
        "bench-trial",
        "bench-summary",
        "judgement",
        "check",
        "integrity",
        "plan",
        "throughput",
        "correction",
        "judge-proof",
        "ledger-entry",
    }
    assert all(schema["additionalProperties"] is False for schema in schemas.values())
