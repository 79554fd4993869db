"""JudgementRecord: one scoring of one trial by one judge."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from runner.records.base import Count, Moment, Part, Record, Seconds, Sha256, Slug, schema_field
from runner.records.cost import Cost
from runner.records.identity import TrialIdentity
from runner.records.trial import Source
from runner.records.usage import Usage
from runner.records.warning import DataWarning

CRITERIA = ("completeness", "correctness", "specificity", "risk_awareness")
SCORE_TOLERANCE = 0.001
MAX_NOTE = 4000

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
    kind: str | None = Field(default=None, max_length=200, description="the judge as it is asked for")
    model: str | None = None
    provider: Slug | None = Field(default=None, description="hosting path of the judge's model")
    method: str | None = Field(default=None, description="agentic or direct back end, as the source names it")
    version: str | None = Field(
        default=None, description="of the judge's program; another one is another judge"
    )
    repository_grounded: bool | None = Field(
        default=None, description="whether it is shown that the judge read a file of the repository"
    )
    reasoning_effort: str | None = None
    taken_from: str | None = Field(
        default=None, description="what an imported judge block really describes, where that is known"
    )


class SeenPart(Part):
    """One thing that was put before the judge."""

    name: str = Field(
        max_length=120, description="problem, reviewer-notes, repository, or an artifact's file"
    )
    sha256: Sha256 | None = Field(description="digest of the text as shown; null for a file that is missing")
    characters: Count = Field(description="of the text as shown")
    cut_characters: Count = Field(
        default=0, description="left out in the middle or at the end, marked as cut"
    )
    removed: tuple[str, ...] = Field(default=(), description="what was taken out so that the judge is blind")


class JudgementAttempt(Part):
    """One time that the judge was asked."""

    number: int = Field(ge=1)
    started_at: Moment
    duration_seconds: Seconds | None = None
    prompt_sha256: Sha256
    answer_sha256: Sha256 | None = None
    stream_sha256: Sha256 | None = Field(default=None, description="digest of the raw event stream")
    requests_seen: Count | None = Field(default=None, description="model requests that passed our gateway")
    usage: Usage | None = None
    costs: tuple[Cost, ...] = ()
    faults: tuple[str, ...] = Field(
        default=(), description="why the answer was not valid; empty for a valid one"
    )
    interrupted: bool = Field(
        default=False, description="the judge or our side failed before there was an answer"
    )


class JudgementRecord(Record):
    """One judgement. ``task_score`` is the mean of the artifact totals, 0..100."""

    KIND: ClassVar[str] = "judgement"
    VERSION: ClassVar[int] = 2

    kind: Literal["judgement"] = "judgement"
    schema_version: int = schema_field(2)
    trial: TrialIdentity
    number: int = Field(ge=1)
    judge: Judge
    rubric: str = Field(description="name and version of the rubric; different rubrics are never averaged")
    rubric_sha256: Sha256 | None = Field(default=None, description="digest of rubric and instructions")
    demonstration: bool = Field(default=False, description="the answer was scripted, not judged by a model")
    status: JudgementStatus
    invalid_reason: str | None = Field(default=None, max_length=2000)
    scores: dict[str, ArtifactScore] | None = Field(
        default=None, description="by artifact; null where only the total was published"
    )
    missing: tuple[str, ...] = Field(
        default=(), description="artifacts scored zero without being asked about"
    )
    task_score: float | None = Field(default=None, ge=0, le=100)
    notes: dict[str, Annotated[str, Field(max_length=MAX_NOTE)]] = Field(
        default_factory=dict, description="by artifact, in the judge's words"
    )
    verdict: str | None = Field(default=None, max_length=MAX_NOTE)
    candidate: str | None = Field(
        default=None, max_length=60, description="the name the judge knew the trial by"
    )
    seen: tuple[SeenPart, ...] = ()
    repository_tree: str | None = Field(
        default=None, max_length=64, description="git tree of the checkout the judge could read"
    )
    files_read: tuple[str, ...] = Field(
        default=(), description="files of the repository whose content the judge was shown to have read"
    )
    attempts: tuple[JudgementAttempt, ...] = ()
    usage: Usage | None = None
    costs: tuple[Cost, ...] = ()
    duration_seconds: Seconds | None = Field(default=None, description="of all attempts")
    isolation: Literal["none", "sandbox", "container"] | None = None
    warnings: tuple[DataWarning, ...] = ()
    judged_at: Moment | None = None
    trial_sha256: Sha256 | None = Field(default=None, description="digest of the trial record judged")
    source: Source | None = None

    @model_validator(mode="after")
    def _score_follows_from_status_and_parts(self) -> JudgementRecord:
        require_sound_score(self.status, self.invalid_reason, self.scores, self.task_score)
        return self


def require_sound_score(
    status: JudgementStatus,
    invalid_reason: str | None,
    scores: Mapping[str, ArtifactScore] | None,
    task_score: float | None,
) -> None:
    """Whether a record has a score exactly when its status says so, and the right one.

    Raises:
        ValueError: it does not.
    """
    if (task_score is None) != (status is JudgementStatus.INVALID):
        raise ValueError("a judgement has a task_score exactly when it is not invalid")
    if (invalid_reason is None) == (status is JudgementStatus.INVALID):
        raise ValueError("a judgement carries invalid_reason exactly when it is invalid")
    if scores and task_score is not None:
        mean = sum(score.total for score in scores.values()) / len(scores)
        if abs(mean - task_score) > SCORE_TOLERANCE:
            raise ValueError(f"task_score is {task_score}, the mean of the totals is {mean:.4f}")
