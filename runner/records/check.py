"""CheckRecord: what happened when a trial's patch was tried out."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from runner.records.base import Moment, Record, Seconds, Slug, schema_field
from runner.records.identity import TrialIdentity


class CheckStatus(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    NOT_RUN = "not-run"
    """Something the check builds on failed first."""
    ERROR = "error"
    """Our side failed; says nothing about the patch."""


class CheckRecord(Record):
    """One run of one execution check of one trial."""

    KIND: ClassVar[str] = "check"
    VERSION: ClassVar[int] = 1

    kind: Literal["check"] = "check"
    schema_version: int = schema_field(1)
    trial: TrialIdentity
    name: Slug
    number: int = Field(ge=1)
    status: CheckStatus
    command: tuple[str, ...] = ()
    exit_code: int | None = None
    started_at: Moment
    duration_seconds: Seconds
    timeout_seconds: Seconds | None = None
    output_tail: str = Field(default="", max_length=4000)
    reason: str | None = Field(default=None, max_length=1000)
