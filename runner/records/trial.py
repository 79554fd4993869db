"""TrialRecord: everything the runner knows about one attempt at one task."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from runner.records.base import Count, Dollars, Moment, Part, Record, Seconds, Sha256, schema_field
from runner.records.cost import Cost
from runner.records.identity import Fingerprint, Hosting, TrialIdentity
from runner.records.outcome import Outcome, Standing
from runner.records.server_window import ServerWindow
from runner.records.usage import Usage
from runner.records.warning import DataWarning


class Source(Part):
    """Where imported figures were read."""

    repository: str
    commit: str
    path: str
    license: str


class Serving(Part):
    """The machines behind the model, as far as known."""

    hosting: Hosting
    instance_type: str | None = Field(default=None, description="the machine that served the model")
    orchestrator_instance_type: str | None = Field(
        default=None, description="the machine that ran the agent; says nothing about the model's hardware"
    )
    tensor_parallel_size: int | None = Field(default=None, ge=1)
    precision: str | None = None
    context_window: int | None = Field(default=None, ge=1)


class Limits(Part):
    """What would have stopped the trial."""

    max_turns: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_output_tokens: int | None = Field(default=None, ge=1)
    max_cost_usd: Dollars | None = None
    timeout_seconds: Seconds | None = None


class InvocationKind(StrEnum):
    """Why the harness was started."""

    FIRST = "first"
    TOP_UP = "top-up"
    RETRY = "retry"


class Invocation(Part):
    """One start of the harness inside a trial."""

    number: int = Field(ge=1)
    kind: InvocationKind
    started_at: Moment
    ended_at: Moment
    duration_seconds: Seconds
    command: tuple[str, ...] = Field(description="argument list as started, secrets masked")
    exit_code: int | None = Field(default=None, description="null when a signal ended it")
    stop_reason: str
    error: str | None = Field(default=None, max_length=1000)
    turns: Count | None = None
    retries: Count | None = None
    usage: Usage | None = None
    usage_by_model: dict[str, Usage] = Field(
        default_factory=dict, description="by model id, where the harness tells; subagents included"
    )
    requests_seen: Count | None = Field(
        default=None, description="model requests that passed our gateway; null where there was none"
    )
    configuration_sha256: Sha256 | None = Field(
        default=None, description="digest of the configuration written for this start, secrets masked"
    )
    stream_sha256: Sha256 | None = Field(default=None, description="digest of the raw event stream")
    server_window: ServerWindow | None = Field(
        default=None,
        description="what the server counted meanwhile over all clients; no usage of the trial",
    )


class ArtifactState(StrEnum):
    """Whether an artifact of the skill's contract is there."""

    PRESENT = "present"
    MISSING = "missing"
    NOT_PUBLISHED = "not-published"
    """Imported data tells that it existed, not what it held."""


class Artifact(Part):
    """One file of the skill's contract."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)
    state: ArtifactState
    sha256: Sha256 | None = None
    size_bytes: Count | None = None

    @model_validator(mode="after")
    def _a_present_file_has_a_digest(self) -> Artifact:
        if self.state is ArtifactState.PRESENT and (self.sha256 is None or self.size_bytes is None):
            raise ValueError("a present artifact needs sha256 and size_bytes")
        return self


class PublishedFigures(Part):
    """The row of an imported result as its source printed it, zeros and all; kept, never computed with."""

    complexity: str | None = None
    task_ref: str | None = None
    artifacts_produced: Count | None = None
    artifacts_expected: Count | None = None
    num_turns: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    total_tokens: Count | None = None
    latency_seconds: Seconds | None = None
    total_cost_usd: Dollars | None = None
    kiro_credits: float | None = Field(default=None, ge=0)
    is_error: bool | None = None
    failed: bool | None = None
    result_subtype: str | None = None
    task_score: float | None = None
    prefix_cache_hit_rate: float | None = None
    generation_tokens_per_sec: float | None = None
    agent_invocations: Count | None = None
    kv_cache_peak: float | None = None
    kv_cache_mean: float | None = None
    run_date: str | None = None


class TrialRecord(Record):
    """One trial: identity, outcome, invocations, usage, costs and artifacts."""

    KIND: ClassVar[str] = "trial"
    VERSION: ClassVar[int] = 4

    kind: Literal["trial"] = "trial"
    schema_version: int = schema_field(4)
    identity: TrialIdentity
    fingerprint: Fingerprint
    plan_id: str
    position: Count | None = Field(default=None, description="place in the plan's seeded order, from 0")
    demonstration: bool = False
    standing: Standing = Standing.COUNTED
    standing_reason: str | None = None
    outcome: Outcome
    outcome_reason: str = Field(max_length=1000)
    started_at: Moment | None = None
    ended_at: Moment | None = None
    duration_seconds: Seconds | None = Field(default=None, description="wall clock of all invocations")
    isolation: Literal["none", "sandbox", "container"] | None = None
    base_commit: str | None = Field(default=None, description="commit the patch applies to")
    serving: Serving
    limits: Limits = Limits()
    invocations: tuple[Invocation, ...] = ()
    turns: Count | None = None
    turns_definition: str | None = None
    usage: Usage | None = None
    costs: tuple[Cost, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    artifacts_produced: Count | None = None
    artifacts_expected: Count | None = None
    warnings: tuple[DataWarning, ...] = ()
    source: Source | None = None
    published: PublishedFigures | None = None

    @model_validator(mode="after")
    def _excluded_trials_say_why(self) -> TrialRecord:
        if self.standing is not Standing.COUNTED and not self.standing_reason:
            raise ValueError("a trial that does not count must carry standing_reason")
        return self
