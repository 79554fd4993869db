"""Trust: the client's own error beside what it measured, and why figures are not to be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runner.records.bench_manifest import BenchCalibration, BenchManifest, CalibrationRow
from runner.records.bench_summary import ClientError
from runner.records.bench_trial import BenchRequest
from runner.records.nouns import counted

SHARE_OF_TTFT = 0.01


def row_of(calibration: BenchCalibration | None, streams: int, workers: int) -> CalibrationRow | None:
    """The lowest calibrated level with at least ``streams`` in so many processes."""
    levels = () if calibration is None else calibration.levels
    enough = [row for row in levels if row.streams >= streams and row.workers == workers]
    return min(enough, key=lambda row: row.streams, default=None)


def client_error(
    calibration: BenchCalibration | None, streams: int, workers: int, requests: Sequence[BenchRequest]
) -> ClientError:
    """What is known of the client where it had ``streams`` in ``workers`` processes."""
    row = row_of(calibration, streams, workers)
    lags = [request.loop_lag_ms for request in requests if request.loop_lag_ms is not None]
    return ClientError(
        workers=workers,
        streams=None if row is None else row.streams,
        bias_p50_ms=None if row is None else row.bias_p50_ms,
        bias_p99_ms=None if row is None else row.bias_p99_ms,
        loop_lag_ms=max(lags, default=None),
    )


def time_flags(
    calibration: BenchCalibration | None, streams: int, client: ClientError, ttft: float | None
) -> Iterator[str]:
    """Why times are not to be trusted: nothing is known of the client, or it is off by 1 % of the TTFT."""
    if calibration is not None and client.streams is None:
        where = "" if client.workers == 1 else f" in {counted(client.workers, 'process', 'processes')}"
        yield f"the client was not calibrated at {counted(streams, 'stream')}{where}"
    if ttft is not None:
        for what, value in (
            ("TTFT bias at p50", client.bias_p50_ms),
            ("largest loop lag", client.loop_lag_ms),
        ):
            if value is not None and abs(value) > ttft * SHARE_OF_TTFT:
                yield f"the client's {what} of {value:.1f} ms is above 1 % of the median TTFT"


def run_flags(manifest: BenchManifest) -> Iterable[str]:
    """What speaks against all figures of a run: no calibration, or one above its limits; changed code."""
    calibration = manifest.calibration
    if calibration is None:
        yield f"the client was not calibrated: {manifest.calibration_missing or 'no reason given'}"
    for level in () if calibration is None else calibration.levels:
        if level.within is not True:
            yield (
                f"the client's TTFT bias at {counted(level.streams, 'stream')} is {_ms(level.bias_p50_ms)} / "
                f"{_ms(level.bias_p99_ms)} ms at p50 / p99, above {level.limit_p50_ms:g} / "
                f"{level.limit_p99_ms:g} ms"
            )
    if manifest.tool.git_dirty:
        yield "the code that measured had changes that are in no commit"


def _ms(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f}"
