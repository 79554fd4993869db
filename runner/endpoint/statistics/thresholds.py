"""Thresholds: conditions under which a run counts as failed, such as ``ttft_p90_ms>800``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner.costs.yaml_faults import nearest
from runner.endpoint.statistics.distribution import MEASURES
from runner.errors import UsageError
from runner.records.bench_figures import RateFigure
from runner.records.bench_summary import BenchSummary, CodingSummary, TargetSummary, ThresholdResult

_FORM = re.compile(r"\s*(?P<metric>[a-z0-9_]+)\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>-?\d+(?:\.\d+)?)\s*")
_PERCENTILE = re.compile(r"(?P<stem>.+)_p(?P<percent>50|90|95|99)(?P<unit>_ms|_tps)?")
RATES = (
    "answered",
    "succeeded",
    "rate_limited",
    "timed_out",
    "truncated",
    "incomplete",
    "malformed",
    "broken_stream",
    "refused",
    "http_error",
    "empty",
    "buffered",
    "usage_missing",
)
OTHERS = (
    "score",
    "score_answered",
    "consistency",
    "brier",
    "cost_usd",
    "cost_per_solved_usd",
    "solve_rate",
)


@dataclass(frozen=True)
class Threshold:
    """A condition that fails a run."""

    text: str
    metric: str
    sign: str
    limit: float

    def holds(self, value: float) -> bool:
        """Whether ``value`` is what the condition says, so that the run has failed."""
        if self.sign == ">":
            return value > self.limit
        if self.sign == "<":
            return value < self.limit
        return value >= self.limit if self.sign == ">=" else value <= self.limit


def known_metrics() -> tuple[str, ...]:
    """Every name that a condition may use."""
    timed = [_with_percentile(name, percent) for name in MEASURES for percent in (50, 90, 95, 99)]
    return (*OTHERS, *(f"{name}_rate" for name in RATES), *timed)


def parse_thresholds(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """The conditions in ``texts``; several in one are set apart by commas.

    Raises:
        UsageError: one that cannot be read, or a figure that does not exist.
    """
    found, known = [], known_metrics()
    for text in (part.strip() for each in texts for part in each.split(",")):
        if not text:
            continue
        match = _FORM.fullmatch(text)
        if match is None:
            raise UsageError(f"{text!r} is no condition", remedy="write it as in ttft_p90_ms>800")
        if match["metric"] not in known:
            raise UsageError(
                f"there is no figure {match['metric']!r}{nearest(match['metric'], known)}",
                remedy="known: score, succeeded_rate, ttft_p90_ms, latency_p50_ms, cost_usd, solve_rate, ...",
            )
        found.append(Threshold(text, match["metric"], match["sign"], float(match["limit"])))
    return tuple(found)


def judged(summary: BenchSummary, thresholds: Sequence[Threshold]) -> tuple[ThresholdResult, ...]:
    """Each condition for each target. A figure that is not known decides nothing, and says so."""
    coding = {each.target: each for each in summary.coding if each.case is None}
    results = []
    for threshold in thresholds:
        for target in summary.targets:
            value = value_of(threshold.metric, target, coding.get(target.target))
            results.append(
                ThresholdResult(
                    text=threshold.text,
                    target=target.target,
                    metric=threshold.metric,
                    value=value,
                    failed=None if value is None else threshold.holds(value),
                    missing_reason="not measured, or too few values" if value is None else None,
                )
            )
    return tuple(results)


def value_of(metric: str, target: TargetSummary, coding: CodingSummary | None) -> float | None:
    """The figure called ``metric`` of a target."""
    if metric.endswith("_rate") and metric.removesuffix("_rate") in RATES:
        figure = getattr(target.reliability, metric.removesuffix("_rate"))
        return figure.rate if isinstance(figure, RateFigure) else None
    percentile = _PERCENTILE.fullmatch(metric)
    if percentile is not None:
        name = percentile["stem"] + (percentile["unit"] or "")
        measured = target.measures.get(name)
        found = None if measured is None else measured.quantile(int(percentile["percent"]) / 100)
        return None if found is None else found.value
    score = target.score
    values = {
        "score": None if score is None else score.over_attempted.rate,
        "score_answered": None if score is None else score.over_answered.rate,
        "consistency": None if score is None else score.consistency,
        "brier": None if score is None else score.brier,
        "cost_usd": target.money.total_usd,
        "cost_per_solved_usd": target.money.per_solved_usd,
        "solve_rate": None if coding is None else coding.solved.rate,
    }
    return values.get(metric)


def _with_percentile(name: str, percent: int) -> str:
    for unit in ("_ms", "_tps"):
        if name.endswith(unit):
            return f"{name.removesuffix(unit)}_p{percent}{unit}"
    return f"{name}_p{percent}"
