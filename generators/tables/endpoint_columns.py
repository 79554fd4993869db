"""Endpoint columns: the exported tables of endpoint benchmarks, one row per target and per trial."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from generators.tables.columns import DAY, NUMBER, TEXT, TRUTH, WHOLE, DataColumn, Scalar
from generators.tables.endpoint_runs import EndpointRun, EndpointRuns
from runner.records import BenchTrial
from runner.records.bench_figures import RateFigure
from runner.records.bench_summary import CodingSummary, TargetSummary
from runner.records.bench_trial import BenchRequest, BenchTiming

RunTarget = tuple[EndpointRun, TargetSummary]
RunTrial = tuple[EndpointRun, BenchTrial]
QUANTILES = (0.5, 0.9, 0.95, 0.99)
RATES = (
    "answered", "succeeded", "rate_limited", "timed_out", "truncated", "incomplete", "malformed",
    "broken_stream", "refused", "http_error", "empty", "buffered", "usage_missing",
)  # fmt: skip
TIMED = ("ttft_ms", "first_visible_ms", "ttfo_ms", "tpot_ms", "latency_ms", "output_tps", "gap_p95_ms")


def trial_rows(runs: EndpointRuns) -> list[RunTrial]:
    """Every trial of every run, skipped ones included."""
    return [(run, trial) for run in runs.runs for trial in run.trials]


def _run_columns() -> tuple[DataColumn[EndpointRun], ...]:
    return (
        DataColumn("model", TEXT, "", "model slug", lambda r: r.model),
        DataColumn("run", TEXT, "", "id of the run", lambda r: r.run_id),
        DataColumn("profile", TEXT, "", "profile or suites", lambda r: r.profile),
        DataColumn("begun", DAY, "", "day of the run", lambda r: r.manifest.created_at.date().isoformat()),
        DataColumn("ended", TEXT, "", "complete, partial or harness-fault", lambda r: r.summary.ended),
        DataColumn("methodology", WHOLE, "", "version of all definitions", lambda r: r.summary.methodology),
    )


def _price_day(row: RunTarget | RunTrial) -> str:
    """The day whose prices the dollars of a target or a trial hold."""
    run, each = row
    return run.targets[each.target].price.priced_on.isoformat()


def _of_target(column: DataColumn[EndpointRun], row: RunTarget) -> Scalar:
    return column.read(row[0])


def _of_trial(column: DataColumn[EndpointRun], row: RunTrial) -> Scalar:
    return column.read(row[0])


def _quantile(name: str, q: float, part: str, row: RunTarget) -> Scalar:
    measured = row[1].measures.get(name)
    found = None if measured is None else measured.quantile(q)
    return None if found is None else float(value) if (value := getattr(found, part)) is not None else None


def _used(name: str, row: RunTarget) -> Scalar:
    measured = row[1].measures.get(name)
    return None if measured is None else measured.tally.used


def _rate(name: str, part: str, row: RunTarget) -> Scalar:
    found: RateFigure = getattr(row[1].reliability, name)
    value: Scalar = getattr(found, part)
    return value


def _coding(read: Callable[[CodingSummary], Scalar], row: RunTarget) -> Scalar:
    found = next(
        (each for each in row[0].summary.coding if each.target == row[1].target and each.case is None), None
    )
    return None if found is None else read(found)


def _timed_columns() -> tuple[DataColumn[RunTarget], ...]:
    found: list[DataColumn[RunTarget]] = []
    for name in TIMED:
        unit = "tokens per second" if name.endswith("_tps") else "milliseconds"
        meaning = BenchTiming.model_fields[name].description or name
        for q in QUANTILES:
            stem = f"{name}_p{100 * q:.0f}"
            found += [
                DataColumn(
                    stem, NUMBER, unit, f"percentile of {meaning}", partial(_quantile, name, q, "value")
                ),
                DataColumn(
                    f"{stem}_low", NUMBER, unit, "its 95 % interval", partial(_quantile, name, q, "low")
                ),
                DataColumn(
                    f"{stem}_high", NUMBER, unit, "its 95 % interval", partial(_quantile, name, q, "high")
                ),
            ]
        found.append(
            DataColumn(f"{name}_n", WHOLE, "requests", "requests that have it", partial(_used, name))
        )
    return tuple(found)


def _rate_columns() -> tuple[DataColumn[RunTarget], ...]:
    found: list[DataColumn[RunTarget]] = []
    for name in RATES:
        found += [
            DataColumn(
                f"{name}_count", WHOLE, "requests", f"requests: {name}", partial(_rate, name, "count")
            ),
            DataColumn(f"{name}_of", WHOLE, "requests", "of how many", partial(_rate, name, "of")),
            DataColumn(
                f"{name}_low", NUMBER, "share", "95 % interval by Wilson", partial(_rate, name, "low")
            ),
            DataColumn(
                f"{name}_high", NUMBER, "share", "95 % interval by Wilson", partial(_rate, name, "high")
            ),
        ]
    return tuple(found)


ENDPOINT_TARGET_COLUMNS: tuple[DataColumn[RunTarget], ...] = (
    *(DataColumn(c.name, c.type, c.unit, c.meaning, partial(_of_target, c)) for c in _run_columns()),
    DataColumn("mapping", TEXT, "", "provider, or provider:region", lambda r: r[1].label),
    DataColumn("target", TEXT, "", "provider/model-id[:region]", lambda r: r[1].target),
    DataColumn("planned", WHOLE, "trials", "planned, load included", lambda r: r[1].account.planned),
    DataColumn("done", WHOLE, "trials", "done of the planned", lambda r: r[1].account.done),
    DataColumn(
        "skipped",
        WHOLE,
        "trials",
        "never sent, or cut by a budget",
        lambda r: sum(r[1].account.skipped.values()),
    ),
    DataColumn(
        "cut",
        WHOLE,
        "requests",
        "given up in flight: what they cost is not known",
        lambda r: r[1].account.cut_requests,
    ),
    DataColumn("requests", WHOLE, "requests", "sent outside load", lambda r: r[1].reliability.requests),
    *_rate_columns(),
    DataColumn(
        "right_count",
        WHOLE,
        "trials",
        "right answers",
        lambda r: r[1].score.over_attempted.count if r[1].score else None,
    ),
    DataColumn(
        "right_of",
        WHOLE,
        "trials",
        "of how many that were asked",
        lambda r: r[1].score.over_attempted.of if r[1].score else None,
    ),
    DataColumn(
        "consistency",
        NUMBER,
        "share",
        "share of the most frequent answer over repeats of one instance",
        lambda r: r[1].score.consistency if r[1].score else None,
    ),
    *_timed_columns(),
    DataColumn("prompt_tokens", WHOLE, "tokens", "as told", lambda r: r[1].tokens.prompt),
    DataColumn("output_tokens", WHOLE, "tokens", "as told, reasoning included", lambda r: r[1].tokens.output),
    DataColumn(
        "cost_usd",
        NUMBER,
        "US dollars",
        "by price table; null with any part unknown",
        lambda r: r[1].money.total_usd,
    ),
    DataColumn(
        "cost_known_usd", NUMBER, "US dollars", "known of it, by price table", lambda r: r[1].money.known_usd
    ),
    DataColumn("cost_price_date", DAY, "", "day of the prices", _price_day),
    DataColumn(
        "cost_reported_usd",
        NUMBER,
        "US dollars",
        "told by the gateway, metered",
        lambda r: r[1].money.reported_usd,
    ),
    DataColumn("coding_attempted", WHOLE, "tasks", "coding tasks", partial(_coding, lambda c: c.attempted)),
    DataColumn("coding_solved", WHOLE, "tasks", "solved", partial(_coding, lambda c: c.solved.count)),
    DataColumn(
        "coding_cost_per_solved_usd",
        NUMBER,
        "US dollars",
        "by price table, the unsolved included",
        partial(_coding, lambda c: c.money.per_solved_usd),
    ),
)


def _first(row: RunTrial) -> BenchRequest | None:
    return row[1].requests[0] if row[1].requests else None


def _timing(name: str, row: RunTrial) -> Scalar:
    request = _first(row)
    value: Scalar = None if request is None else getattr(request.timing, name)
    return value


def _of_first(name: str, row: RunTrial) -> Scalar:
    request = _first(row)
    value: Scalar = None if request is None else getattr(request, name)
    return value


def _failure(row: RunTrial) -> Scalar:
    failure = row[1].requests[-1].failure if row[1].requests else None
    return None if failure is None else failure.code


def _agent(name: str, row: RunTrial) -> Scalar:
    value: Scalar = None if row[1].agent is None else getattr(row[1].agent, name)
    return value


def _load(name: str, row: RunTrial) -> Scalar:
    value: Scalar = None if row[1].load is None else getattr(row[1].load, name)
    return value


def _usage(name: str, row: RunTrial) -> Scalar:
    counts = [getattr(request.usage, name) if request.usage else None for request in row[1].requests]
    known = [int(count) for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


ENDPOINT_TRIAL_COLUMNS: tuple[DataColumn[RunTrial], ...] = (
    *(DataColumn(c.name, c.type, c.unit, c.meaning, partial(_of_trial, c)) for c in _run_columns()),
    DataColumn("mapping", TEXT, "", "provider, or provider:region", lambda r: r[0].label(r[1].target)),
    DataColumn("target", TEXT, "", "provider/model-id[:region]", lambda r: r[1].target),
    DataColumn("key", TEXT, "", "unique in its run", lambda r: r[1].key),
    DataColumn("case", TEXT, "", "case", lambda r: r[1].case),
    DataColumn("case_kind", TEXT, "", "quality, performance or agentic", lambda r: r[1].case_kind),
    DataColumn("slot", TEXT, "", "instance and repeat", lambda r: r[1].slot),
    DataColumn("warm_up", TRUTH, "", "in no figure", lambda r: r[1].warm_up),
    DataColumn("started", TEXT, "", "UTC", lambda r: r[1].started_at.isoformat()),
    DataColumn("stage", TEXT, "", "load stage; empty outside load", partial(_load, "stage")),
    DataColumn("level", NUMBER, "", "its level", partial(_load, "level")),
    DataColumn("skipped", TEXT, "", "why it has no result", lambda r: r[1].skipped),
    DataColumn("outcome", TEXT, "", "class of the last request", lambda r: r[1].outcome),
    DataColumn("failure", TEXT, "", "code of the last request's failure", _failure),
    DataColumn("verdict", TEXT, "", "what became of the answer", lambda r: r[1].score.verdict),
    DataColumn("score", NUMBER, "", "0 to 1", lambda r: r[1].score.value),
    DataColumn("requests", WHOLE, "requests", "sent for the trial", lambda r: len(r[1].requests)),
    DataColumn("finish_reason", TEXT, "", "of the first request", partial(_of_first, "finish_reason")),
    DataColumn(
        "buffered",
        TRUTH,
        "",
        "of the first request; empty where too short to tell",
        partial(_timing, "buffered"),
    ),
    *(
        DataColumn(
            name,
            NUMBER,
            "tokens per second" if name.endswith("_tps") else "" if name == "burst_ratio" else "milliseconds",
            f"of the first request; see the methodology page: {name}",
            partial(_timing, name),
        )
        for name in BenchTiming.model_fields
        if name not in {"buffered", "gap_count"}
    ),
    DataColumn("prompt_tokens", WHOLE, "tokens", "of all requests", partial(_usage, "prompt_tokens")),
    DataColumn("cached_tokens", WHOLE, "tokens", "of all requests", partial(_usage, "cached_tokens")),
    DataColumn("output_tokens", WHOLE, "tokens", "of all requests", partial(_usage, "output_tokens")),
    DataColumn("reasoning_tokens", WHOLE, "tokens", "of all requests", partial(_usage, "reasoning_tokens")),
    DataColumn(
        "cost_usd",
        NUMBER,
        "US dollars",
        "by price table; null with any part unknown",
        lambda r: r[1].cost_usd,
    ),
    DataColumn("cost_price_date", DAY, "", "day of the prices", _price_day),
    DataColumn("turns", WHOLE, "turns", "of an agent", partial(_agent, "turns")),
    DataColumn("tool_calls", WHOLE, "calls", "of an agent", partial(_agent, "tool_calls")),
    DataColumn("invalid_calls", WHOLE, "calls", "of an agent", partial(_agent, "invalid_calls")),
    DataColumn("no_progress_calls", WHOLE, "calls", "of an agent", partial(_agent, "no_progress_calls")),
    DataColumn("stop_reason", TEXT, "", "of an agent", partial(_agent, "stop_reason")),
)
