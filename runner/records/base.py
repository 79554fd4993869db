"""Record: the frozen, strictly validated base of every shape that crosses a file or a process."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer

SHA256_PATTERN = r"^[0-9a-f]{64}$"

Sha256 = Annotated[str, Field(pattern=SHA256_PATTERN, description="lower-case hexadecimal SHA-256")]
Slug = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=120, description="path-safe name without underscores"),
]
Count = Annotated[int, Field(ge=0)]
Dollars = Annotated[float, Field(ge=0, description="US dollars")]
Seconds = Annotated[float, Field(ge=0, description="seconds")]


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a time needs a zone; write it in UTC, as in 2026-01-31T12:00:00Z")
    return moment.astimezone(UTC)


def _iso(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


Moment = Annotated[
    datetime,
    AfterValidator(_in_utc),
    PlainSerializer(_iso, return_type=str, when_used="json"),
    Field(description="UTC time, ISO 8601 with Z"),
]


class Part(BaseModel):
    """A piece of a record: frozen, strict, and closed against unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Record(Part):
    """A whole file of the store. Subclasses name their ``kind`` and current ``schema_version``."""

    KIND: ClassVar[str]
    VERSION: ClassVar[int]

    def to_bytes(self) -> bytes:
        """The one serialised form: UTF-8 JSON in field order, two spaces, a final newline."""
        return (self.model_dump_json(indent=2) + "\n").encode()

    def digest(self) -> str:
        """SHA-256 of ``to_bytes()``."""
        return sha256_of(self.to_bytes())


def sha256_of(data: bytes) -> str:
    """Lower-case hexadecimal SHA-256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def schema_field(version: int) -> Any:
    """The ``schema_version`` field of a record whose current version is ``version``."""
    return Field(default=version, ge=version, le=version, description="version of this record's shape")
