"""Endpoint run tables: plan, targets, calibration, cases and every measured figure of one run."""

from __future__ import annotations

from collections.abc import Mapping

from generators.pages import links, words
from generators.pages.endpoint_entries import (
    LAST,
    NOT_MEASURED,
    adjusted_entry,
    bias_entry,
    dollars_entry,
    mean_entry,
    quantile_entry,
    rate_entry,
)
from generators.pages.endpoint_words import BY_NAME, ENDED, MEASURES, Measure, milliseconds, outcome, tally
from generators.pages.table import Column, Entry, Table, count_entry, link_entry, table
from generators.tables.endpoint_runs import EndpointRun
from runner.records.bench_figures import Distribution
from runner.records.bench_manifest import CalibrationRow
from runner.records.bench_summary import BenchAccount, TargetSummary

CUT = "they may be billed; what they cost is not known"
QUANTILES = (0.5, 0.9, 0.95, 0.99)


def facts(run: EndpointRun) -> list[tuple[str, Entry]]:
    """What was run, when, where, with what."""
    manifest, summary, settings = run.manifest, run.summary, run.manifest.settings
    host, tool = manifest.host, manifest.tool
    state = "unknown" if tool.git_dirty is None else "changed since" if tool.git_dirty else "unchanged"
    commit = f"commit {tool.git_commit}, {state}" if tool.git_commit else "commit not known"
    found = [
        ("Run", Entry(run.run_id, code=True)),
        ("Model", Entry(run.model)),
        ("Profile", Entry(run.profile)),
        ("Begun", Entry(words.moment(manifest.created_at))),
        ("Ended", Entry(ENDED.get(summary.ended, summary.ended), note=summary.ended_reason)),
        ("Exit code", Entry(str(summary.exit_code))),
        ("Measured with", Entry(f"Harnessmark {tool.version}", note=commit)),
        (
            "Methodology",
            Entry(f"version {summary.methodology}", note="runs of other versions are not compared"),
        ),
        (
            "Client",
            Entry(
                f"{host.system}, {host.machine}, {words.counted(host.processors, 'processor')}",
                note=f"Python {host.python}, {host.event_loop}; region {host.client_region or 'not told'}",
            ),
        ),
        ("Transport", Entry(settings.transport)),
        ("At once", Entry(f"{settings.concurrency:,}", note="trials outside the load stages")),
        ("Processes for load", _processes(settings.workers)),
        ("Seed", Entry(str(settings.seed), note=f"order {settings.order_seed}")),
        ("Time for each target", _limit(settings.budget_seconds)),
        ("Time for load, all targets together", _limit(settings.load_budget_seconds)),
    ]
    if settings.limits:
        text = ", ".join(f"{name} {value:g}" for name, value in sorted(settings.limits.items()))
        found.append(("Limits of goodput", Entry(text)))
    return found


def account_table(run: EndpointRun) -> Table:
    """Planned, done, skipped and why, for each target and each case at it."""
    titles = {case.identifier: case.title for case in run.manifest.cases}
    rows = [[Entry("All"), Entry("all"), *_account(run.summary.account)]]
    for target in run.summary.targets:
        rows.append([Entry(run.label(target.target)), Entry("all"), *_account(target.account)])
        rows += [
            [Entry(run.label(each.target)), Entry(titles.get(each.case, each.case)), *_account(each.account)]
            for each in run.summary.cases
            if each.target == target.target
            and (each.account.skipped or each.account.left or each.account.unplanned)
        ]
    columns = [Column("Mapping"), Column("Case", explanation="cases of which something is missing")]
    columns += [Column("Planned", "number"), Column("Done", "number"), Column("Skipped", "number")]
    columns += [Column("Left", "number", "neither done nor skipped: the run was ended before")]
    columns += [Column("Cut", "number", "requests that were given up in flight")]
    columns += [Column("Warm-ups", "number", "part of the planned; in no figure")]
    columns += [Column("Unplanned", "number", "of searches, which plan as they go")]
    return table(f"Plan of run {run.run_id}", columns, rows)


