"""BenchManifest: what an endpoint benchmark is to measure, and with what; written before all else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue

from runner.records.base import Count, Moment, Part, Record, Seconds, Sha256, Slug, schema_field

METHODOLOGY = 1
"""Version of the definitions of all figures. Runs of different versions are not compared."""
Shape = Literal[
    "concurrency", "rate", "poisson", "ramp", "sweep", "goodput", "sessions", "agent-sessions", "transcript"
]
RunId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=120)]
Key = Annotated[str, Field(min_length=1, max_length=300, description="unique among the trials of a run")]
Ms = Annotated[float, Field(description="milliseconds")]


class BenchPrice(Part):
    """The row of the price book that held on the day of the run; US dollars per million tokens."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    per_request: float | None = None
    currency: str = "USD"
    priced_on: date
    source: str = ""
    checked_on: date | None = None
    missing_reason: str | None = Field(default=None, description="why there is no price; null: there is one")


class BenchTarget(Part):
    """One model behind one mapping, as it was asked."""

    identifier: str = Field(min_length=1, max_length=500, description="provider/model-id[:region]")
    model: Slug
    label: str = Field(description="provider, or provider:region")
    title: str
    provider: Slug
    region: Slug | None = None
    model_id: str = Field(description="raw id as sent on the wire")
    protocol: str
    base_url: str | None = Field(default=None, description="without credentials; null: the built-in server")
    replay: str | None = Field(default=None, description="scenario and faults of the built-in server")
    key_variable: str | None = Field(default=None, description="name of the variable, never its value")
    quantization: str | None = None
    context_tokens: Count | None = None
    max_output_tokens: Count | None = None
    origin: str = "catalogue"
    pinning: Mapping[str, JsonValue] = Field(
        default={}, description="headers and keys of the body that told a gateway so; empty: nothing did"
    )
    source: str = ""
    checked_on: date | None = None
    price: BenchPrice


class BenchCase(Part):
    """One case of the run."""

    identifier: str
    title: str
    kind: Literal["quality", "performance", "agentic"]
    category: str
    dimension: str
    difficulty: str | None = None
    description: str = ""
    variant_of: str | None = None
    concurrency: Count = 1
    max_output_tokens: Count
    effort: str | None = None
    parameters: Mapping[str, JsonValue] = {}


class LoadStage(Part):
    """Requests of one shape at one level against one target; nothing else runs beside it.

    ``level`` is requests in flight, requests per second or sessions, as ``shape`` says. The stages of one
    ``group`` belong to one curve.
    """

    key: Key
    group: str
    shape: Shape
    target: str
    case: str | None = None
    level: float = Field(ge=0)
    unit: Literal["in flight", "requests per second", "sessions"]
    closed_loop: bool
    requests: Count
    warm_up_requests: Count = 0
    seconds: Seconds | None = Field(default=None, description="planned length; null: until all are answered")
    send_offsets_ms: tuple[Ms, ...] = Field(
        default=(), description="planned send times from the beginning of the stage; empty in a closed loop"
    )
    seed: Count | None = None
    levels: tuple[float, ...] = Field(default=(), description="lowest and highest, of a search or a ramp")
    adaptive: bool = Field(default=False, description="a search decides as it goes which levels it asks")


class PlannedBench(Part):
    """One planned trial; its place in the list is its turn. Trials of load stages name their stage."""

    key: Key
    target: str
    case: str
    slot: str = Field(description="w1: warm-up, 2: instance, 1.2: second time of instance 1")
    seed: Count
    warm_up: bool = False
    stage: str | None = None


class CalibrationRow(Part):
    """The client against the built-in server at one number of streams; bias of the TTFT in milliseconds."""

    streams: Count
    transport: str
    workers: Count
    requests: Count
    failed: Count
    bias_p50_ms: Ms | None
    bias_p99_ms: Ms | None
    limit_p50_ms: Ms
    limit_p99_ms: Ms
    within: bool | None
    gap_error_p50_ms: Ms | None = None
    gap_error_p99_ms: Ms | None = None
    loop_lag_ms: Ms | None = None
    cpu_us_per_chunk: float | None = None


