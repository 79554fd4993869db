"""Throughput of an imported sweep: raw rates kept, dollars left behind, the machine share told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runner.importers.published.identity import source_of
from runner.importers.published.sweep_document import RequestSweepDocument, SweepDocument
from runner.importers.published.trials import COST_CEILING_REASON, IMPORT_VERSION
from runner.records import DataWarning, Deployment, Level, PlanRecord, ThroughputRecord, Workload

HALF, EIGHTH = 1 / 2, 1 / 8

SHARES: Mapping[str, Mapping[float, float]] = {
    "p5en.48xlarge": {
        63.296: 1.0,
        54.92: 1.0,
        41.1424: 1.0,
        40.43: 1.0,
        27.72: 1.0,
        27.46: HALF,
        13.86: HALF,
        5.1428: EIGHTH,
        3.465: EIGHTH,
    },
    "g6e.12xlarge": {10.493: 1.0, 10.49: 1.0, 6.61: 1.0, 4.533: 1.0},
    "g6e.4xlarge": {3.004: 1.0, 1.893: 1.0, 1.298: 1.0},
}
"""Dollars an hour in a sweep file to the share of the machine it pays for.

Full rates are those of the price list and of its earlier revisions: 54.92 and 41.1424 for a whole
p5en.48xlarge, 10.49 for a whole g6e.12xlarge. 27.46 is half of 54.92 and 13.86 half of 27.72: the source's
tables say "half" of four such models. 5.1428 and 3.465 are an eighth of 41.1424 and 27.72: one of eight
accelerators, as the deployments' own names say (tp1).
"""

CURRENT_FULL: Mapping[str, float] = {"p5en.48xlarge": 27.72, "g6e.12xlarge": 4.533, "g6e.4xlarge": 1.298}
ACCELERATORS: Mapping[str, int] = {"p5en.48xlarge": 8, "g6e.12xlarge": 4, "g6e.4xlarge": 1}

LEVEL_SECONDS = 600
AGENT_SESSIONS = Workload(
    kind="agent-sessions",
    description="Coding-agent sessions at tasks in many repositories; which agent and tasks is not told.",
)
EQUAL_REQUESTS = Workload(
    kind="equal-requests", description="Equal requests of 256 output tokens; their prompts are not told."
)
OLDER_REVISIONS = frozenset({"gemma-4-31b.rev-100bfce"})


def sweep_records(sweep: SweepDocument | RequestSweepDocument) -> tuple[PlanRecord, ThroughputRecord]:
    """The plan whose ledger lists the sweep, and the sweep itself."""
    record = _requests(sweep) if isinstance(sweep, RequestSweepDocument) else _sessions(sweep)
    plan = PlanRecord(
        plan_id=f"published-throughput-{record.deployment.name}",
        purpose="import",
        harnessmark_version=IMPORT_VERSION,
        trials=(),
        cost_ceiling_reason=COST_CEILING_REASON,
        source=record.source,
    )
    return plan, record


def _sessions(sweep: SweepDocument) -> ThroughputRecord:
    deployment = Deployment(
        name=sweep.deployment,
        model=sweep.model,
        instance_type=sweep.instance_type,
        instance_share=SHARES.get(sweep.instance_type, {}).get(sweep.dollars_per_hour),
        tensor_parallel_size=sweep.tensor_parallel_size,
        precision=sweep.precision,
    )
    levels = tuple(
        Level(
            concurrency=level.concurrency,
            window_seconds=level.window_seconds,
            output_tokens_per_second=level.output_tokens_per_second,
            prompt_tokens_per_second=level.prompt_tokens_per_second,
            kv_cache_usage=level.kv_cache_usage,
            requests_running=level.requests_running,
            requests_waiting=level.requests_waiting,
            ttft_ms_mean=level.ttft_ms_mean,
            ttft_ms_upper=level.ttft_ms_pctl,
            tpot_ms_mean=level.tpot_ms_mean,
            tpot_ms_upper=level.tpot_ms_pctl,
            queue_ms_mean=level.queue_ms_mean,
            queue_ms_upper=level.queue_ms_pctl,
            prefill_ms_mean=level.prefill_ms_mean,
        )
        for level in sweep.levels
    )
    return ThroughputRecord(
        sweep_id=_sweep_id(sweep),
        deployment=deployment,
        workload=AGENT_SESSIONS,
        hourly_usd_in_source=sweep.dollars_per_hour,
        levels=levels,
        warnings=tuple(_warnings(sweep, deployment)),
        source=source_of(sweep.source),
    )


def _requests(sweep: RequestSweepDocument) -> ThroughputRecord:
    accelerators = ACCELERATORS.get(sweep.instance_type)
    return ThroughputRecord(
        sweep_id=_sweep_id(sweep),
        deployment=Deployment(
            name=sweep.deployment,
            model=sweep.model,
            instance_type=sweep.instance_type,
            instance_share=None if accelerators is None else sweep.tensor_parallel_size / accelerators,
            tensor_parallel_size=sweep.tensor_parallel_size,
            precision=sweep.precision.upper(),
            context_window=sweep.max_model_len,
        ),
        sweep_date=sweep.sweep_date,
        workload=EQUAL_REQUESTS,
        levels=tuple(
            Level(
                concurrency=level.concurrency,
                output_tokens_per_second=level.output_tokens_per_s,
                requests_per_second=level.requests_per_s,
                ttft_ms_mean=level.ttft_ms_mean,
                tpot_ms_mean=level.tpot_ms_mean,
                e2e_ms_mean=level.e2e_ms_mean,
                successful_requests=level.successful_requests,
                failed_requests=level.failed_requests,
                preemptions=level.preemptions,
            )
            for level in sweep.levels
        ),
        warnings=(
            DataWarning(
                code="no-prompt-rate",
                text="An older shape of sweep: equal requests of 256 output tokens, no prompt throughput.",
            ),
        ),
        source=source_of(sweep.source),
    )


def _sweep_id(sweep: SweepDocument | RequestSweepDocument) -> str:
    return f"published-{sweep.source.commit[:8]}"


def _warnings(sweep: SweepDocument, deployment: Deployment) -> Iterator[DataWarning]:
    instance, hourly = sweep.instance_type, sweep.dollars_per_hour
    if instance not in CURRENT_FULL:
        yield DataWarning(
            code="instance-not-priced",
            text=f"{instance} is not in the price list; the source used {hourly} USD an hour.",
        )
    elif deployment.instance_share is not None:
        current = CURRENT_FULL[instance] * deployment.instance_share
        if abs(current - hourly) > 1e-9:
            yield DataWarning(
                code="older-rate-in-source",
                text=f"The source priced this sweep at {hourly} USD an hour; the same share costs "
                f"{current:.4g} in the current list.",
            )
    if deployment.instance_share is None:
        yield DataWarning(
            code="instance-share-unknown",
            text=f"{hourly} USD an hour is no known rate of {instance} or of a part of it.",
        )
    if sweep.repriced is not None:
        yield DataWarning(
            code="repriced-in-source",
            text=f"Dollars were rescaled by {sweep.repriced.factor} after rounding, from "
            f"{sweep.repriced.from_dollars_per_hour} to {sweep.repriced.to_dollars_per_hour} USD an hour.",
        )
    if sweep.deployment in OLDER_REVISIONS:
        yield DataWarning(
            code="older-revision",
            text="An earlier revision of the sweep of gemma-4-31b, on another machine.",
        )
    yield from _level_warnings(sweep)


def _level_warnings(sweep: SweepDocument) -> Iterator[DataWarning]:
    longest = max(level.window_seconds for level in sweep.levels)
    if longest > LEVEL_SECONDS:
        # A rate is divided by the longer window, a cost multiplied by it: the two shares are not one.
        low, high = 100 * (1 - LEVEL_SECONDS / longest), 100 * (longest / LEVEL_SECONDS - 1)
        yield DataWarning(
            code="idle-time-in-window",
            text=f"Rates are averages over windows of up to {longest:.0f} s around levels of "
            f"{LEVEL_SECONDS} s: up to {low:.0f} % too low, and cost up to {high:.0f} % too high.",
        )
    if any(level.ttft_ms_pctl is not None for level in sweep.levels):
        yield DataWarning(
            code="bucket-bounds", text="Percentiles of latencies are upper bounds of histogram buckets."
        )
    above = [
        f"{level.requests_running.peak:.0f} at {level.concurrency}"
        for level in sweep.levels
        if level.requests_running.peak is not None and level.requests_running.peak > level.concurrency
    ]
    if above:
        yield DataWarning(
            code="peak-above-concurrency", text=f"Peak of running requests: {', '.join(above)}."
        )