def targets_table(run: EndpointRun) -> Table:
    """What was asked, and how."""
    rows = []
    for target in run.manifest.targets:
        price = target.price
        source = Entry(words.NOT_PRICED, note=price.missing_reason or "", unknown=True)
        if price.missing_reason is None:
            checked = f", checked on {price.checked_on.isoformat()}" if price.checked_on else ""
            source = Entry(
                price.source or "no source", note=f"price table, {price.priced_on.isoformat()}{checked}"
            )
        rows.append(
            [
                Entry(run.label(target.identifier), note=target.title),
                Entry(target.model_id, code=True),
                Entry(target.protocol),
                Entry(target.base_url, code=True)
                if target.base_url
                else Entry("built-in server", note=target.replay or ""),
                count_entry(target.context_tokens, "not told"),
                Entry(target.quantization) if target.quantization else Entry("not told", unknown=True),
                source,
            ]
        )
    columns = [Column("Mapping"), Column("Model id"), Column("Protocol"), Column("Address")]
    columns += [Column("Context", "number", "tokens"), Column("Quantisation"), Column("Prices from")]
    return table(f"Mappings of run {run.run_id}", columns, rows)


def calibration_table(run: EndpointRun) -> Table | None:
    """How wrong the client was; rows beyond a limit say so. None where it was not measured."""
    calibration = run.manifest.calibration
    if calibration is None:
        return None
    columns = [
        Column("Streams at once", "number"),
        Column("Processes", "number", "that shared the streams: more than one above what one keeps up with"),
        Column("Within limits"),
        Column("TTFT bias, p50", "number", "measured less true; part of every time to the first token"),
        Column("TTFT bias, p99", "number"),
        Column("Gap error, p50", "number", "of times between chunks"),
        Column("Gap error, p99", "number"),
        Column("Loop lag, longest", "number", "how long the client did not look"),
        Column("CPU per chunk", "number", "microseconds"),
        Column("Requests", "number"),
    ]
    rows = [_calibration_row(row) for row in calibration.levels]
    rows += [_calibration_row(row, used=False) for row in calibration.not_used]
    return table(f"Client of run {run.run_id} before it began", columns, rows)


def _calibration_row(row: CalibrationRow, *, used: bool = True) -> list[Entry]:
    within = {True: "yes", False: "no: beyond a limit", None: "not known"}[row.within]
    cpu = row.cpu_us_per_chunk
    return [
        count_entry(row.streams),
        Entry(f"{row.workers:,}", float(row.workers), note="" if used else "measured and not used"),
        Entry(within),
        bias_entry(row.bias_p50_ms, row.limit_p50_ms),
        bias_entry(row.bias_p99_ms, row.limit_p99_ms),
        bias_entry(row.gap_error_p50_ms),
        bias_entry(row.gap_error_p99_ms),
        bias_entry(row.loop_lag_ms),
        NOT_MEASURED if cpu is None else Entry(f"{cpu:.1f} µs", cpu),
        Entry(f"{row.requests:,}", float(row.requests), note=f"{row.failed:,} failed"),
    ]


def measures_table(run: EndpointRun, target: TargetSummary, page: str) -> Table:
    """Every figure of a target's requests."""
    rows = []
    for measure in MEASURES:
        found = target.measures.get(measure.name)
        if found is None:
            continue
        href = links.relative(page, links.ENDPOINT_METHODOLOGY, measure.name)
        rows.append(
            [
                link_entry(measure.title, href),
                *(quantile_entry(found, q, measure) for q in QUANTILES),
                mean_entry(found, measure),
                *(_value(value, measure) for value in (found.minimum, found.maximum)),
                _value(found.standard_deviation, measure),
                adjusted_entry(found, 0.9, measure),
                Entry(
                    f"{found.tally.used:,} of {found.tally.attempted:,}",
                    float(found.tally.used),
                    note=_left_out(found),
                ),
            ]
        )
    columns = [Column("Figure")]
    columns += [
        Column(f"p{100 * q:.0f}", "number", "95 % interval from order statistics below") for q in QUANTILES
    ]
    columns += [Column("Mean", "number", "interval by Student's t, too narrow for a long tail")]
    columns += [Column("Least", "number"), Column("Most", "number")]
    columns += [Column("Standard deviation", "number", "of the sample")]
    columns += [Column("p90 with failures", "number", "each failed request waits for ever")]
    columns += [Column("n of m", "number", "answered requests with this figure, of all that were sent")]
    return table(f"Every figure of {run.label(target.target)}, run {run.run_id}", columns, rows)


