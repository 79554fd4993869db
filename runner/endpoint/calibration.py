"""Calibration: how wrong this client is on this machine, against a server whose delays are known."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

from runner.endpoint.client import Transport
from runner.endpoint.load import Batch, Played, Session
from runner.endpoint.loops import LoopName, event_loop_named
from runner.endpoint.metronome.beat import Beat, Truth
from runner.endpoint.metronome.process import Metronome
from runner.endpoint.request import AskRequest, Message, Protocol
from runner.endpoint.result import Outcome, StreamResult
from runner.endpoint.timing import NS_PER_MS, Ms, nearest_rank, ttft
from runner.endpoint.workers import play_in_workers
from runner.errors import EndpointError
from runner.records.base import Count, Moment, Part

LIMITS: tuple[tuple[int, float, float], ...] = ((100, 0.5, 2.0), (256, 1.0, 5.0), (512, 5.0, 15.0))
"""Streams up to which a bias of the TTFT at p50 and p99 may be at most so many milliseconds."""
TLS_FACTOR = 2.0
SHARE_OF_TTFT = 0.01
LAG_LIMIT_MS = 15.0
"""A loop that was ever later than this does not keep up, whatever its bias is."""
START_SECONDS = 0.3


class Spread(Part):
    """A sample by nearest ranks; all None where it is empty."""

    count: Count
    p50: Ms | None = None
    p99: Ms | None = None
    largest: Ms | None = None


class CalibrationLevel(Part):
    """The client at one number of streams."""

    streams: Count
    transport: str
    tls: bool
    workers: Count
    requests: Count
    failed: Count
    """Requests that did not come to a good end; they are in no other figure."""
    ttft_bias: Spread
    """TTFT as measured less the true one: from the server's read of the request to its first write."""
    arrival_lag: Spread
    """From the server's write of the first chunk to the client's stamp; both on one clock."""
    gap_error: Spread
    """Each gap between chunks as measured less the true one, without its sign."""
    largest_loop_lag_ms: Ms | None
    chunks_per_second: float | None
    cpu_us_per_chunk: float | None

    def load_kept(self, beat: Beat) -> float | None:
        """Chunks per second over what so many streams without a pause would have had.

        Streams begin over the time of one answer, which the ideal is shortened by: with ``r`` requests per
        stream it has ``r`` answers in the time of nearly ``r + 1``.
        """
        if self.chunks_per_second is None or not self.requests:
            return None
        rounds = self.requests / self.streams
        return (
            self.chunks_per_second
            * beat.seconds
            / (self.streams * beat.chunks)
            * (rounds + 1 - 1 / self.streams)
            / rounds
        )

    @property
    def limit(self) -> tuple[float, float]:
        """What the bias may be at p50 and p99, in ms."""
        factor = TLS_FACTOR if self.tls else 1.0
        p50, p99 = next((limit[1:] for limit in LIMITS if self.streams <= limit[0]), LIMITS[-1][1:])
        return p50 * factor, p99 * factor

    @property
    def within(self) -> bool | None:
        """Whether the bias is within its limit; None where nothing was measured."""
        if self.ttft_bias.p50 is None or self.ttft_bias.p99 is None:
            return None
        p50, p99 = self.limit
        return abs(self.ttft_bias.p50) <= p50 and abs(self.ttft_bias.p99) <= p99

    @property
    def keeps_up(self) -> bool:
        """Whether nothing speaks against so many streams in so many processes: neither bias nor lag."""
        return self.within is True and (self.largest_loop_lag_ms or 0.0) <= LAG_LIMIT_MS


class Calibration(Part):
    """All levels, and what they were measured on."""

    measured_at: Moment
    first_ms: Ms
    gap_ms: Ms
    chunks: Count
    event_loop: str
    python: str
    processors: Count
    load_average: float | None
    """Of the last minute, at the end: other programs make every client look worse."""
    levels: tuple[CalibrationLevel, ...]

    @property
    def floor_ms(self) -> float | None:
        """The TTFT bias at p50 of the lowest level: what is in every figure, however little is in flight."""
        lowest = min(self.levels, key=lambda level: level.streams, default=None)
        return None if lowest is None else lowest.ttft_bias.p50

    def level(self, streams: int) -> CalibrationLevel | None:
        """The lowest level with at least ``streams``: what is known of a load of that size."""
        enough = [level for level in self.levels if level.streams >= streams]
        return min(enough, key=lambda level: level.streams, default=None)

    def flags(self, streams: int, ttft_ms: float | None, loop_lag_ms: float | None) -> tuple[str, ...]:
        """Why a run at ``streams`` with this median TTFT and largest loop lag is not to be trusted; or none.

        A bias or lag of more than 1 % of the TTFT is told, and a bias above the limits of the level.
        """
        level = self.level(streams)
        found: list[str] = []
        if level is None:
            found.append(f"the client was not calibrated at {streams} streams")
        elif level.within is not True:
            shown, limit = level.ttft_bias, level.limit
            found.append(
                f"the client's TTFT bias at {level.streams} streams is {_shown(shown.p50)} / "
                f"{_shown(shown.p99)} ms at p50 / p99, above {limit[0]:g} / {limit[1]:g} ms"
            )
        bias = None if level is None else level.ttft_bias.p50
        if ttft_ms is not None:
            for what, value in (("TTFT bias at p50", bias), ("largest loop lag", loop_lag_ms)):
                if value is not None and abs(value) > ttft_ms * SHARE_OF_TTFT:
                    found.append(f"the client's {what} of {value:.1f} ms is above 1 % of the TTFT")
        return tuple(found)


