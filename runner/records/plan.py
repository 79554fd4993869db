"""PlanRecord: what was planned before anything ran; the ledger's left side."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from runner.records.base import Dollars, Moment, Part, Record, schema_field
from runner.records.identity import Fingerprint, TrialIdentity
from runner.records.trial import Limits, Source


class PlannedTrial(Part):
    """A trial that must end in the ledger with an outcome."""

    identity: TrialIdentity
    fingerprint: Fingerprint


class PlanRecord(Record):
    """A plan fixes the denominator: its trials are listed in the order they will run."""

    KIND: ClassVar[str] = "plan"
    VERSION: ClassVar[int] = 1

    kind: Literal["plan"] = "plan"
    schema_version: int = schema_field(1)
    plan_id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=180)
    purpose: Literal["run", "import"]
    demonstration: bool = False
    created_at: Moment | None = Field(default=None, description="null for imports, which are reproducible")
    harnessmark_version: str
    seed: int | None = None
    trials: tuple[PlannedTrial, ...]
    limits: Limits = Limits()
    cost_ceiling_usd: Dollars | None = None
    cost_ceiling_reason: str
    settings: dict[str, str] = Field(
        default_factory=dict, description="what a resumed run needs to go on in the same way; no secrets"
    )
    source: Source | None = None
