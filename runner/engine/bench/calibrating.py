"""Calibrating: the client's own error at the concurrencies of a run, measured just before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from runner.endpoint.calibration import Calibration, CalibrationLevel, calibrate
from runner.endpoint.client import Transport
from runner.endpoint.loops import LoopName, event_loop_named
from runner.endpoint.metronome.beat import Beat
from runner.engine.bench.arranging import Levels, best, numbers_to_try, processors, single_up_to
from runner.errors import ConfigurationError, EndpointError
from runner.records.bench_manifest import BenchCalibration, CalibrationRow
from runner.records.nouns import counted

SHORT = Beat(first_ms=100.0, gap_ms=20.0, chunks=20)
ROUNDS = 3
Note = Callable[[str], None]
Measure = Callable[[Sequence[int], int], Calibration]
"""From numbers of streams and a number of processes to what was measured."""


def calibrated(
    levels: Levels,
    transport: Transport,
    *,
    tls: bool,
    note: Note,
    workers: int | None = None,
    loop: str = "asyncio",
    measure: Measure | None = None,
) -> tuple[BenchCalibration | None, str | None]:
    """The calibration of the arrangement that the run uses, or why there is none.

    Args:
        workers: processes for each load stage; None: one up to the highest level at which it keeps up, and
            above that as few as keep up.
        loop: event loop of the run.
        measure: what measures, where it is not this machine's client against the built-in server.
    """
    take = measure or partial(_measured, transport=transport, tls=tls, loop=event_loop_named(loop))
    try:
        return _arranged(levels, workers, take, note), None
    except (ConfigurationError, EndpointError) as error:
        return None, error.what


def _measured(
    streams: Sequence[int], workers: int, *, transport: Transport, tls: bool, loop: LoopName
) -> Calibration:
    return calibrate(
        streams,
        beat=SHORT,
        rounds=ROUNDS,
        transport=transport,
        tls=tls,
        workers=workers,
        loop=loop,
        read_at_once=True,
    )


def _arranged(levels: Levels, workers: int | None, take: Measure, note: Note) -> BenchCalibration:
    single = sorted({*levels.plain, *(() if workers not in {None, 1} else levels.load)})
    note(f"calibrating the client at {_listed(single)} against the built-in server")
    found = take(single, 1)
    used, others = list(found.levels), list[CalibrationLevel]()
    above = single_up_to(found.levels)
    for streams in levels.load:
        mine = [level for level in found.levels if level.streams == streams]
        if workers is None and streams > above:
            for number in numbers_to_try(streams, processors()):
                mine += _shared(streams, number, take, note)
                if mine[-1].keeps_up:
                    break
        elif workers is not None and min(workers, streams) > 1:
            mine = _shared(streams, min(workers, streams), take, note)
        chosen = best(mine)
        used.append(chosen)
        others += [level for level in mine if level is not chosen and level.streams not in levels.plain]
    unused = {(level.streams, level.workers) for level in others}
    rows = {(level.streams, level.workers): level for level in used}
    ordered = [rows[key] for key in sorted(rows.keys() - unused)]
    complete = found.model_copy(update={"levels": tuple(ordered)})
    return calibration_record(complete, others)


def _shared(streams: int, number: int, take: Measure, note: Note) -> list[CalibrationLevel]:
    note(f"calibrating the client at {_listed([streams])} in {counted(number, 'process', 'processes')}")
    return list(take([streams], number).levels)


def _listed(streams: Sequence[int]) -> str:
    return f"{', '.join(map(str, streams))} {'stream' if list(streams) == [1] else 'streams'}"


def calibration_record(found: Calibration, others: Sequence[CalibrationLevel] = ()) -> BenchCalibration:
    """What a manifest keeps of a calibration; ``others`` were measured and are not used."""
    return BenchCalibration(
        measured_at=found.measured_at,
        first_ms=found.first_ms,
        gap_ms=found.gap_ms,
        chunks=found.chunks,
        event_loop=found.event_loop,
        load_average=found.load_average,
        floor_ms=_rounded(found.floor_ms),
        levels=tuple(map(_row, found.levels)),
        not_used=tuple(map(_row, others)),
    )


def _row(level: CalibrationLevel) -> CalibrationRow:
    return CalibrationRow(
        streams=level.streams,
        transport=level.transport,
        workers=level.workers,
        requests=level.requests,
        failed=level.failed,
        bias_p50_ms=_rounded(level.ttft_bias.p50),
        bias_p99_ms=_rounded(level.ttft_bias.p99),
        limit_p50_ms=level.limit[0],
        limit_p99_ms=level.limit[1],
        within=level.within,
        gap_error_p50_ms=_rounded(level.gap_error.p50),
        gap_error_p99_ms=_rounded(level.gap_error.p99),
        loop_lag_ms=_rounded(level.largest_loop_lag_ms),
        cpu_us_per_chunk=_rounded(level.cpu_us_per_chunk),
    )


def calibration_lines(found: BenchCalibration) -> list[str]:
    """A calibration in words, one line per level."""
    lines = [
        f"first token after {found.first_ms:g} ms, then {found.chunks} chunks every {found.gap_ms:g} ms; "
        f"event loop {found.event_loop}; floor {_shown(found.floor_ms)} ms"
    ]
    return lines + [_line(row) for row in found.levels]


def shared(row: CalibrationRow) -> str:
    """In how many processes, where there are several."""
    return "" if row.workers == 1 else f" in {counted(row.workers, 'process', 'processes')}"


def _line(row: CalibrationRow) -> str:
    streams = f"{row.streams:>4} {'stream' if row.streams == 1 else 'streams'}{shared(row)}"
    return (
        f"{streams}: TTFT bias {_shown(row.bias_p50_ms)} / {_shown(row.bias_p99_ms)} ms at "
        f"p50 / p99 (limit {row.limit_p50_ms:g} / {row.limit_p99_ms:g}), gap error "
        f"{_shown(row.gap_error_p99_ms)} ms at p99, largest loop lag {_shown(row.loop_lag_ms)} ms, "
        f"{'within' if row.within else 'ABOVE'} its limits"
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
