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
MORE = "ask for more with --load-requests"
STEPS = (20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240)
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


def why_undecided(good: int, of: int, wanted: float) -> str:
    """Why so many requests in the steady window say neither, and what to do about it."""
    if not of:
        return f"no request is in the steady window; {MORE}"
    if good == of:
        return (
            f"{'the one request' if of == 1 else f'all {of} requests'} of the steady window "
            f"{'keeps' if of == 1 else 'keep'} the limits, and {LEAST_TO_KEEP} are needed to say so; {MORE}"
        )
    needed = next((n for n in STEPS if verdict_of(round(good / of * n), n, wanted) != "undecided"), None)
    about = "no number that can be paid would" if needed is None else f"about {needed:,} would"
    return (
        f"{good} of {of} requests of the steady window keep the limits, too few to tell whether "
        f"{100 * wanted:g} % do ({about}); {MORE}"
    )


def goodput_search(points: Sequence[LoadPoint], wanted: float = GOOD_SHARE) -> GoodputSearch:
    """What the probes of a search come to."""
    verdicts = {
        point.stage: verdict_of(point.within_limits.count, point.within_limits.of, wanted)
        for point in points
        if point.within_limits is not None
    }
    undecided = {
        point.stage: why_undecided(point.within_limits.count, point.within_limits.of, wanted)
        for point in points
        if point.within_limits is not None and verdicts[point.stage] == "undecided"
    }
    kept = [point.level for point in points if verdicts.get(point.stage) == "kept"]
    failing = [point.level for point in points if verdicts.get(point.stage, "kept") != "kept"]
    best = max(kept, default=None)
    return GoodputSearch(
        wanted_share=wanted,
        best_level=best,
        failing_level=min((level for level in failing if best is None or level > best), default=None),
        verdicts=verdicts,
        undecided=undecided,
        missing_reason=None if best is not None else _none_kept(verdicts),
    )


def _none_kept(verdicts: Mapping[str, str]) -> str:
    if not verdicts:
        return "no level was measured"
    if "undecided" in verdicts.values():
        return "no level is known to keep the limits: some are undecided"
    return "no level keeps the limits"
