"""Pairing: targets compared on the very same instances, with a bootstrap over these."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from runner.endpoint.statistics.outcomes import is_answered
from runner.endpoint.statistics.scores import has_passed, of_one_kind, was_attempted
from runner.records.bench_figures import PairedDifference
from runner.records.bench_trial import BenchTrial

RESAMPLES = 2000
LEAST_PAIRS = 5
"""Fewer pairs give no interval: a resample of four cannot say anything at 95 %."""
COMPARED = ("ttft_ms", "ttfo_ms", "latency_ms", "tpot_ms", "output_tps", "gap_p95_ms")
Value = Callable[[BenchTrial], "float | None"]
Pair = tuple[str, str]
"""Case and slot: what makes two trials of different targets one pair."""
Instance = tuple[str, int]
"""Case and seed: what repeats of one question have in common."""


def comparisons(
    reference: str, by_target: Mapping[str, Sequence[BenchTrial]], seed: int
) -> tuple[PairedDifference, ...]:
    """Every other target against ``reference``: the score, and each time that both have.

    The score is over one kind of case. Repeats of an instance are one value, their mean: they hang together,
    and counted apart they would make an interval narrower than what is known.
    """
    found = []
    for target, trials in by_target.items():
        if target == reference:
            continue
        base = by_target[reference]
        names = (reference, target)
        scored = (of_one_kind(base), of_one_kind(trials))
        found.append(_difference("score", _passes, *scored, names, seed, statistics.fmean))
        found += [
            _difference(name, _figure(name), base, trials, names, seed, statistics.median)
            for name in COMPARED
        ]
        found.append(_difference("cost_usd", _cost, base, trials, names, seed, statistics.fmean))
    return tuple(found)


def bootstrap(
    differences: Sequence[float], middle: Callable[[Sequence[float]], float], seed: int
) -> tuple[float, float] | None:
    """The middle 95 % of the statistic over resamples of the pairs; None where that says nothing.

    It says nothing with fewer than 5 pairs, and where all differences are the same: every resample is then
    the sample itself, and the interval a point however few they are.
    """
    if len(differences) < LEAST_PAIRS or len(set(differences)) == 1:
        return None
    import numpy

    values = numpy.asarray(differences, dtype=float)
    drawn = numpy.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    resampled = values[drawn]
    found = numpy.median(resampled, axis=1) if middle is statistics.median else resampled.mean(axis=1)
    low, high = numpy.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def _difference(
    metric: str,
    value: Value,
    base: Iterable[BenchTrial],
    other: Iterable[BenchTrial],
    names: tuple[str, str],
    seed: int,
    middle: Callable[[Sequence[float]], float],
) -> PairedDifference:
    ours, theirs = _values(base, value), _values(other, value)
    both = ours.keys() & theirs.keys()
    unpaired = len(ours.keys() ^ theirs.keys())
    left, right = _by_instance(ours, both), _by_instance(theirs, both)
    common = sorted(left.keys() & right.keys())
    if not common:
        return PairedDifference(
            metric=metric, reference=names[0], target=names[1], pairs=0, unpaired=unpaired, seed=seed
        )
    differences = [right[pair] - left[pair] for pair in common]
    interval = bootstrap(differences, middle, seed)
    return PairedDifference(
        metric=metric,
        reference=names[0],
        target=names[1],
        pairs=len(common),
        unpaired=unpaired,
        reference_value=middle([left[pair] for pair in common]),
        target_value=middle([right[pair] for pair in common]),
        difference=middle(differences),
        low=None if interval is None else interval[0],
        high=None if interval is None else interval[1],
        resamples=0 if interval is None else RESAMPLES,
        seed=seed,
        verdict=_verdict(interval, differences),
    )


def _verdict(interval: tuple[float, float] | None, differences: Sequence[float]) -> str:
    if interval is None:
        return "no difference shown" if not any(differences) else "unknown"
    if interval[0] > 0:
        return "higher"
    return "lower" if interval[1] < 0 else "no difference shown"


def _values(trials: Iterable[BenchTrial], value: Value) -> dict[Pair, tuple[int, float]]:
    """Seed and value of each trial that has one."""
    found = {}
    for trial in trials:
        number = value(trial) if was_attempted(trial) and not trial.warm_up else None
        if number is not None:
            found[(trial.case, trial.slot)] = (trial.seed, number)
    return found


def _by_instance(values: Mapping[Pair, tuple[int, float]], pairs: Iterable[Pair]) -> dict[Instance, float]:
    """The mean over the repeats of each instance."""
    groups: dict[Instance, list[float]] = defaultdict(list)
    for case, slot in pairs:
        seed, number = values[(case, slot)]
        groups[(case, seed)].append(number)
    return {instance: statistics.fmean(numbers) for instance, numbers in groups.items()}


def _passes(trial: BenchTrial) -> float | None:
    return float(has_passed(trial))


def _cost(trial: BenchTrial) -> float | None:
    return trial.cost_usd


def _figure(name: str) -> Value:
    """The figure of a trial's first request, where that was answered."""

    def value(trial: BenchTrial) -> float | None:
        """The figure of one trial; None where its first request was not answered."""
        if not trial.requests or not is_answered(trial.requests[0]):
            return None
        found = getattr(trial.requests[0].timing, name)
        return None if found is None else float(found)

    return value
