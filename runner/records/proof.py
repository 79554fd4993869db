"""ProofRecord: how a judge scored one case of a suite that was made to try judges out."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from runner.records.base import Moment, Record, Seconds, Sha256, Slug, schema_field
from runner.records.cost import Cost
from runner.records.judgement import (
    MAX_NOTE,
    ArtifactScore,
    Judge,
    JudgementAttempt,
    JudgementStatus,
    require_sound_score,
)
from runner.records.usage import Usage
from runner.records.warning import DataWarning

REFERENCE, CHANGED = "reference", "changed"


class ProofRecord(Record):
    """One scoring of one case of a suite by one judge: either side of a pair that differs in one respect."""

    KIND: ClassVar[str] = "judge-proof"
    VERSION: ClassVar[int] = 1

    kind: Literal["judge-proof"] = "judge-proof"
    schema_version: int = schema_field(1)
    suite: Slug = Field(description="injection, anchors, length, order, or a suite of one's own")
    suite_version: str = Field(max_length=20)
    suite_sha256: Sha256 = Field(description="of every case; scores of different digests are never mixed")
    pair: Slug = Field(description="name that both sides of a pair share")
    category: Slug
    side: Literal["reference", "changed"] = Field(
        description="the original, or what was made of it: attacked, spoilt, padded or put in another order"
    )
    dataset: Slug
    task: Slug
    shown_sha256: Sha256 = Field(description="of the files of this side, and of how they are put in order")
    number: int = Field(ge=1)
    judge: Judge
    rubric: str = Field(description="name and version of the rubric")
    rubric_sha256: Sha256
    demonstration: bool = Field(default=False, description="the answer was scripted, not judged by a model")
    status: JudgementStatus
    invalid_reason: str | None = Field(default=None, max_length=2000)
    scores: dict[str, ArtifactScore] | None = None
    task_score: float | None = Field(default=None, ge=0, le=100)
    notes: dict[str, Annotated[str, Field(max_length=MAX_NOTE)]] = Field(
        default_factory=dict, description="by artifact, in the judge's words"
    )
    verdict: str | None = Field(default=None, max_length=MAX_NOTE)
    files_read: tuple[str, ...] = ()
    attempts: tuple[JudgementAttempt, ...] = ()
    usage: Usage | None = None
    costs: tuple[Cost, ...] = ()
    duration_seconds: Seconds | None = Field(default=None, description="of all attempts")
    isolation: Literal["none", "sandbox", "container"] | None = None
    warnings: tuple[DataWarning, ...] = ()
    judged_at: Moment | None = None

    @model_validator(mode="after")
    def _score_follows_from_status_and_parts(self) -> ProofRecord:
        require_sound_score(self.status, self.invalid_reason, self.scores, self.task_score)
        return self