def calibrate(
    streams: Sequence[int],
    *,
    beat: Beat = Beat(),  # noqa: B008 - a frozen value
    rounds: int = 3,
    transport: Transport = "asyncio",
    tls: bool = False,
    workers: int = 1,
    loop: LoopName = "asyncio",
    read_at_once: bool = False,
) -> Calibration:
    """Measure the client at each number of ``streams``, with ``rounds`` requests per stream.

    Args:
        workers: processes that share the streams.
        read_at_once: whether answers are read while others are in flight, as a benchmark does.

    Raises:
        ConfigurationError: TLS or uvloop are wanted and cannot be had.
        EndpointError: the server did not start, or a worker died.
    """
    levels = []
    for count in streams:
        with Metronome(beat, tls=tls) as metronome:
            batch = replace(_batch(metronome, count, rounds, transport), read_at_once=read_at_once)
            played = play_in_workers(batch, workers, loop)
            levels.append(level_of(count, played, metronome.log(), transport=transport, tls=tls))
    return Calibration(
        measured_at=datetime.now(UTC),
        first_ms=beat.first_ms,
        gap_ms=beat.gap_ms,
        chunks=beat.chunks,
        event_loop=event_loop_named(loop),
        python=platform.python_version(),
        processors=os.cpu_count() or 1,
        load_average=load_average(),
        levels=tuple(levels),
    )


def load_average() -> float | None:
    """Processes that ran or waited to run, over the last minute; None where the system does not tell."""
    try:
        return round(os.getloadavg()[0], 2)
    except (OSError, AttributeError):
        return None


def level_of(
    streams: int, played: Played, log: Sequence[Truth], *, transport: str, tls: bool
) -> CalibrationLevel:
    """Results beside what the server noted of the same requests.

    Raises:
        EndpointError: the server noted no request of a result that came to a good end.
    """
    good = [result for result in played.results if result.outcome is Outcome.OK]
    truths = {truth.identifier: truth for truth in log}
    biases: list[float] = []
    lags: list[float] = []
    errors: list[float] = []
    for result in good:
        truth = truths.get(result.request_id or "")
        if truth is None:
            raise EndpointError("the metronome noted no such request", where=str(result.request_id))
        measured, first = ttft(result), result.milestones.first_any
        if measured is not None and first is not None:
            biases.append(measured - truth.ttft_ms)
            lags.append((first - truth.sends_ns[0]) / NS_PER_MS)
        errors += gap_errors(result, truth)
    chunks = sum(len(result.fragments) for result in good)
    return CalibrationLevel(
        streams=streams,
        transport=transport,
        tls=tls,
        workers=played.workers,
        requests=len(played.results),
        failed=len(played.results) - len(good),
        ttft_bias=spread(biases),
        arrival_lag=spread(lags),
        gap_error=spread(errors),
        largest_loop_lag_ms=played.largest_lag_ms,
        chunks_per_second=_rate(good, chunks),
        cpu_us_per_chunk=played.cpu_seconds / chunks * 1e6 if chunks else None,
    )


def gap_errors(result: StreamResult, truth: Truth) -> list[float]:
    """``|measured gap - true gap|`` in ms for each pair of chunks that follow each other.

    Empty where chunks are missing: then no gap of the one belongs to one of the other.
    """
    stamps = [fragment.at_ns for fragment in result.fragments]
    sends = truth.sends_ns[: len(stamps)]
    if len(sends) != len(stamps):
        return []
    return [
        abs((after - before) - (sent_after - sent_before)) / NS_PER_MS
        for (before, after), (sent_before, sent_after) in zip(pairwise(stamps), pairwise(sends), strict=True)
    ]


def spread(values: Sequence[float]) -> Spread:
    """The sample's nearest ranks."""
    ordered = sorted(values)
    if not ordered:
        return Spread(count=0)
    return Spread(
        count=len(ordered),
        p50=nearest_rank(ordered, 0.5),
        p99=nearest_rank(ordered, 0.99),
        largest=ordered[-1],
    )


def _batch(metronome: Metronome, streams: int, rounds: int, transport: Transport) -> Batch:
    """Streams that begin evenly over the time one answer takes, so that no instant has them all."""
    beat = metronome.beat
    lasts_ns = int((beat.first_ms + beat.gap_ms * beat.chunks) * NS_PER_MS)
    begin = time.perf_counter_ns() + int(START_SECONDS * 1e9)
    sessions = [
        Session(
            tuple(_question(f"{stream}-{number}") for number in range(rounds)),
            begin + lasts_ns * stream // streams,
        )
        for stream in range(streams)
    ]
    return Batch(metronome.address, tuple(sessions), transport)


def _question(identifier: str) -> AskRequest:
    return AskRequest(
        protocol=Protocol.CHAT_COMPLETIONS,
        model="metronome",
        messages=(Message(role="user", content="beat"),),
        headers={"x-metronome-id": identifier},
    )


def _rate(results: Sequence[StreamResult], chunks: int) -> float | None:
    firsts = [result.milestones.sent for result in results if result.milestones.sent is not None]
    lasts = [result.milestones.last_any for result in results if result.milestones.last_any is not None]
    if not firsts or not lasts or max(lasts) <= min(firsts):
        return None
    return chunks / ((max(lasts) - min(firsts)) / 1e9)


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f}"
