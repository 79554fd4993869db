"""CheckRecord: what happened when a trial's patch was tried out."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from runner.records.base import Count, Moment, Part, Record, Seconds, Sha256, Slug, schema_field
from runner.records.identity import TrialIdentity

MAX_NAMES = 2000
"""Names of tests that a record lists of each kind; more are counted."""

TestName = Annotated[str, StringConstraints(min_length=1, max_length=300)]
TestNamesOfAKind = Annotated[tuple[TestName, ...], Field(max_length=MAX_NAMES)]


class CheckStatus(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    NOT_RUN = "not-run"
    """Something the check builds on failed first."""
    ERROR = "error"
    """Our side failed; says nothing about the patch."""


class CheckPurpose(StrEnum):
    """What a check shows."""

    APPLIES = "applies"
    """The patch applies to a fresh checkout."""
    RULES = "rules"
    """The patch keeps the limits of size and place that the dataset declares."""
    BUILD = "build"
    """The project builds with the patch."""
    HIDDEN = "hidden"
    """Tests pass that the agent never saw."""
    REGRESSION = "regression"
    """Tests that passed before still pass."""
    LINT = "lint"
    """The project's own rules of style are kept."""


class TestOutcomes(Part):
    """Names of tests as the test program printed them, in its order; a name in two lists does not occur."""

    __test__: ClassVar[bool] = False

    report: Literal["unittest", "pytest", "junit"] = Field(description="what the names were read from")
    passed: TestNamesOfAKind = ()
    failed: TestNamesOfAKind = ()
    skipped: TestNamesOfAKind = ()
    left_out: Count = Field(default=0, description="tests beyond those that are listed")


class BaseRun(Part):
    """The same command on the code as it was before the patch."""

    status: CheckStatus
    exit_code: int | None = None
    duration_seconds: Seconds
    tests: TestOutcomes | None = None


class CheckRecord(Record):
    """One run of one execution check of one trial."""

    KIND: ClassVar[str] = "check"
    VERSION: ClassVar[int] = 2

    kind: Literal["check"] = "check"
    schema_version: int = schema_field(2)
    trial: TrialIdentity
    name: Slug
    number: int = Field(ge=1)
    purpose: CheckPurpose | None = Field(default=None, description="null in records that are older than it")
    status: CheckStatus
    command: tuple[str, ...] = ()
    exit_code: int | None = None
    started_at: Moment
    duration_seconds: Seconds
    timeout_seconds: Seconds | None = None
    isolation: Literal["none", "sandbox", "container"] | None = Field(
        default=None, description="of the command; null where none ran, or in records that are older"
    )
    task_digest: Sha256 | None = Field(default=None, description="the task as it was when this check ran")
    tests: TestOutcomes | None = Field(default=None, description="null where the output names none")
    base: BaseRun | None = Field(default=None, description="of a regression check: the run before the patch")
    output_tail: str = Field(default="", max_length=4000)
    reason: str | None = Field(default=None, max_length=1000)

    @property
    def tells(self) -> bool:
        """Whether it can show that the problem is solved, as hidden tests do.

        That a patch applies, keeps the rules, builds and breaks nothing is as true of one that does nothing.
        """
        older = self.purpose is None and self.name != "patch-applies"
        return older or self.purpose is CheckPurpose.HIDDEN
