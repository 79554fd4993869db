"""Knee: where more load stops to bring more throughput, with an interval from resampled slices of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner.records.bench_summary import Knee

SHARE_OF_PEAK = 0.9
RESAMPLES = 1000
LEAST_LEVELS = 3
RULE = "the lowest level with at least 90 % of the highest throughput that was measured"
STILL_RISING = "throughput still rises at the highest level: the knee is above it"


def knee_index(throughput: Sequence[float]) -> int | None:
    """Index of the first level with at least 90 % of the highest throughput; None where that is the last."""
    highest = max(throughput, default=0.0)
    if highest <= 0:
        return None
    found = next(index for index, each in enumerate(throughput) if each >= SHARE_OF_PEAK * highest)
    return None if found == len(throughput) - 1 else found


def knee(slices: Mapping[float, Sequence[float]], seed: int) -> Knee:
    """The knee of a curve.

    Args:
        slices: by level, good ends per second in equal slices of its steady window. Their mean is the
            throughput; resampling them says how sure the knee is, as ends close in time hang together.
    """
    levels = sorted(level for level, each in slices.items() if each)
    if len(levels) < LEAST_LEVELS:
        return Knee(rule=RULE, missing_reason=f"fewer than {LEAST_LEVELS} levels were held", seed=seed)
    import numpy

    found = knee_index([float(numpy.mean(slices[level])) for level in levels])
    generator = numpy.random.default_rng(seed)
    means = numpy.column_stack(
        [
            numpy.asarray(slices[level], dtype=float)[
                generator.integers(0, len(slices[level]), (RESAMPLES, len(slices[level])))
            ].mean(axis=1)
            for level in levels
        ]
    )
    knees = [index for row in means if (index := knee_index(row.tolist())) is not None]
    share = len(knees) / RESAMPLES
    if found is None:
        return Knee(rule=RULE, share_found=share, missing_reason=STILL_RISING, seed=seed)
    low, high = numpy.quantile(knees, (0.025, 0.975), method="nearest") if knees else (found, found)
    return Knee(
        level=levels[found],
        low=levels[int(low)],
        high=levels[int(high)],
        share_found=share,
        rule=RULE,
        seed=seed,
    )
