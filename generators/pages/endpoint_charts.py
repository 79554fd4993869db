"""Endpoint charts: medians with intervals, distributions, capability, load curves and history of mappings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

from generators.charts import RadarSeries, radar_chart
from generators.charts.chart import Chart
from generators.charts.lines import Line, LinesPlan, lines_chart
from generators.charts.ranges import Range, ranges_chart
from generators.charts.series import MAX_SERIES
from generators.pages import links
from generators.pages.charting import Drawn, drawn
from generators.pages.endpoint_words import BY_NAME, Measure
from generators.pages.endpoint_work_tables import knee_words, load_table
from generators.pages.table import Table
from generators.tables.endpoint_runs import EndpointRun
from runner.records.bench_figures import Distribution
from runner.records.bench_summary import LoadCurve, LoadPoint, TargetSummary

DISTRIBUTIONS = ("ttft_ms", "first_visible_ms", "tpot_ms", "latency_ms", "output_tps")
MEDIANS = ("ttft_ms", "latency_ms", "output_tps")
SHARES = tuple(float(share) for share in range(0, 101, 5))
LEAST_AXES = 3
LEAST_VALUES = 5
"""A figure of fewer is no mark on a chart: one odd answer would set the scale."""
UNITS = {"ms": "milliseconds", "speed": "tokens per second", "share": "share", "plain": "number"}
_APART = re.compile(r"[^a-z0-9.-]+")
Read = Callable[[LoadPoint], float | None]
Each = TypeVar("Each")


def slug(*parts: str) -> str:
    """A chart's slug of any words."""
    return "-".join(_APART.sub("-", part.lower()).strip("-.") or "x" for part in parts)


def median_charts(run: EndpointRun, page: str, prefix: str) -> list[Drawn]:
    """Medians of all mappings with their intervals."""
    found = []
    for name in MEDIANS:
        measure = BY_NAME[name]
        ranges = [
            Range(run.label(target.target), quantile.value, quantile.low, quantile.high, measured.tally.used)
            for target in run.summary.targets
            if (measured := target.measures.get(name)) is not None
            and measured.tally.used >= LEAST_VALUES
            and (quantile := measured.quantile(0.5)) is not None
            and quantile.value is not None
        ]
        if ranges:
            chart = ranges_chart(
                ranges,
                slug=slug(prefix, "endpoint", run.model, run.run_id, "median", name),
                title=f"{measure.title}, median",
                scope=_scope(run),
                unit=UNITS[measure.kind],
                counted="requests",
                caption=f"Mappings with fewer than {LEAST_VALUES} values stand in the table only.",
            )
            found.append(drawn(chart, page))
    return found


def distribution_charts(run: EndpointRun, page: str, prefix: str) -> list[Drawn]:
    """Quantile curves: what share of the requests a mapping answered within what time."""
    found = []
    for name in DISTRIBUTIONS:
        measured = [(t, t.measures[name]) for t in run.summary.targets if name in t.measures]
        known = [(t, each) for t, each in measured if each.curve and each.tally.used >= LEAST_VALUES]
        for number, group in enumerate(_groups(known)):
            chart = _distribution(run, BY_NAME[name], group, slug(prefix, "d", str(number)))
            found.append(drawn(chart, page))
    return found


def _distribution(
    run: EndpointRun, measure: Measure, group: Sequence[tuple[TargetSummary, Distribution]], mark: str
) -> Chart:
    lines = tuple(
        Line(
            f"{run.label(target.target)} ({each.tally.used} of {each.tally.attempted})",
            tuple(at_share(each.curve, share) for share in SHARES),
        )
        for target, each in group
    )
    return lines_chart(
        LinesPlan(SHARES, lines, across="Share of answered requests, %", up=UNITS[measure.kind]),
        slug=slug("endpoint", run.model, run.run_id, measure.name, mark),
        title=f"{measure.title}: at most this much, for that share of requests",
        scope=_scope(run),
        caption="The sorted sample itself, without intervals; the table of the run has these. "
        f"Mappings with fewer than {LEAST_VALUES} values stand there only.",
    )


def at_share(curve: Sequence[float], percent: float) -> float:
    """The value that ``percent`` of the sorted sample do not exceed, by nearest rank."""
    return curve[max(ceil(len(curve) * percent / 100 - 1e-9), 1) - 1]


def capability_chart(run: EndpointRun, page: str, run_page: str, prefix: str) -> Drawn | None:
    """Share right by dimension; None with fewer than three dimensions or more than four mappings."""
    found = {(each.name, each.target): each.score for each in run.summary.slices if each.by == "dimension"}
    names = tuple(sorted({name for name, _ in found}))
    targets = [target.target for target in run.summary.targets]
    if len(names) < LEAST_AXES or len(targets) > MAX_SERIES:
        return None
    series = []
    for target in targets:
        rates = [score.over_attempted if (score := found.get((name, target))) else None for name in names]
        series.append(
            RadarSeries(
                label=run.label(target),
                href=links.relative(page, run_page),
                values=tuple(
                    None if each is None or each.rate is None else 100 * each.rate for each in rates
                ),
                n_scored=sum(each.of for each in rates if each),
                n_planned=sum(each.of for each in rates if each),
            )
        )
    chart = radar_chart(
        series,
        axes=names,
        maximum=100,
        slug=slug(prefix, "endpoint", run.model, run.run_id, "capability"),
        title="Right answers of all asked, percent by dimension",
        scope=_scope(run),
    )
    return drawn(chart, page)


