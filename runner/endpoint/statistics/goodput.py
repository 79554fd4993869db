"""Goodput: what keeps the latency limits, and the highest level at which enough of it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner.endpoint.result import Outcome
from runner.endpoint.statistics.intervals import wilson
from runner.records.bench_summary import GoodputSearch, LoadPoint
from runner.records.bench_trial import BenchRequest

GOOD_SHARE = 0.95
LEAST_TO_KEEP = 20
"""Requests that must all keep the limits where a sample is too small for the interval to say so."""
HIGHER_IS_BETTER = frozenset({"output_tps", "visible_tps", "e2e_tps", "prefill_tps", "tokens_per_chunk"})
GOOD_ENDS = frozenset({Outcome.OK.value, Outcome.LENGTH.value})
Limits = Mapping[str, float]
"""By name of a figure of a request: the most it may be, or for speeds the least."""


def is_good(request: BenchRequest) -> bool:
    """Whether a request came to a good end."""
    return request.outcome in GOOD_ENDS


def keeps(timing: Mapping[str, object], limits: Limits) -> bool:
    """Whether all figures that are limited were measured and are within their limits."""
    for name, limit in limits.items():
        value = timing.get(name)
        if not isinstance(value, int | float):
            return False
        if value < limit if name in HIGHER_IS_BETTER else value > limit:
            return False
    return True


def verdict_of(good: int, of: int, wanted: float) -> str:
    """Whether at least ``wanted`` of the requests keep the limits, by Wilson's interval.

    ``kept`` where the interval is above it, or where all of at least 20 kept them, which is as much as a
    sample of that size can say; ``missed`` where it is below; else ``undecided``, which a search counts as
    missed.
    """
    interval = wilson(good, of)
    if interval is None:
        return "undecided"
    if interval[0] >= wanted or good == of >= LEAST_TO_KEEP:
        return "kept"
    return "missed" if interval[1] < wanted else "undecided"


def goodput_search(points: Sequence[LoadPoint], wanted: float = GOOD_SHARE) -> GoodputSearch:
    """What the probes of a search come to."""
    verdicts = {
        point.stage: verdict_of(point.within_limits.count, point.within_limits.of, wanted)
        for point in points
        if point.within_limits is not None
    }
    kept = [point.level for point in points if verdicts.get(point.stage) == "kept"]
    failing = [point.level for point in points if verdicts.get(point.stage, "kept") != "kept"]
    best = max(kept, default=None)
    return GoodputSearch(
        wanted_share=wanted,
        best_level=best,
        failing_level=min((level for level in failing if best is None or level > best), default=None),
        verdicts=verdicts,
        missing_reason=None if best is not None else "no level keeps the limits",
    )
