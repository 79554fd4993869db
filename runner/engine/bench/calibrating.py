"""Calibrating: the client's own error at the concurrencies of a run, measured just before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner.endpoint.calibration import Calibration, calibrate
from runner.endpoint.client import Transport
from runner.endpoint.metronome.beat import Beat
from runner.errors import ConfigurationError, EndpointError
from runner.records.bench_manifest import BenchCalibration, BenchManifest, CalibrationRow

SHORT = Beat(first_ms=100.0, gap_ms=20.0, chunks=20)
ROUNDS = 3
OPEN_LOOP_STREAMS = 32
MOST_STREAMS = 512


def levels_of(manifest: BenchManifest) -> tuple[int, ...]:
    """Streams at once that the run may have, as far as they are known before it."""
    found = {manifest.settings.concurrency} if any(e.stage is None for e in manifest.planned) else set()
    for stage in manifest.stages:
        if stage.closed_loop:
            found |= {int(level) for level in (stage.levels or (stage.level,))}
        else:
            found.add(OPEN_LOOP_STREAMS)
    return tuple(sorted(min(level, MOST_STREAMS) for level in found))


def calibrated(
    levels: Sequence[int], transport: Transport, *, tls: bool, note: Callable[[str], None]
) -> tuple[BenchCalibration | None, str | None]:
    """The calibration, or why there is none."""
    note(f"calibrating the client at {', '.join(map(str, levels))} streams against the built-in server")
    try:
        found = calibrate(levels, beat=SHORT, rounds=ROUNDS, transport=transport, tls=tls)
    except (ConfigurationError, EndpointError) as error:
        return None, error.what
    return calibration_record(found), None


def calibration_record(found: Calibration) -> BenchCalibration:
    """What a manifest keeps of a calibration."""
    return BenchCalibration(
        measured_at=found.measured_at,
        first_ms=found.first_ms,
        gap_ms=found.gap_ms,
        chunks=found.chunks,
        event_loop=found.event_loop,
        load_average=found.load_average,
        levels=tuple(
            CalibrationRow(
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
            for level in found.levels
        ),
    )


def calibration_lines(found: BenchCalibration) -> list[str]:
    """A calibration in words, one line per level."""
    lines = [
        f"first token after {found.first_ms:g} ms, then {found.chunks} chunks every {found.gap_ms:g} ms; "
        f"event loop {found.event_loop}"
    ]
    return lines + [_line(row) for row in found.levels]


def _line(row: CalibrationRow) -> str:
    return (
        f"{row.streams:>4} streams: TTFT bias {_shown(row.bias_p50_ms)} / {_shown(row.bias_p99_ms)} ms at "
        f"p50 / p99 (limit {row.limit_p50_ms:g} / {row.limit_p99_ms:g}), gap error "
        f"{_shown(row.gap_error_p99_ms)} ms at p99, largest loop lag {_shown(row.loop_lag_ms)} ms, "
        f"{'within' if row.within else 'ABOVE'} its limits"
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