@dataclass(frozen=True)
class CurveSection:
    """One load curve on a page: heading, sentences, drawings and table."""

    title: str
    said: list[str]
    drawn: list[Drawn]
    table: Table


def curve_sections(run: EndpointRun, page: str, prefix: str) -> list[CurveSection]:
    """Every load curve of a run that has points."""
    return [
        CurveSection(
            f"{curve.group}: {run.label(curve.target)}",
            knee_words(curve),
            load_charts(run, curve, page, prefix),
            load_table(run, curve),
        )
        for curve in run.summary.load
        if curve.points
    ]


def load_charts(run: EndpointRun, curve: LoadCurve, page: str, prefix: str) -> list[Drawn]:
    """Throughput and times against the level; the knee is marked."""
    plans: tuple[tuple[str, str, str, tuple[tuple[str, Read], ...]], ...] = (
        (
            "requests",
            "Requests that ended well",
            "requests per second",
            (
                ("requests", lambda p: p.requests_per_second),
                ("within limits", lambda p: p.goodput_per_second),
            ),
        ),
        (
            "tokens",
            "Output tokens of all requests together",
            "tokens per second",
            (("output tokens", lambda p: p.output_tokens_per_second),),
        ),
        (
            "ttft",
            "Time to the first token",
            "milliseconds",
            (("p50", lambda p: _at(p, "ttft_ms", 0.5)), ("p90", lambda p: _at(p, "ttft_ms", 0.9))),
        ),
        (
            "latency",
            "Time to the last token",
            "milliseconds",
            (("p50", lambda p: _at(p, "latency_ms", 0.5)), ("p90", lambda p: _at(p, "latency_ms", 0.9))),
        ),
    )
    marked = ((curve.knee.level, "knee"),) if curve.knee is not None and curve.knee.level is not None else ()
    found = []
    for name, title, up, lines in plans:
        shown = tuple(
            Line(label, tuple(read(point) for point in curve.points))
            for label, read in lines
            if any(read(point) is not None for point in curve.points)
        )
        if not shown:
            continue
        levels = tuple(point.level for point in curve.points)
        chart = lines_chart(
            LinesPlan(levels, shown, across=curve.points[0].unit.capitalize(), up=up, marked=marked),
            slug=slug(prefix, "endpoint", run.model, run.run_id, curve.target, curve.group, name),
            title=f"{title}, {run.label(curve.target)}",
            scope=f"{curve.shape}, {_scope(run)}",
        )
        found.append(drawn(chart, page))
    return found


def history_charts(runs: Sequence[EndpointRun], page: str, prefix: str) -> list[Drawn]:
    """Medians of each mapping from run to run of one profile; empty where no profile was repeated."""
    by_profile: dict[str, list[EndpointRun]] = defaultdict(list)
    for run in runs:
        by_profile[run.profile].append(run)
    return [
        drawn(chart, page)
        for profile, repeated in sorted(by_profile.items())
        if len(repeated) > 1
        for name in MEDIANS
        for chart in _history(repeated, profile, name, prefix)
    ]


def _history(runs: Sequence[EndpointRun], profile: str, name: str, prefix: str) -> Iterator[Chart]:
    measure = BY_NAME[name]
    labels = list(dict.fromkeys(label for run in runs for label in run.labels.values()))
    lines = [Line(label, tuple(_median(run, label, name) for run in runs)) for label in labels]
    known = [line for line in lines if any(value is not None for value in line.values)]
    for number, group in enumerate(_groups(known)):
        plan = LinesPlan(
            tuple(float(place) for place in range(1, len(runs) + 1)),
            tuple(group),
            across="Run",
            up=UNITS[measure.kind],
            names=tuple(_run_name(run, runs) for run in runs),
        )
        yield lines_chart(
            plan,
            slug=slug(prefix, "endpoint", runs[0].model, "history", profile, name, str(number)),
            title=f"{measure.title}, median of each run of the profile {profile}",
            scope=f"{runs[0].model}, from the oldest run to the newest",
            caption="Runs of other profiles ask other things, and are not on this chart; nor are medians of "
            f"fewer than {LEAST_VALUES} values.",
        )


def _run_name(run: EndpointRun, runs: Sequence[EndpointRun]) -> str:
    day = run.manifest.created_at.date()
    same = [each for each in runs if each.manifest.created_at.date() == day]
    return day.isoformat() if len(same) == 1 else f"{run.manifest.created_at:%m-%d %H:%M}"


def _median(run: EndpointRun, label: str, name: str) -> float | None:
    target = next((each for each in run.summary.targets if run.label(each.target) == label), None)
    measured = None if target is None else target.measures.get(name)
    enough = measured is not None and measured.tally.used >= LEAST_VALUES
    quantile = measured.quantile(0.5) if measured is not None and enough else None
    return None if quantile is None else quantile.value


def _at(point: LoadPoint, name: str, q: float) -> float | None:
    measured = point.measures.get(name)
    quantile = None if measured is None else measured.quantile(q)
    return None if quantile is None else quantile.value


def _scope(run: EndpointRun) -> str:
    return f"{run.model}, run {run.run_id} of {run.manifest.created_at.date().isoformat()}"


def _groups(every: Sequence[Each]) -> Iterator[Sequence[Each]]:
    for start in range(0, len(every), MAX_SERIES):
        yield every[start : start + MAX_SERIES]