def cases_table(run: EndpointRun) -> Table | None:
    """Every case at every target."""
    cases = {case.identifier: case for case in run.manifest.cases}
    rows = []
    for each in run.summary.cases:
        case = cases.get(each.case)
        ttft, latency = each.measures.get("ttft_ms"), each.measures.get("latency_ms")
        title = case.title if case else each.case
        rows.append(
            [
                Entry(title, note=each.case),
                Entry(run.label(each.target)),
                Entry(case.dimension if case else ""),
                rate_entry(each.score.over_attempted, count_first=True),
                rate_entry(each.reliability.succeeded, count_first=True),
                quantile_entry(ttft, 0.5, BY_NAME["ttft_ms"]),
                quantile_entry(latency, 0.5, BY_NAME["latency_ms"]),
                dollars_entry(each.money.total_usd, each.money, run.targets[each.target]),
                Entry(tally(dict(each.reliability.failures)) or "none"),
            ]
        )
    if not rows:
        return None
    columns = [Column("Case"), Column("Mapping"), Column("Dimension"), Column("Right", "number")]
    columns += [Column("Good ends", "number", "of requests"), Column("TTFT p50", "number")]
    columns += [Column("Latency p50", "number"), Column("Cost", "number", "USD, by price table")]
    columns += [Column("Failures", wide=True)]
    return table(f"Cases of run {run.run_id}, cost by price table", columns, rows)


def thresholds_table(run: EndpointRun) -> Table | None:
    """Conditions under which the run counts as failed; None where there were none."""
    if not run.summary.thresholds:
        return None
    rows = []
    for each in run.summary.thresholds:
        verdict = {True: "failed", False: "kept", None: "not known"}[each.failed]
        value = NOT_MEASURED if each.value is None else Entry(f"{each.value:,.4g}", each.value)
        rows.append(
            [
                Entry(each.text, code=True),
                Entry(run.label(each.target)),
                value,
                Entry(verdict, note=each.missing_reason or "", unknown=each.failed is None),
            ]
        )
    columns = [Column("Fails on"), Column("Mapping"), Column("Figure", "number"), Column("Verdict")]
    return table(f"Thresholds of run {run.run_id}", columns, rows)


def _account(account: BenchAccount) -> list[Entry]:
    skipped = sum(account.skipped.values())
    return [
        count_entry(account.planned),
        count_entry(account.done),
        Entry(f"{skipped:,}", float(skipped), note=tally(dict(account.skipped))),
        count_entry(account.left),
        Entry(
            f"{account.cut_requests:,}", float(account.cut_requests), note=CUT if account.cut_requests else ""
        ),
        count_entry(account.warm_ups),
        count_entry(account.unplanned),
    ]


def _left_out(found: Distribution) -> str:
    reasons: Mapping[str, int] = {**found.tally.excluded}
    parts = [tally(dict(reasons))] if reasons else []
    parts += [f"without a result: {tally(dict(found.tally.skipped))}"] if found.tally.skipped else []
    return "; ".join(parts)


def _value(value: float | None, measure: Measure) -> Entry:
    return NOT_MEASURED if value is None else Entry(measure.text(value), min(value, LAST))


def _processes(workers: int | None) -> Entry:
    if workers is None:
        return Entry("as the client's calibration shows")
    return Entry(f"{workers:,}", float(workers), note="asked for")


def _limit(seconds: float | None) -> Entry:
    return Entry("no limit") if seconds is None else Entry(words.duration(seconds))


def lag_words(run: EndpointRun) -> str:
    """One sentence on the largest lag of the event loop while the run measured."""
    lags = [
        request.loop_lag_ms
        for trial in run.trials
        for request in trial.requests
        if request.loop_lag_ms is not None
    ]
    if not lags:
        return ""
    longest = milliseconds(max(lags))
    return f"While the run went on, warm-ups and load included, the client looked away for {longest} at most."


def adjustments_words(target: TargetSummary) -> list[str]:
    """What was changed in requests because the endpoint would not take it, with how often."""
    return [f"{outcome(name)}: {words.counted(count, 'trial')}" for name, count in target.adjustments.items()]