class BenchCalibration(Part):
    """How wrong the client was on this machine just before the run."""

    measured_at: Moment
    first_ms: Ms
    gap_ms: Ms
    chunks: Count
    event_loop: str
    load_average: float | None = None
    floor_ms: Ms | None = Field(
        default=None, description="TTFT bias at p50 of the lowest level: it is in every figure"
    )
    levels: tuple[CalibrationRow, ...] = Field(description="the arrangements that the run uses")
    not_used: tuple[CalibrationRow, ...] = Field(
        default=(), description="other numbers of processes that were measured and not chosen"
    )


class BenchHost(Part):
    """Where the client ran. The machine's own name is not kept."""

    system: str
    machine: str
    processors: Count
    python: str
    event_loop: str
    sandbox: str = Field(default="", description="what confined the code that models wrote")
    client_region: str | None = None


class BenchTool(Part):
    """What measured."""

    version: str
    methodology: int = Field(ge=1)
    git_commit: str | None = None
    git_dirty: bool | None = None


class PreflightFinding(Part):
    """One part of a request that a target refused before the run, and what was done about it."""

    parameter: str = Field(description="its key in the body of the request")
    how: Literal["named", "left out"] = Field(
        description="the endpoint named it, or accepted the same request without it"
    )
    words: str = Field(default="", description="what the endpoint said; empty without responses")
    changes: Mapping[str, JsonValue] = Field(description="keys of its description and what they are instead")


class BenchPreflight(Part):
    """Cheap requests to one target before the run, which are in no figure but that of money spent."""

    target: str
    requests: Count
    seconds: Seconds
    cost_usd: float | None = Field(default=None, ge=0, description="null: not known")
    charged_usd: float = Field(
        default=0.0, ge=0, description="what the budget is charged: the cost, or what it can be at most"
    )
    findings: tuple[PreflightFinding, ...] = ()
    changes: Mapping[str, JsonValue] = Field(
        default={}, description="what its description says otherwise in this run, all findings together"
    )
    notes: tuple[str, ...] = ()


class BenchDeadlines(Part):
    """Limits of one request in seconds; null is none."""

    connect: float | None
    headers: float | None
    stall: float | None
    total: float | None


class BenchSettings(Part):
    """What the user asked for. Budgets of time are one target's; the load stages have one of their own."""

    profile: str | None = None
    suites: tuple[str, ...] = ()
    seed: Count
    order_seed: Count
    salt: str = Field(description="sets the nonces of this run apart")
    concurrency: Count = 1
    transport: str = "asyncio"
    workers: Count | None = Field(
        default=None, description="processes for each load stage; null: as many as the calibration shows"
    )
    budget_seconds: Seconds | None = None
    load_budget_seconds: Seconds | None = None
    budget_usd: float | None = Field(default=None, ge=0, description="of the run, in even shares per target")
    deadlines: BenchDeadlines
    effort: str | None = None
    max_output_tokens: Count | None = None
    temperature: float | None = None
    allow_cache: bool = Field(default=False, description="whether a gateway may answer from its cache")
    allow_fallback: bool = Field(default=False, description="whether it may ask another provider")
    shared_prefix: bool = Field(
        default=False, description="prompts differ at their ends, so that caches of prompts can work"
    )
    keep_responses: bool = True
    thresholds: tuple[str, ...] = ()
    external: Mapping[str, JsonValue] = Field(
        default={}, description="suite of others: its name and its file"
    )
    transcript: str | None = Field(default=None, description="file of a recorded agent, as it was named")
    limits: Mapping[str, float] = Field(default={}, description="limits that goodput is counted under")


class BenchManifest(Record):
    """The plan of one endpoint benchmark."""

    KIND: ClassVar[str] = "bench-manifest"
    VERSION: ClassVar[int] = 1

    kind: Literal["bench-manifest"] = "bench-manifest"
    schema_version: int = schema_field(1)
    run_id: RunId
    model: Slug
    demonstration: bool = Field(description="the built-in server answered: no figure is a model's")
    created_at: Moment
    tool: BenchTool
    host: BenchHost
    settings: BenchSettings
    settings_sha256: Sha256
    price_book_sha256: Sha256 | None = None
    reference: str = Field(description="id of the target that the others are compared with")
    targets: tuple[BenchTarget, ...] = Field(min_length=1)
    cases: tuple[BenchCase, ...]
    stages: tuple[LoadStage, ...] = ()
    planned: tuple[PlannedBench, ...]
    calibration: BenchCalibration | None = None
    calibration_missing: str | None = None
    preflight: tuple[BenchPreflight, ...] = ()
    preflight_missing: str | None = None
