"""JudgementRecord: one scoring of one trial by one judge."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from runner.records.base import Moment, Part, Record, Sha256, Slug, schema_field
from runner.records.identity import TrialIdentity
from runner.records.trial import Source

CRITERIA = ("completeness", "correctness", "specificity", "risk_awareness")
SCORE_TOLERANCE = 0.001

Criterion = Annotated[int, Field(ge=0, le=25)]


class JudgementStatus(StrEnum):
    """Whether the judgement carries a score."""

    SCORED = "scored"
    ZERO_BY_MISSING_ARTIFACTS = "zero-by-missing-artifacts"
    """Nothing to judge: zero without a call."""
    INVALID = "invalid"
    """The judge answered, but not with a valid score: the trial is unscored, not failed."""


class ArtifactScore(Part):
    """Four criteria of 0..25 and their sum."""

    completeness: Criterion
    correctness: Criterion
    specificity: Criterion
    risk_awareness: Criterion
    total: Annotated[int, Field(ge=0, le=100)]

    @model_validator(mode="after")
    def _total_is_the_sum(self) -> ArtifactScore:
        parts = self.completeness + self.correctness + self.specificity + self.risk_awareness
        if parts != self.total:
            raise ValueError(f"total is {self.total}, but the four criteria add up to {parts}")
        return self


class Judge(Part):
    """Who judged, and how."""

    name: Slug = Field(description="short name used in file names")
    model: str | None = None
    method: str | None = Field(default=None, description="agentic or direct back end, as the source names it")
    repository_grounded: bool | None = None
    reasoning_effort: str | None = None
    taken_from: str | None = Field(
        default=None, description="what an imported judge block really describes, where that is known"
    )


class JudgementRecord(Record):
    """One judgement. ``task_score`` is the mean of the artifact totals, 0..100."""

    KIND: ClassVar[str] = "judgement"
    VERSION: ClassVar[int] = 1

    kind: Literal["judgement"] = "judgement"
    schema_version: int = schema_field(1)
    trial: TrialIdentity
    number: int = Field(ge=1)
    judge: Judge
    rubric: str = Field(description="name and version of the rubric; different rubrics are never averaged")
    status: JudgementStatus
    scores: dict[str, ArtifactScore] | None = Field(
        default=None, description="by artifact; null where only the total was published"
    )
    task_score: float | None = Field(default=None, ge=0, le=100)
    judged_at: Moment | None = None
    trial_sha256: Sha256 | None = Field(default=None, description="digest of the trial record judged")
    source: Source | None = None

    @model_validator(mode="after")
    def _score_follows_from_status_and_parts(self) -> JudgementRecord:
        if (self.task_score is None) != (self.status is JudgementStatus.INVALID):
            raise ValueError("a judgement has a task_score exactly when it is not invalid")
        if self.scores and self.task_score is not None:
            mean = sum(score.total for score in self.scores.values()) / len(self.scores)
            if abs(mean - self.task_score) > SCORE_TOLERANCE:
                raise ValueError(f"task_score is {self.task_score}, the mean of the totals is {mean:.4f}")
        return self
