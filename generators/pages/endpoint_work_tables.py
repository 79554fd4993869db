"""Endpoint work tables: load points and coding tasks of one run."""

from __future__ import annotations

from generators.pages import words
from generators.pages.endpoint_entries import (
    NOT_MEASURED,
    client_entry,
    dollars_entry,
    mean_entry,
    quantile_entry,
    rate_entry,
)
from generators.pages.endpoint_words import BY_NAME, COUNT, SECONDS, milliseconds, outcome, tally
from generators.pages.table import Column, Entry, Table, table
from generators.tables.endpoint_runs import EndpointRun
from runner.records.bench_summary import CodingSummary, LoadCurve, LoadPoint


def load_table(run: EndpointRun, curve: LoadCurve) -> Table:
    """Every level of a curve."""
    rows = [_load_row(run, point) for point in curve.points]
    columns = [
        Column("Level", "number", curve.points[0].unit if curve.points else ""),
        Column("Requests", "number", "of the steady window; where there is none, of the whole stage"),
        Column("Good end", "number", "95 % interval by Wilson"),
        Column("Requests a second", "number", "that ended well, in the steady window"),
        Column("Output tokens a second", "number", "of all requests together, in the steady window"),
        Column("TTFT p50", "number", "95 % interval from order statistics"),
        Column("TTFT p90", "number", "95 % interval from order statistics"),
        Column("Latency p50", "number", "95 % interval from order statistics"),
        Column("Latency p90", "number", "95 % interval from order statistics"),
        Column("Degradation", "number", "median latency over that of the lowest level"),
        Column("In flight", "number", "mean over the window, peak below"),
        Column("Within limits", "number"),
        Column("Window", "number"),
        Column("Client's own error", "number", "bias of the TTFT at p50 / p99, measured before the run"),
        Column("To know", wide=True),
    ]
    if not any(row[-1].text for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return table(f"Load of {run.label(curve.target)}, {curve.group}, run {run.run_id}", columns, rows)


def _load_row(run: EndpointRun, point: LoadPoint) -> list[Entry]:
    ttft, latency = point.measures.get("ttft_ms"), point.measures.get("latency_ms")
    flight = NOT_MEASURED
    if point.in_flight_mean is not None:
        peak = "" if point.in_flight_peak is None else f"peak {point.in_flight_peak:,}"
        flight = Entry(f"{point.in_flight_mean:.1f}", point.in_flight_mean, note=peak)
    window = Entry("never held", note="whole stage instead", unknown=True)
    if point.window_seconds is not None:
        window = Entry(words.duration(point.window_seconds), point.window_seconds)
    offered = "" if point.offered_per_second is None else f"offered {point.offered_per_second:.2f}"
    limits = Entry("no limits", unknown=True)
    if point.within_limits is not None:
        limits = rate_entry(point.within_limits)
    notes = list(point.flags)
    late = point.lateness_ms.quantile(0.9) if point.lateness_ms is not None else None
    if late is not None and late.value is not None:
        notes.append(f"sent late by {milliseconds(late.value)} at p90")
    return [
        Entry(f"{point.level:g}", point.level),
        Entry(f"{point.requests:,}", float(point.requests)),
        rate_entry(point.succeeded),
        _number(point.requests_per_second, "{:,.2f}", offered),
        _number(point.output_tokens_per_second, "{:,.1f}"),
        quantile_entry(ttft, 0.5, BY_NAME["ttft_ms"]),
        quantile_entry(ttft, 0.9, BY_NAME["ttft_ms"]),
        quantile_entry(latency, 0.5, BY_NAME["latency_ms"]),
        quantile_entry(latency, 0.9, BY_NAME["latency_ms"]),
        _number(point.degradation, "{:.2f} x"),
        flight,
        limits,
        window,
        client_entry(point.client, run.manifest.calibration),
        Entry("; ".join(notes)),
    ]


def coding_table(run: EndpointRun, *, by_task: bool) -> Table | None:
    """What agents did at each target: over all tasks, or task by task; None without coding."""
    rows = [
        _coding_row(run, each, by_task) for each in run.summary.coding if (each.case is not None) == by_task
    ]
    if not rows:
        return None
    columns = [Column("Mapping"), *([Column("Task")] if by_task else [])]
    columns += [
        Column("Solved", "number", "hidden tests passed; 95 % interval by Wilson"),
        Column("Cost per solved", "number", "USD; the money for the unsolved is part of it"),
        Column("Cost per attempt", "number", "USD"),
        Column("Turns", "number", "mean; interval by Student's t"),
        Column("Tool calls", "number", "mean; interval by Student's t"),
        Column("Invalid calls", "number", "of all tool calls"),
        Column("No progress", "number", "calls repeated with nothing changed in between, of all"),
        Column("Ran the tests itself", "number", "of the tasks attempted"),
        Column("Wall clock", "number", "mean; interval by Student's t"),
        Column("Tokens", "number", "of a task, mean; interval by Student's t"),
        Column("TTFT of the first turn, p50", "number"),
        Column("Why it stopped", wide=True),
    ]
    what = "Coding by task" if by_task else "Coding"
    return table(f"{what}, cost by price table, run {run.run_id}", columns, rows)


def _coding_row(run: EndpointRun, each: CodingSummary, by_task: bool) -> list[Entry]:
    target = run.targets[each.target]
    titles = {case.identifier: case.title for case in run.manifest.cases}
    task = [Entry(titles.get(each.case or "", each.case or ""), note=each.case or "")] if by_task else []
    return [
        Entry(run.label(each.target)),
        *task,
        rate_entry(each.solved),
        dollars_entry(each.money.per_solved_usd, each.money, target, of=f"{each.money.solved:,} solved"),
        dollars_entry(each.money.per_attempt_usd, each.money, target, of=f"{each.money.attempts:,} attempts"),
        mean_entry(each.turns, COUNT),
        mean_entry(each.tool_calls, COUNT),
        rate_entry(each.invalid_calls),
        rate_entry(each.no_progress_calls),
        rate_entry(each.self_verified),
        mean_entry(each.wall_seconds, SECONDS),
        mean_entry(each.total_tokens, COUNT),
        quantile_entry(each.first_turn_ttft_ms, 0.5, BY_NAME["ttft_ms"]),
        Entry(tally(dict(each.stop_reasons)), note=_graded(each)),
    ]


def _graded(each: CodingSummary) -> str:
    graded = each.graded
    return "" if graded.count == graded.of else f"graded {graded.count:,} of {graded.of:,}"


def knee_words(curve: LoadCurve) -> list[str]:
    """What the curve says of saturation, knee and goodput, one sentence each."""
    unit = curve.points[0].unit if curve.points else ""
    said = ["Closed loop: the next request is sent when one has ended, so waiting clients do not pile up."]
    if not curve.closed_loop:
        said = ["Open loop: requests are sent at planned times, and times count from these."]
    knee = curve.knee
    if knee is not None and knee.level is not None:
        sure = (
            "" if knee.share_found is None else f", found in {words.percent(knee.share_found)} of resamples"
        )
        span = (
            "" if knee.low is None or knee.high is None else f" (95 %: {knee.low:g} to {knee.high:g}{sure})"
        )
        said.append(f"Knee at {knee.level:g} {unit}{span}: {knee.rule}.")
    elif knee is not None and knee.missing_reason:
        said.append(f"No knee: {knee.missing_reason}.")
    if curve.saturation_level is not None:
        said.append(
            f"Saturated from {curve.saturation_level:g} {unit} on: twice the latency of the lowest level, or "
            "fewer than 95 % good ends."
        )
    goodput = curve.goodput
    if goodput is not None:
        wanted = words.percent(goodput.wanted_share)
        if goodput.best_level is not None:
            said.append(
                f"Highest level at which {wanted} of the requests keep the limits: {goodput.best_level:g}."
            )
        elif goodput.missing_reason:
            said.append(f"No level keeps the limits for {wanted} of the requests: {goodput.missing_reason}.")
        said += [
            f"{stage}: {outcome(verdict)}{f', as {why}' if (why := goodput.undecided.get(stage)) else ''}."
            for stage, verdict in goodput.verdicts.items()
        ]
    return [sentence for sentence in said if sentence]


def _number(value: float | None, text: str, note: str = "") -> Entry:
    return (
        Entry("not known", None, note=note, unknown=True)
        if value is None
        else Entry(text.format(value), value, note=note)
    )
