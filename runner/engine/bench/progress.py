"""Progress: what a run says of itself in the terminal, a line at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from runner.endpoint.statistics.outcomes import cut_words
from runner.engine.bench.calibrating import shared
from runner.engine.bench.ledger import FOR_ALL, MONEY_SPENT, asks_again
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_summary import BenchSummary, ClientError, ThresholdResult
from runner.records.bench_trial import BenchTrial
from runner.records.nouns import counted
from runner.store.bench_run import BenchRun


def plan_lines(manifest: BenchManifest) -> Iterator[str]:
    """What is planned."""
    settings = manifest.settings
    plain = [each for each in manifest.planned if each.stage is None]
    warm_ups = sum(each.warm_up for each in manifest.planned)
    yield f"run {manifest.run_id}" + (
        " (demonstration: the built-in server)" if manifest.demonstration else ""
    )
    for target in manifest.targets:
        price = target.price
        money = price.missing_reason or f"${price.input:g} / ${price.output:g} per million tokens in / out"
        yield f"  {target.label}: {target.identifier}, {target.protocol}; {money}"
    counts = Counter(each.case for each in plain if each.target == manifest.reference)
    yield (
        f"  {counted(len(plain), 'trial')} of {counted(len(counts), 'case')} at "
        f"{counted(len(manifest.targets), 'target')}, {len(manifest.planned) - len(plain)} of load in "
        f"{counted(len(manifest.stages), 'stage')}; {counted(warm_ups, 'warm-up')} among all"
    )
    searches = sum(stage.adaptive for stage in manifest.stages)
    if searches:
        yield f"  and {counted(searches, 'search', 'searches')} deciding on the way"
    yield (
        f"  budget: {_seconds(settings.budget_seconds)} per target, {_seconds(settings.load_budget_seconds)} "
        f"for load, {'no limit of money' if settings.budget_usd is None else f'${settings.budget_usd:g}'}"
    )
    if manifest.calibration is not None:
        yield f"  client: floor {_ms(manifest.calibration.floor_ms)}"
        for row in manifest.calibration.levels:
            yield (
                f"  client at {counted(row.streams, 'stream')}{shared(row)}: TTFT bias "
                f"{_ms(row.bias_p50_ms)} at p50, {_ms(row.bias_p99_ms)} at p99, largest loop lag "
                f"{_ms(row.loop_lag_ms)}{'' if row.within else '; above its limits'}"
            )
    elif manifest.settings.workers is not None:
        yield f"  load in {counted(manifest.settings.workers, 'process', 'processes')}, not calibrated"


def trial_line(trial: BenchTrial, number: int, total: int) -> str:
    """One finished trial."""
    first = trial.requests[0] if trial.requests else None
    status = {"passed": "OK", "error": "ERROR", "skipped": "SKIP"}.get(trial.score.verdict, "FAIL")
    ttft = "" if first is None or first.timing.ttft_ms is None else f", TTFT {first.timing.ttft_ms:.0f} ms"
    slot = f"warm-up {trial.run}" if trial.warm_up else f"run {trial.slot}"
    said = trial.score.verdict if trial.score.verdict != "error" else _failure(trial)
    if trial.skipped:
        said = f"skipped: {trial.skipped}"
    return f"[{number}/{total}] {status:5} {trial.target} {trial.case} {slot}: {said}{ttft}"


def _failure(trial: BenchTrial) -> str:
    """Class of what went wrong, and the HTTP status where that is what tells it."""
    status = trial.requests[-1].http_status if trial.requests else None
    return f"{trial.outcome or 'error'}{f' {status}' if status is not None and status >= 400 else ''}"


def ending_lines(run: BenchRun, manifest: BenchManifest, summary: BenchSummary) -> Iterator[str]:
    """What came of it."""
    account = summary.account
    skipped = sum(account.skipped.values())
    planned = counted(account.planned, "trial")
    yield f"{account.done} of {planned} done, {skipped} skipped, {account.left} left"
    if account.cut_requests:
        yield f"  {cut_words(account.cut_requests)}"
    for reason, count in account.skipped.items():
        yield f"  skipped {count}: {reason}" + (f"; {FOR_ALL}" if reason == MONEY_SPENT else "")
    if summary.ended_reason:
        yield f"  ended because: {summary.ended_reason}"
    for target in summary.targets:
        score = target.score
        ttft = target.measures.get("ttft_ms")
        median = None if ttft is None else ttft.quantile(0.5)
        yield (
            f"  {target.label}: "
            + (f"{score.over_attempted.count} of {score.over_attempted.of} right, " if score else "")
            + f"{target.reliability.succeeded.count} of "
            + f"{counted(target.reliability.requests, 'request')} ok, "
            + f"TTFT p50 {_ms(None if median is None else median.value)} "
            + f"({client_words(manifest, target.client)})"
        )
        yield from solved_lines(summary, target.target)
        for flag in target.flags:
            yield f"    note: {flag}"
    for curve in summary.load:
        label = next(target.label for target in summary.targets if target.target == curve.target)
        for point in curve.points:
            if point.flags:
                yield f"  note: {label}, {curve.group} {point.level:g}: {'; '.join(point.flags)}"
        for why in () if curve.goodput is None else curve.goodput.undecided.items():
            yield f"  note: {label}, {curve.group} {why[0].rpartition('@')[2]} is undecided: {why[1]}"
    for flag in summary.flags:
        yield f"  note: {flag}"
    for each in summary.thresholds:
        if each.failed is not False:
            what = "unknown" if each.failed is None else f"FAILED with {_figure(each)}"
            yield f"  threshold {each.text} at {each.target}: {what}"
    yield f"files: {run.folder}"
    if summary.exit_code == 3 and asks_again(manifest, account, complete=summary.ended == "complete"):
        yield f"go on: invoke bench --resume {manifest.run_id}"


def solved_lines(summary: BenchSummary, target: str) -> Iterator[str]:
    """How many coding tasks an agent solved at ``target``; none where it was given none."""
    for work in summary.coding:
        if work.target == target and work.case is None:
            yield f"    coding: {work.solved.count} of {counted(work.solved.of, 'task')} solved"


def _figure(result: ThresholdResult) -> str:
    """The figure with its unit; rates and scores have none."""
    if result.value is None:
        return "unknown"
    if result.metric.endswith("_ms"):
        return _ms(result.value)
    return f"${result.value:g}" if result.metric.endswith("_usd") else f"{result.value:g}"


def client_words(manifest: BenchManifest, client: ClientError) -> str:
    """The client's own error, as it stands beside a figure."""
    calibration = manifest.calibration
    if calibration is None:
        return f"client not calibrated, its largest loop lag {_ms(client.loop_lag_ms)}"
    return (
        f"client: floor {_ms(calibration.floor_ms)}, bias {_ms(client.bias_p50_ms)}, largest loop lag "
        f"{_ms(client.loop_lag_ms)}"
    )


def _seconds(value: float | None) -> str:
    return "no limit of time" if value is None else f"{value:g} s"


def _ms(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f} ms"
