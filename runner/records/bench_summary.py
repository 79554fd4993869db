"""BenchSummary: all figures of an endpoint benchmark, derived from its manifest and its trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from runner.records.base import Count, Moment, Part, Record, Seconds, Sha256, Slug, schema_field
from runner.records.bench_figures import (
    Agreement,
    Distribution,
    Money,
    PairedDifference,
    RateFigure,
    Reliability,
    ScoreFigure,
    Tokens,
)
from runner.records.bench_manifest import Key, RunId, Shape

Measures = Mapping[str, Distribution]
"""By name of a figure of ``BenchTiming``, such as ``ttft_ms``."""


class BenchAccount(Part):
    """Every planned trial ends in exactly one of these. ``planned = done + sum(skipped) + left``."""

    planned: Count
    done: Count
    skipped: Mapping[str, Count] = {}
    left: Count = Field(default=0, description="neither done nor skipped: the run was ended before")
    warm_ups: Count = Field(default=0, description="part of planned; in no figure")
    unplanned: Count = Field(default=0, description="trials of searches, which plan as they go")
    cut_requests: Count = Field(
        default=0, description="given up in flight: they may be billed, and what they cost is unknown"
    )


class ClientError(Part):
    """How wrong the client is beside the figures; null: not calibrated, or nothing was measured."""

    workers: Count = Field(default=1, description="processes that shared the streams")
    streams: Count | None = Field(default=None, description="at which the client was calibrated")
    bias_p50_ms: float | None = Field(default=None, description="calibrated bias of the TTFT")
    bias_p99_ms: float | None = None
    loop_lag_ms: float | None = Field(default=None, description="largest lag while these were measured")


class TargetSummary(Part):
    """One target over its measured trials outside of load stages, or over these where all are."""

    target: str
    label: str
    account: BenchAccount
    score: ScoreFigure | None = Field(default=None, description="quality cases, else performance ones")
    reliability: Reliability
    measures: Measures = Field(default={})
    tokens: Tokens
    money: Money
    seconds: Seconds | None = Field(default=None, description="that its trials took, added up")
    adjustments: Mapping[str, Count] = {}
    client: ClientError = ClientError()
    flags: tuple[str, ...] = Field(default=(), description="why its times are not to be trusted; or none")


class CaseSummary(Part):
    """One case at one target."""

    target: str
    case: str
    account: BenchAccount
    score: ScoreFigure
    reliability: Reliability
    measures: Measures = Field(default={})
    money: Money
    metrics: Mapping[str, Distribution] = {}


class SliceSummary(Part):
    """Scores of a target over the cases of one dimension, category or difficulty."""

    target: str
    by: Literal["dimension", "category", "difficulty"]
    name: str
    score: ScoreFigure


class CodingSummary(Part):
    """An agent's work at one target over all coding tasks, or over one."""

    target: str
    case: str | None = Field(default=None, description="null: all tasks together")
    attempted: Count
    skipped: Mapping[str, Count] = Field(default={}, description="planned, and never sent or cut, by reason")
    solved: RateFigure
    graded: RateFigure = Field(description="tasks whose tree was graded, of the attempted")
    self_verified: RateFigure
    turns: Distribution
    tool_calls: Distribution
    invalid_calls: RateFigure
    no_progress_calls: RateFigure
    wall_seconds: Distribution
    total_tokens: Distribution
    first_turn_ttft_ms: Distribution
    stop_reasons: Mapping[str, Count] = {}
    calls_by_name: Mapping[str, Count] = {}
    money: Money


class LoadPoint(Part):
    """One load stage in its steady window, and beside it the whole of it."""

    stage: Key
    level: float
    unit: str
    window_begins_ms: float | None = None
    window_ends_ms: float | None = None
    window_seconds: float | None = Field(default=None, description="null: the level was never held")
    whole_seconds: float | None = None
    requests: Count = Field(description="of the window, or of the whole where there is none")
    outside_window: Count = Field(default=0, description="sent before or after it: in no figure of it")
    skipped: Mapping[str, Count] = Field(default={}, description="planned and never sent, by reason")
    succeeded: RateFigure
    offered_per_second: float | None = Field(default=None, description="planned arrivals; open loops only")
    requests_per_second: float | None = Field(default=None, description="that ended well in the window")
    whole_requests_per_second: float | None = None
    whole_output_tokens_per_second: float | None = None
    output_tokens_per_second: float | None = None
    in_flight_mean: float | None = None
    in_flight_peak: Count | None = None
    goodput_per_second: float | None = Field(default=None, description="within all limits; null: no limits")
    within_limits: RateFigure | None = None
    measures: Measures = Field(default={})
    lateness_ms: Distribution | None = Field(default=None, description="of sends that were planned ahead")
    reliability: Reliability
    money: Money
    degradation: float | None = Field(default=None, description="p50 latency over that of the lowest level")
    client: ClientError = ClientError()
    flags: tuple[str, ...] = ()


class Knee(Part):
    """Where more load stops to bring more throughput; the interval is the middle 95 % of resamples."""

    level: float | None = None
    low: float | None = None
    high: float | None = None
    share_found: float | None = Field(default=None, description="of the resamples that have a knee at all")
    rule: str = ""
    missing_reason: str | None = None
    seed: Count = 0


class GoodputSearch(Part):
    """The highest level at which the limits are kept by as many requests as wanted."""

    wanted_share: float
    best_level: float | None = None
    failing_level: float | None = None
    verdicts: Mapping[str, str] = Field(default={}, description="by stage: kept, missed or undecided")
    undecided: Mapping[str, str] = Field(
        default={}, description="by stage that is undecided: why, and what would decide it"
    )
    missing_reason: str | None = None


class LoadCurve(Part):
    """The points of one shape at one target, by rising level."""

    group: str
    shape: Shape
    target: str
    closed_loop: bool
    points: tuple[LoadPoint, ...]
    saturation_level: float | None = Field(
        default=None, description="first level with twice the latency of the lowest, or under 95 % good ends"
    )
    knee: Knee | None = None
    goodput: GoodputSearch | None = None


class ThresholdResult(Part):
    """One condition of the user's for one target. ``failed`` is null where the figure is not known."""

    text: str
    target: str
    metric: str
    value: float | None
    failed: bool | None
    missing_reason: str | None = None


class BenchSummary(Record):
    """Everything that reports and pages show of a run."""

    KIND: ClassVar[str] = "bench-summary"
    VERSION: ClassVar[int] = 1

    kind: Literal["bench-summary"] = "bench-summary"
    schema_version: int = schema_field(1)
    run_id: RunId
    model: Slug
    demonstration: bool
    methodology: int = Field(ge=1)
    manifest_sha256: Sha256
    trials_sha256: Sha256
    trials: Count
    first_trial_at: Moment | None = None
    last_trial_at: Moment | None = None
    ended: Literal["complete", "partial", "harness-fault"]
    ended_reason: str = ""
    exit_code: int
    account: BenchAccount
    reference: str
    targets: tuple[TargetSummary, ...]
    cases: tuple[CaseSummary, ...] = ()
    slices: tuple[SliceSummary, ...] = ()
    comparisons: tuple[PairedDifference, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    load: tuple[LoadCurve, ...] = ()
    coding: tuple[CodingSummary, ...] = ()
    thresholds: tuple[ThresholdResult, ...] = ()
    flags: tuple[str, ...] = ()
    responses_kept: bool = True
