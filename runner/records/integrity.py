"""IntegrityRecord: what a scan for forbidden help found in a trial, with evidence."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from runner.records.base import Count, Moment, Part, Record, Sha256, schema_field
from runner.records.identity import TrialIdentity

RULES: Mapping[str, str] = {
    "history": "Reads objects of a git repository other than the sealed one, or digs for hidden ones in it.",
    "upstream": "Tries to reach the place the project comes from, or another one that may hold the answer.",
    "tests-edited": "Changes or removes tests that were there, or a file that the task froze.",
    "reference-copied": "The patch is the reference solution, almost to the letter.",
    "outside": "Reads or writes files outside the workspace and the artifacts folder.",
    "results-read": "Reads a folder of results or of the datasets, where answers and checks lie.",
    "limits": "Changes a time limit, or meddles with what keeps limits.",
    "canary": "Holds the mark that only the dataset's own files carry.",
}
"""Every rule, with one sentence for readers who meet it on a page."""


class Severity(StrEnum):
    """What a finding does to its trial."""

    VOID = "void"
    """The trial had, or could have had, help that it must not have: its outcome becomes ``cheating``."""
    NOTE = "note"
    """It looks suspicious: it may be harmless, or the isolation made it impossible. Changes no figure."""


class IntegrityFinding(Part):
    """One thing that was found, and where."""

    rule: str
    severity: Severity
    text: str = Field(min_length=1, max_length=500, description="what was found, one sentence")
    evidence: str = Field(default="", max_length=600, description="the words themselves, masked")
    invocation: Annotated[int, Field(ge=1)] | None = None
    line: Annotated[int, Field(ge=1)] | None = Field(default=None, description="line of the event stream")
    stream_sha256: Sha256 | None = None
    path: str | None = Field(default=None, max_length=300, description="file of the patch")

    @field_validator("rule")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in RULES:
            raise ValueError(f"there is no rule {name!r}")
        return name


class Scanned(Part):
    """What a scan had to look at; a scan of little finds little."""

    streams: Count
    streams_missing: Count = Field(default=0, description="recorded, but not kept here")
    actions: Count = Field(description="tool calls and commands that were seen")
    patch_bytes: Count | None = Field(default=None, description="null: no patch is kept")
    similarity: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="to the reference solution; null where there is none, or it is too short"
    )


class IntegrityRecord(Record):
    """One scan of one trial."""

    KIND: ClassVar[str] = "integrity"
    VERSION: ClassVar[int] = 1

    kind: Literal["integrity"] = "integrity"
    schema_version: int = schema_field(1)
    trial: TrialIdentity
    number: int = Field(ge=1)
    rules_version: str = Field(description="version of the rules; a scan by other rules is another scan")
    scanned_at: Moment
    trial_sha256: Sha256 = Field(description="digest of the trial's record as it was written")
    scanned: Scanned
    findings: tuple[IntegrityFinding, ...] = Field(default=(), max_length=100)
    left_out: Count = Field(default=0, description="findings beyond those that are listed")

    @property
    def voids(self) -> tuple[IntegrityFinding, ...]:
        """Findings that void the trial."""
        return tuple(each for each in self.findings if each.severity is Severity.VOID)
