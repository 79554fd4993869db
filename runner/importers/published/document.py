"""The source's run file, validated strictly: shape first, then whether its figures add up."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from runner.records import ArtifactScore, Spread
from runner.records.base import Count, Dollars, Part, Seconds, Slug

SCHEMA = "published-run/1"
SCORE_TOLERANCE = 0.001
PRINTED_TOLERANCE = 0.005 + 1e-9
"""Published means have two decimals."""

Share = Field(default=None, ge=0, le=1)
Name = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(min_length=1, max_length=60)]


class SourceBlock(Part):
    """Where the figures were read."""

    repo: Name
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    path: str = Field(min_length=1, max_length=500)
    license: Word


class ServingBlock(Part):
    """The machine the source names, which is not always the one that served the model."""

    instance_type: Word | None
    tensor_parallel_size: int | None = Field(ge=1)
    precision: Word | None
    context_window: int | None = Field(ge=1)


class JudgeBlock(Part):
    """The judge as one task of the run names it."""

    model: Name
    provider: Word
    repo_grounded: bool
    reasoning_effort: Word | None = None
    repo_ref: Name | None = None
    evaluated_at: Word | None = None


class Scores(Part):
    """Scores by artifact; the older contract has no implementation."""

    github_issue: ArtifactScore
    lld: ArtifactScore
    review: ArtifactScore
    testing: ArtifactScore
    implementation: ArtifactScore | None = None

    def by_artifact(self) -> dict[str, ArtifactScore]:
        """Those that are there, in the order of the contract."""
        return {name: getattr(self, name) for name in type(self).model_fields if getattr(self, name)}


class TaskRow(Part):
    """One task of a run."""

    task: Slug
    complexity: Word
    ref: Name | None = None
    artifacts_produced: Count
    artifacts_expected: Count
    num_turns: Count
    input_tokens: Count
    output_tokens: Count
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    total_tokens: Count
    latency_seconds: Seconds
    total_cost_usd: Dollars | None
    kiro_credits: float | None = Field(default=None, ge=0)
    result_subtype: Word | None = None
    is_error: bool
    failed: bool | None = None
    task_score: float | None = Field(default=None, ge=0, le=100)
    prefix_cache_hit_rate: float | None = Share
    generation_tokens_per_sec: float | None = Field(default=None, ge=0)
    kv_cache_usage: Spread | None = None
    agent_invocations: int | None = Field(default=None, ge=1)
    token_accounting_repair: dict[str, JsonValue] | None = None
    scores: Scores | None = None


class Summary(Part):
    """The source's own summary of the run."""

    num_tasks: Count
    num_scored: Count
    num_failed: Count
    failed_tasks: tuple[str, ...]
    mean_task_score_excl_failed: float | None
    mean_cost_usd_excl_failed: Dollars | None


class RunDocument(Part):
    """One file: one model on one harness, skill and dataset."""

    schema_name: Literal["published-run/1"] = Field(alias="schema")
    source: SourceBlock
    model: str = Field(min_length=1, max_length=300)
    model_slug: Name
    harness: Slug
    agent: Word | None = None
    skill: Slug
    dataset: Name
    dataset_ref: Name | None = None
    dataset_refs: tuple[Name, ...] | None = None
    provider: Literal["bedrock", "endpoint", "kiro"]
    serving: ServingBlock | None
    judge: JudgeBlock | None = None
    run_date: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    tasks: tuple[TaskRow, ...] = Field(min_length=1)
    published_summary: Summary | None = None


def disagreements(run: RunDocument) -> list[str]:
    """Every figure of ``run`` that its own parts contradict, one line each with its key; empty when none."""
    faults = []
    seen: set[str] = set()
    for number, row in enumerate(run.tasks):
        faults += [f"tasks.{number}.{fault}" for fault in _row_faults(row)]
        if row.task in seen:
            faults.append(f"tasks.{number}.task: {row.task} stands in the file twice")
        seen.add(row.task)
    if run.published_summary is not None:
        faults += [
            f"published_summary.{fault}" for fault in _summary_faults(run.tasks, run.published_summary)
        ]
    return faults


def _row_faults(row: TaskRow) -> list[str]:
    faults = []
    if row.artifacts_produced > row.artifacts_expected:
        faults.append(f"artifacts_produced: {row.artifacts_produced} of {row.artifacts_expected} expected")
    plain = row.input_tokens + row.output_tokens
    everything = plain + (row.cache_read_tokens or 0) + (row.cache_write_tokens or 0)
    if row.total_tokens not in {plain, everything}:
        faults.append(
            f"total_tokens: {row.total_tokens} is neither input + output = {plain} "
            f"nor that with the cache = {everything}"
        )
    if row.scores is not None:
        totals = [score.total for score in row.scores.by_artifact().values()]
        mean = sum(totals) / len(totals)
        if row.task_score is None or abs(mean - row.task_score) > SCORE_TOLERANCE:
            faults.append(f"task_score: {row.task_score}, but the artifact totals have the mean {mean:.4f}")
    return faults


def _summary_faults(rows: tuple[TaskRow, ...], summary: Summary) -> list[str]:
    counted = [row for row in rows if not row.failed]
    failed = sorted(row.task for row in rows if row.failed)
    costs = [row.total_cost_usd for row in counted if row.total_cost_usd is not None]
    scores = [row.task_score for row in counted if row.task_score is not None]
    faults = [
        f"{key}: {printed}, but the task rows give {found}"
        for key, printed, found in (
            ("num_tasks", summary.num_tasks, len(rows)),
            ("num_scored", summary.num_scored, len(counted)),
            ("num_failed", summary.num_failed, len(failed)),
            ("failed_tasks", sorted(summary.failed_tasks), failed),
        )
        if printed != found
    ]
    for key, printed_mean, values in (
        ("mean_task_score_excl_failed", summary.mean_task_score_excl_failed, scores),
        ("mean_cost_usd_excl_failed", summary.mean_cost_usd_excl_failed, costs),
    ):
        mean = sum(values) / len(values) if values else None
        same = (mean is None) == (printed_mean is None)
        if mean is not None and printed_mean is not None:
            same = abs(mean - printed_mean) <= PRINTED_TOLERANCE
        if not same:
            faults.append(f"{key}: {printed_mean}, but the task rows give {mean}")
    return faults
