"""Tables: what a report of a run holds, section by section, free of any format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.endpoint.reports import shown
from runner.endpoint.reports.load_tables import load_flags, load_tables
from runner.endpoint.reports.table import CLIENT, Head, Table
from runner.endpoint.statistics.outcomes import cut_words
from runner.records.bench_manifest import BenchCalibration, BenchManifest
from runner.records.bench_summary import BenchSummary
from runner.records.bench_trial import BenchTrial
from runner.records.nouns import counted

MOST_ERRORS = 200


@dataclass(frozen=True)
class Report:
    """A run as text and tables."""

    title: str
    facts: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]
    tables: tuple[Table, ...]


def report_of(manifest: BenchManifest, summary: BenchSummary, trials: Sequence[BenchTrial]) -> Report:
    """The report. Nothing in it is text that a model wrote, but what error messages may quote."""
    labels = {target.identifier: target.label for target in manifest.targets}
    tables = [
        *_overview(summary),
        *_coding(summary, labels),
        *_reliability(summary),
        *_dimensions(summary, labels),
        *_comparisons(summary, labels),
        *_cases(summary, labels),
        *load_tables(summary.load, labels),
        *_thresholds(summary, labels),
        *_left(summary),
        *_errors(trials, labels),
    ]
    flags = (
        *summary.flags,
        *(f"{each.label}: {flag}" for each in summary.targets for flag in each.flags),
        *load_flags(summary.load, labels),
    )
    return Report(
        f"Endpoint benchmark of {manifest.model}", tuple(_facts(manifest, summary)), flags, tuple(tables)
    )


def _facts(manifest: BenchManifest, summary: BenchSummary) -> Iterator[tuple[str, str]]:
    settings = manifest.settings
    if manifest.demonstration:
        yield "Demonstration", "the built-in server answered: no figure here is a model's"
    yield "Run", manifest.run_id
    yield "Planned", f"{manifest.created_at:%Y-%m-%d %H:%M:%S} UTC"
    yield "Profile", settings.profile or ", ".join(settings.suites) or "load"
    yield "Ended", summary.ended + (f": {summary.ended_reason}" if summary.ended_reason else "")
    account = summary.account
    skipped = sum(account.skipped.values())
    yield "Trials", f"{account.planned} planned, {account.done} done, {skipped} skipped, {account.left} left"
    if account.cut_requests:
        yield "Cut", cut_words(account.cut_requests)
    yield "Reference", summary.reference
    yield "Seed", str(settings.seed)
    yield "Concurrency", str(settings.concurrency)
    seconds = settings.budget_seconds
    yield "Budget per target", "no limit" if seconds is None else f"{seconds:g} s"
    yield "Methodology", str(summary.methodology)
    host = manifest.host
    processors = counted(host.processors, "processor")
    yield "Client", f"{host.system}, {processors}, {host.event_loop}, {settings.transport}"
    if settings.workers is not None:
        yield "Load in", f"{counted(settings.workers, 'process', 'processes')}, as was asked for"
    if manifest.calibration is not None:
        yield from _calibration_facts(manifest.calibration)


def _calibration_facts(calibration: BenchCalibration) -> Iterator[tuple[str, str]]:
    yield "Client's floor", f"{shown.number(calibration.floor_ms, 2)} ms of every TTFT are the client's own"
    for used, rows in ((True, calibration.levels), (False, calibration.not_used)):
        for row in rows:
            where = "" if row.workers == 1 else f" in {counted(row.workers, 'process', 'processes')}"
            said = (
                f"{shown.number(row.bias_p50_ms, 2)} / {shown.number(row.bias_p99_ms, 2)} ms at p50 / p99, "
                f"largest loop lag {shown.number(row.loop_lag_ms, 1)} ms"
                f"{'' if row.within else ', above its limits'}{'' if used else ', not used'}"
            )
            one = " in one process" if not used and row.workers == 1 else where
            yield f"TTFT bias at {counted(row.streams, 'stream')}{one}", said


def _overview(summary: BenchSummary) -> Iterator[Table]:
    rows = tuple(
        (
            target.label,
            shown.share(target.reliability.succeeded),
            shown.rate(None if target.score is None else target.score.over_attempted),
            shown.rate(None if target.score is None else target.score.over_answered),
            shown.percent(None if target.score is None else target.score.consistency),
            shown.quantile(target.measures.get("ttft_ms"), 0.5),
            shown.quantile(target.measures.get("ttft_ms"), 0.9),
            shown.quantile(target.measures.get("ttfo_ms"), 0.5),
            shown.quantile(target.measures.get("latency_ms"), 0.5),
            shown.quantile(target.measures.get("tpot_ms"), 0.5, 2),
            shown.quantile(target.measures.get("output_tps"), 0.5),
            shown.share(target.reliability.buffered),
            shown.money(target.money.total_usd),
            shown.money(target.money.per_solved_usd),
            shown.client(target.client),
        )
        for target in summary.targets
    )
    head: Head = (
        "Target",
        "Requests ok",
        "Right of asked",
        "Right of answered",
        "Consistency",
        "TTFT p50 ms",
    )
    head += ("TTFT p90 ms", "First output p50 ms", "Latency p50 ms", "Per token p50 ms", "Tokens/s p50")
    head += ("Buffered", "Cost", "Cost per right answer", CLIENT)
    note = (
        "TTFT: first token of any kind, reasoning included. First output: first token that is no reasoning. "
        "Times are of all answered requests, right or wrong. Intervals are of 95 %. "
        "Client: its calibrated TTFT bias at p50 / p99, and the largest lag of its loop meanwhile."
    )
    yield Table("Summary", head, rows, note)


def _coding(summary: BenchSummary, labels: dict[str, str]) -> Iterator[Table]:
    rows = tuple(
        (
            labels[each.target],
            each.case or "all tasks",
            shown.rate(each.solved),
            shown.quantile(each.turns, 0.5),
            shown.quantile(each.tool_calls, 0.5),
            shown.share(each.invalid_calls),
            shown.share(each.no_progress_calls),
            shown.quantile(each.wall_seconds, 0.5),
            shown.quantile(each.total_tokens, 0.5, 0),
            shown.quantile(each.first_turn_ttft_ms, 0.5),
            shown.money(each.money.per_solved_usd),
            shown.counts(each.stop_reasons),
        )
        for each in summary.coding
    )
    head: Head = ("Target", "Task", "Solved", "Turns p50", "Tool calls p50", "Invalid calls", "No progress")
    head += ("Seconds p50", "Tokens p50", "First turn TTFT p50 ms", "Cost per solved", "Stop reasons")
    if rows:
        yield Table("Coding", head, rows, "Cost per solved: all money of the group, unsolved tasks included.")


def _reliability(summary: BenchSummary) -> Iterator[Table]:
    names: Head = ("rate_limited", "timed_out", "http_error", "broken_stream", "malformed", "incomplete")
    names += ("truncated", "refused", "empty", "usage_missing")
    rows = tuple(
        (
            target.label,
            str(target.reliability.requests),
            *(shown.share(getattr(target.reliability, name)) for name in names),
            shown.adjusted(target.measures.get("ttft_ms"), 0.9),
            shown.adjusted(target.measures.get("latency_ms"), 0.9),
        )
        for target in summary.targets
    )
    head: Head = ("Target", "Requests", *(name.replace("_", " ").capitalize() for name in names))
    head += ("TTFT p90 with failures", "Latency p90 with failures")
    yield Table(
        "Reliability", head, rows, "With failures: each failed request counts as one that never came."
    )


def _dimensions(summary: BenchSummary, labels: dict[str, str]) -> Iterator[Table]:
    rows = tuple(
        (
            labels[each.target],
            each.name,
            shown.rate(each.score.over_attempted),
            shown.rate(each.score.over_answered),
            shown.rate(each.score.instructions),
        )
        for each in summary.slices
        if each.by == "dimension"
    )
    if rows:
        head: Head = ("Target", "Dimension", "Right of asked", "Right of answered", "Instructions followed")
        yield Table("Capability", head, rows)


def _comparisons(summary: BenchSummary, labels: dict[str, str]) -> Iterator[Table]:
    rows = tuple(
        (
            labels[each.target],
            each.metric,
            str(each.pairs),
            shown.number(each.reference_value, 3),
            shown.number(each.target_value, 3),
            shown.number(each.difference, 3),
            f"{shown.number(each.low, 3)} to {shown.number(each.high, 3)}",
            each.verdict,
        )
        for each in summary.comparisons
        if each.pairs
    )
    head: Head = (
        "Target",
        "Figure",
        "Pairs",
        "Reference",
        "Target's",
        "Difference",
        "95 % interval",
        "Verdict",
    )
    if rows:
        note = f"Against {labels[summary.reference]}, paired by instance; bootstrap over pairs."
        yield Table("Comparison", head, rows, note)
    found = tuple(
        (
            labels[each.left],
            labels[each.right],
            shown.rate(each.same),
            shown.rate(each.same_errors),
            shown.percent(each.rare_errors),
            shown.percent(each.category_similarity),
            shown.percent(each.similarity),
        )
        for each in summary.agreements
        if each.same.of
    )
    head = ("Target", "Other", "Same answers", "Same errors", "Rare errors", "Category scores", "Similarity")
    if found:
        yield Table("Agreement", head, found)


def _cases(summary: BenchSummary, labels: dict[str, str]) -> Iterator[Table]:
    rows = tuple(
        (
            labels[each.target],
            each.case,
            f"{each.account.done} of {each.account.planned}",
            shown.rate(each.score.over_attempted),
            shown.quantile(each.measures.get("ttft_ms"), 0.5),
            shown.quantile(each.measures.get("latency_ms"), 0.5),
            shown.quantile(each.measures.get("output_tps"), 0.5),
            shown.share(each.reliability.buffered),
        )
        for each in summary.cases
    )
    head: Head = ("Target", "Case", "Done", "Right of asked", "TTFT p50 ms", "Latency p50 ms", "Tokens/s p50")
    if rows:
        yield Table("Cases", (*head, "Buffered"), rows)


def _thresholds(summary: BenchSummary, labels: dict[str, str]) -> Iterator[Table]:
    words = {True: "failed", False: "met", None: "unknown"}
    rows = tuple(
        (each.text, labels[each.target], shown.number(each.value, 3), words[each.failed])
        for each in summary.thresholds
    )
    if rows:
        yield Table("Thresholds", ("Fails when", "Target", "Value", "Result"), rows)


def _left(summary: BenchSummary) -> Iterator[Table]:
    rows = tuple(
        (target.label, str(target.account.planned), str(target.account.done), reason, str(count))
        for target in summary.targets
        for reason, count in {
            **target.account.skipped,
            "left: the run was ended": target.account.left,
        }.items()
        if count
    )
    if rows:
        yield Table("Not done", ("Target", "Planned", "Done", "Why", "Trials"), rows)


def _errors(trials: Sequence[BenchTrial], labels: dict[str, str]) -> Iterator[Table]:
    rows = [
        (
            labels.get(trial.target, trial.target),
            trial.case,
            trial.slot,
            request.outcome,
            request.failure.code,
            request.failure.message,
        )
        for trial in trials
        for request in trial.requests
        if request.failure is not None
    ]
    head: Head = ("Target", "Case", "Slot", "Class", "Code", "Message")
    if rows:
        more = len(rows) - MOST_ERRORS
        note = f"The first {MOST_ERRORS} of {len(rows)}." if more > 0 else "Warm-ups included."
        yield Table("Errors", head, tuple(rows[:MOST_ERRORS]), note)


def timings_table(manifest: BenchManifest, summary: BenchSummary) -> Table:
    """Times by target and case, of all answered requests whether the answer was right or not."""
    labels = {target.identifier: target.label for target in manifest.targets}
    rows = tuple(
        (
            labels[each.target],
            each.case,
            shown.rate(each.reliability.succeeded),
            shown.rate(each.score.over_attempted),
            shown.quantile(each.measures.get("headers_ms"), 0.5),
            shown.quantile(each.measures.get("ttft_ms"), 0.5),
            shown.quantile(each.measures.get("ttft_ms"), 0.9),
            shown.quantile(each.measures.get("first_visible_ms"), 0.5),
            shown.quantile(each.measures.get("latency_ms"), 0.5),
            shown.quantile(each.measures.get("latency_ms"), 0.9),
            shown.quantile(each.measures.get("visible_tps"), 0.5),
            shown.quantile(each.measures.get("gap_max_ms"), 0.5),
            shown.share(each.reliability.buffered),
        )
        for each in summary.cases
    )
    head: Head = (
        "Target",
        "Case",
        "Requests ok",
        "Right",
        "Headers p50",
        "TTFT p50",
        "TTFT p90",
        "First visible p50",
    )
    head += ("Latency p50", "Latency p90", "Visible tok/s p50", "Largest gap p50", "Buffered")
    return Table("Timings", head, rows, "Milliseconds. Wrong answers are in all times.")
