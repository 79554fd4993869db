"""CorrectionRecord: what was changed later, why, and what it said before."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from runner.records.base import Moment, Record, Sha256, schema_field


class CorrectionRecord(Record):
    """A record is never edited; a correction names it, the field, and both values."""

    KIND: ClassVar[str] = "correction"
    VERSION: ClassVar[int] = 1

    kind: Literal["correction"] = "correction"
    schema_version: int = schema_field(1)
    correction_id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=120)
    path: str = Field(description="corrected record, below the store's root")
    record_sha256: Sha256 = Field(description="digest of the record as it was when corrected")
    field: str = Field(description="dotted name of the corrected field", min_length=1)
    old_value: JsonValue
    new_value: JsonValue
    reason: str = Field(min_length=1, max_length=2000)
    corrected_at: Moment
