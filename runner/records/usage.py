"""Usage: token counts together with how to read them and where each came from."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from runner.records.base import Count, Part


class CacheSemantics(StrEnum):
    """How cache counts relate to the input count."""

    DISJOINT = "disjoint"
    """``input_tokens`` holds fresh tokens only; cache read and write come on top."""
    PARTITION = "partition"
    """``input_tokens`` holds everything; cache read and write are parts of it."""
    UNKNOWN = "unknown"


class SemanticsDecision(StrEnum):
    """Who decided the cache semantics."""

    ADAPTER = "adapter"
    """The harness adapter knows what its agent reports."""
    DECLARED = "declared"
    """The source of imported data declares it for this harness."""
    RATIO_RULE = "ratio-rule"
    """The 5 % rule of thumb for imported data decided, per task."""
    SOURCE_TOTAL = "source-total"
    """The source's own total decided: it equals input plus output, and cache counts are not reported."""
    NONE = "none"
    """Nothing could be decided: counts are missing."""


class Usage(Part):
    """Tokens of one invocation or one trial. Unknown counts are null, never 0."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = Field(
        default=None, description="part of output_tokens, never added to it"
    )
    cache_semantics: CacheSemantics
    semantics_decided_by: SemanticsDecision
    sources: dict[str, str] = Field(
        default_factory=dict, description="for each known count the place it was read from"
    )
