"""Arranging: how many processes share the streams of a load, by what calibration showed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.endpoint.calibration import CalibrationLevel
from runner.records.bench_manifest import BenchManifest, CalibrationRow, LoadStage

OPEN_LOOP_STREAMS = 32
"""Streams that an open loop is calibrated at: how many it comes to is up to the endpoint."""
MOST_STREAMS = 512


@dataclass(frozen=True)
class Levels:
    """Streams at once that a run may have, as far as they are known before it.

    Args:
        plain: of trials outside of load stages, which one process always asks.
        load: of load stages.
    """

    plain: tuple[int, ...]
    load: tuple[int, ...] = ()


def levels_of(manifest: BenchManifest) -> Levels:
    """The levels of a plan. One stream is always among them: it shows the floor of every figure."""
    plain = {1}
    if any(each.stage is None for each in manifest.planned):
        plain.add(manifest.settings.concurrency)
    load = {streams for stage in manifest.stages for streams in _streams(stage)}
    return Levels(*(tuple(sorted({min(each, MOST_STREAMS) for each in found})) for found in (plain, load)))


def streams_of(stage: LoadStage) -> int:
    """Streams at once of one stage, as far as they are known before it."""
    return int(stage.level) if stage.closed_loop else OPEN_LOOP_STREAMS


def _streams(stage: LoadStage) -> Iterator[int]:
    if stage.closed_loop and stage.levels:
        yield from (int(level) for level in stage.levels)
    else:
        yield streams_of(stage)


def processors() -> int:
    """Processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def single_up_to(levels: Sequence[CalibrationLevel]) -> int:
    """The highest level at which one process keeps up; 0 where it does at none."""
    return max((level.streams for level in levels if level.workers == 1 and level.keeps_up), default=0)


def numbers_to_try(streams: int, most: int) -> tuple[int, ...]:
    """Numbers of processes from two on, doubling up to ``most``; none has less than one stream."""
    most = min(streams, most)
    found = []
    number = 2
    while number < most:
        found.append(number)
        number *= 2
    return (*found, most) if most > 1 else ()


def best(levels: Sequence[CalibrationLevel]) -> CalibrationLevel:
    """The arrangement to use of those measured at one level: the fewest processes that keep up.

    Where none does it is the one with the smallest bias at p99, or the fewest where that is not known.
    """
    ordered = sorted(levels, key=lambda level: level.workers)
    keeping = next((level for level in ordered if level.keeps_up), None)
    if keeping is not None:
        return keeping
    known = [(abs(level.ttft_bias.p99), level) for level in ordered if level.ttft_bias.p99 is not None]
    return min(known, key=lambda each: each[0])[1] if known else ordered[0]


def workers_at(manifest: BenchManifest, streams: int) -> int:
    """Processes that share ``streams`` of a load stage of this run."""
    forced, calibration = manifest.settings.workers, manifest.calibration
    if forced is not None:
        return max(1, min(forced, streams))
    rows = () if calibration is None else calibration.levels
    if not rows:
        return 1
    enough = [row for row in rows if row.streams >= streams]
    nearest = min(enough, key=_nearest) if enough else max(rows, key=lambda row: (row.streams, row.workers))
    return max(1, min(nearest.workers, streams))


def _nearest(row: CalibrationRow) -> tuple[int, int]:
    """Where one level is measured twice, one process is for the trials outside of load stages."""
    return row.streams, -row.workers
