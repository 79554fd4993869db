"""Endpoint load: what load does to the mappings of one run, on common charts and in one table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.charts.lines import Line, LinesPlan, lines_chart
from generators.charts.series import MAX_SERIES
from generators.pages.charting import Drawn, drawn
from generators.pages.endpoint_charts import slug
from generators.pages.endpoint_entries import NOT_MEASURED, quantile_entry
from generators.pages.endpoint_words import BY_NAME
from generators.pages.table import Column, Entry, Table, table
from generators.tables.endpoint_runs import EndpointRun
from runner.records.bench_summary import LoadCurve, LoadPoint

Read = Callable[[LoadPoint], float | None]
NO_KNEE = Entry("no knee", unknown=True)


@dataclass(frozen=True)
class LoadBeside:
    """The mappings of one load shape beside each other."""

    title: str
    drawn: list[Drawn]
    table: Table


def beside_each_other(run: EndpointRun, page: str, prefix: str) -> list[LoadBeside]:
    """Every load shape that was played against several mappings."""
    groups: dict[str, list[LoadCurve]] = defaultdict(list)
    for curve in run.summary.load:
        if curve.points:
            groups[curve.group].append(curve)
    return [
        LoadBeside(f"{group}: all mappings", _charts(run, curves, page, prefix), knee_table(run, curves))
        for group, curves in groups.items()
        if len(curves) > 1
    ]


def _charts(run: EndpointRun, curves: Sequence[LoadCurve], page: str, prefix: str) -> list[Drawn]:
    """A line for each mapping; none where there are more mappings than kinds of lines."""
    if len(curves) > MAX_SERIES:
        return []
    levels = tuple(sorted({point.level for curve in curves for point in curve.points}))
    unit = curves[0].points[0].unit
    figures: tuple[tuple[str, str, str, Read], ...] = (
        ("requests", "Requests that ended well", "requests per second", lambda p: p.requests_per_second),
        ("ttft", "Time to the first token, p50", "milliseconds", lambda p: _median(p, "ttft_ms")),
        ("latency", "Time to the last token, p50", "milliseconds", lambda p: _median(p, "latency_ms")),
    )
    found = []
    for name, title, up, read in figures:
        lines = []
        for curve in curves:
            values = {point.level: read(point) for point in curve.points}
            lines.append(Line(run.label(curve.target), tuple(values.get(level) for level in levels)))
        chart = lines_chart(
            LinesPlan(levels, tuple(lines), across=unit.capitalize(), up=up),
            slug=slug(prefix, "endpoint", run.model, run.run_id, "beside", curves[0].group, name),
            title=f"{title}, by mapping",
            scope=f"{curves[0].shape}, {run.model}, run {run.run_id}",
        )
        found.append(drawn(chart, page))
    return found


def knee_table(run: EndpointRun, curves: Sequence[LoadCurve]) -> Table:
    """The knee of every mapping, and what it bears there."""
    rows = [_row(run, curve) for curve in curves]
    columns = [
        Column("Mapping"),
        Column(
            "Knee", "number", "lowest level with nearly the highest throughput; the middle 95 % of resamples"
        ),
        Column("Requests a second there", "number", "that ended well"),
        Column("Output tokens a second there", "number", "of all requests together"),
        Column("TTFT p50 there", "number", "95 % interval from order statistics"),
        Column("TTFT p50 at the lowest level", "number", "95 % interval from order statistics"),
        Column("Most requests a second", "number", "at any level that was measured"),
        Column("Saturated from", "number", "twice the latency of the lowest level, or under 95 % good ends"),
    ]
    return table(f"Knees of {curves[0].group}, run {run.run_id}", columns, rows)


def _row(run: EndpointRun, curve: LoadCurve) -> list[Entry]:
    knee = curve.knee
    at_knee = None
    shown = Entry("not found", note=(knee.missing_reason or "") if knee else "", unknown=True)
    if knee is not None and knee.level is not None:
        span = "" if knee.low is None or knee.high is None else f"{knee.low:g} to {knee.high:g}"
        shown = Entry(f"{knee.level:g}", knee.level, note=span)
        at_knee = next((point for point in curve.points if point.level == knee.level), None)
    best = max(curve.points, key=lambda point: point.requests_per_second or 0.0)
    saturated = Entry("not reached", unknown=True)
    if curve.saturation_level is not None:
        saturated = Entry(f"{curve.saturation_level:g}", curve.saturation_level)
    ttft = BY_NAME["ttft_ms"]
    return [
        Entry(run.label(curve.target)),
        shown,
        NO_KNEE if at_knee is None else _number(at_knee.requests_per_second),
        NO_KNEE if at_knee is None else _number(at_knee.output_tokens_per_second),
        NO_KNEE if at_knee is None else quantile_entry(at_knee.measures.get("ttft_ms"), 0.5, ttft),
        quantile_entry(curve.points[0].measures.get("ttft_ms"), 0.5, ttft),
        _number(best.requests_per_second, f"at {best.level:g}"),
        saturated,
    ]


def _number(value: float | None, note: str = "") -> Entry:
    return NOT_MEASURED if value is None else Entry(f"{value:,.2f}", value, note=note)


def _median(point: LoadPoint, name: str) -> float | None:
    measured = point.measures.get(name)
    quantile = None if measured is None else measured.quantile(0.5)
    return None if quantile is None else quantile.value
