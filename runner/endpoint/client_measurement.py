"""Client measurement: how exact the client is beside other load generators, on one server, in one run."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.endpoint.calibration import CalibrationLevel, calibrate, load_average, spread
from runner.endpoint.client import Transport
from runner.endpoint.loops import LoopName, event_loop_named
from runner.endpoint.metronome.beat import Beat, Truth
from runner.endpoint.metronome.process import Metronome
from runner.endpoint.peers import PEERS, Peer, installed, run_peer
from runner.errors import EndpointError, UsageError

STREAMS = (1, 32, 100, 256, 512)
HTTPX_UP_TO = 100
"""Above, httpx says the same for a longer time."""
WORKERS_FROM = 100
"""Below, one process has time enough."""
BELOW_AIM = 2
HEADER = (
    f"{'client':22} {'streams':>7} {'bias p50':>9} {'bias p99':>9} {'gap p50':>8} {'gap p99':>8} "
    f"{'chunks/s':>9} {'load kept':>9} {'us/chunk':>8}  aim"
)


@dataclass(frozen=True)
class Row:
    """One client at one number of streams. Milliseconds; None where it was not measured."""

    client: str
    streams: int
    bias_p50: float | None = None
    bias_p99: float | None = None
    gap_p50: float | None = None
    gap_p99: float | None = None
    chunks_per_second: float | None = None
    load_kept: float | None = None
    """Share of the chunks that so many streams without a pause would have had in that time."""
    cpu_us_per_chunk: float | None = None
    aim: tuple[float, float] | None = None
    note: str = ""

    @property
    def within(self) -> bool | None:
        """Whether both biases are within the aim; None where there is none or nothing was measured."""
        if self.aim is None or self.bias_p50 is None or self.bias_p99 is None:
            return None
        return abs(self.bias_p50) <= self.aim[0] and abs(self.bias_p99) <= self.aim[1]

    def line(self) -> str:
        """The row of the table."""
        aim = "" if self.aim is None else f"{self.aim[0]:g} / {self.aim[1]:g}"
        verdict = {True: " met", False: " missed", None: ""}[self.within]
        kept = None if self.load_kept is None else self.load_kept * 100
        return (
            f"{self.client:22} {self.streams:7} "
            f"{_number(self.bias_p50, 9, 2)} {_number(self.bias_p99, 9, 2)} "
            f"{_number(self.gap_p50, 8, 2)} {_number(self.gap_p99, 8, 2)} "
            f"{_number(self.chunks_per_second, 9, 0)} {_number(kept, 8, 0)}% "
            f"{_number(self.cpu_us_per_chunk, 8, 0)}  {aim}{verdict}{self.note and '  ' + self.note}"
        )


def client_command(
    say: Callable[[str], None],
    *,
    streams: str = "",
    rounds: int = 4,
    workers: int = 2,
    peers: str = "",
    event_loop: str = "asyncio",
    beat: Beat = Beat(),  # noqa: B008 - a frozen value
) -> int:
    """Measure and show a row as soon as it is there; 2 where the client misses its aim.

    Args:
        say: gets every line.
        streams: numbers with commas; empty for those of the aim.
        rounds: requests per stream, one after the other.
        workers: processes that share the streams of a further row, from 100 streams on; 1: no such row.
        peers: folder whose environments ``guidellm`` and ``aiperf`` hold those programs.
        event_loop: what the client runs on.
        beat: what the server sends and when.

    Raises:
        ConfigurationError: the event loop is not installed.
        UsageError: ``streams``, ``peers`` or ``event_loop`` cannot be understood.
    """
    loop = event_loop_named(event_loop)
    levels = numbers_in(streams) if streams else STREAMS
    others = _others(peers)
    say(
        f"first chunk after {beat.first_ms:g} ms, then every {beat.gap_ms:g} ms, {beat.chunks} chunks; "
        f"{rounds} requests per stream; event loop {loop}; Python {platform.python_version()}; "
        f"load average {load_average()}"
    )
    say("bias: measured TTFT less the server's own; gap: error of the time between two chunks; ms")
    say(HEADER)
    missed = False
    for count in levels:
        for row in rows(count, rounds=rounds, workers=workers, beat=beat, loop=loop):
            say(row.line())
            missed = missed or row.within is False
        for peer, program in others:
            say(peer_row(peer, program, count, rounds=rounds, beat=beat).line())
    say(
        f"load average at the end: {load_average()}; other work on this machine makes every row worse "
        "(chrt -f 5 in front of the command keeps it away, where that is allowed)"
    )
    return BELOW_AIM if missed else 0


def rows(streams: int, *, rounds: int, workers: int, beat: Beat, loop: LoopName = "asyncio") -> list[Row]:
    """This client at ``streams``: plain, over TLS, in several processes, over httpx."""
    kinds: list[tuple[str, Transport, bool, int]] = [
        ("ours", "asyncio", False, 1),
        ("ours, TLS", "asyncio", True, 1),
    ]
    if workers > 1 and streams >= WORKERS_FROM:
        kinds.append((f"ours, {workers} processes", "asyncio", False, workers))
    if streams <= HTTPX_UP_TO:
        kinds.append(("httpx transport", "httpx", False, 1))
    made = []
    for name, transport, tls, processes in kinds:
        found = calibrate(
            [streams], beat=beat, rounds=rounds, transport=transport, tls=tls, workers=processes, loop=loop
        )
        made.append(row_of(name, found.levels[0], beat))
    return made


def row_of(name: str, level: CalibrationLevel, beat: Beat) -> Row:
    """A level of a calibration as a row; httpx has no aim."""
    return Row(
        client=name,
        streams=level.streams,
        bias_p50=level.ttft_bias.p50,
        bias_p99=level.ttft_bias.p99,
        gap_p50=level.gap_error.p50,
        gap_p99=level.gap_error.p99,
        chunks_per_second=level.chunks_per_second,
        load_kept=level.load_kept(beat),
        cpu_us_per_chunk=level.cpu_us_per_chunk,
        aim=level.limit if level.transport == "asyncio" else None,
        note=f"{level.failed} of {level.requests} failed" if level.failed else "",
    )


def peer_row(peer: Peer, program: Path, streams: int, *, rounds: int, beat: Beat) -> Row:
    """Another load generator on the same server.

    It does not say which of its requests is which of the server's. So its bias is the distance between the
    same percentiles of both: of the TTFTs that it reports, and of the true ones.
    """
    with Metronome(beat) as metronome:
        try:
            seen = run_peer(peer, program, metronome.address.base_url, streams, streams * rounds)
        except EndpointError as error:
            return Row(peer.name, streams, note=error.what)
        log = [truth for truth in metronome.log() if len(truth.sends_ns) > beat.chunks]
    return _compared(peer.name, streams, seen.ttfts_ms, log, seen.cpu_seconds, beat)


def _compared(
    name: str, streams: int, ttfts_ms: Sequence[float], log: Sequence[Truth], cpu_seconds: float, beat: Beat
) -> Row:
    told, true = spread(ttfts_ms), spread([truth.ttft_ms for truth in log])
    if told.p50 is None or told.p99 is None or true.p50 is None or true.p99 is None:
        return Row(name, streams, note="no request came to its end")
    begin = min(truth.received_ns for truth in log)
    seconds = (max(truth.sends_ns[-1] for truth in log) - begin) / 1e9
    chunks = len(log) * beat.chunks
    return Row(
        client=name,
        streams=streams,
        bias_p50=told.p50 - true.p50,
        bias_p99=told.p99 - true.p99,
        chunks_per_second=chunks / seconds,
        load_kept=len(log) * beat.seconds / (streams * seconds),
        cpu_us_per_chunk=cpu_seconds / chunks * 1e6,
        note=f"{told.count} TTFTs of {len(log)} requests",
    )


def numbers_in(text: str) -> tuple[int, ...]:
    """The numbers of streams in ``text``.

    Raises:
        UsageError: it holds anything else, or a number beyond 1 to 4096.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= 4096 for part in parts):
        raise UsageError(
            f"{text!r} is no list of streams", remedy="write numbers with commas, as in 1,100,512"
        )
    return tuple(int(part) for part in parts)


def _others(peers: str) -> list[tuple[Peer, Path]]:
    if not peers:
        return []
    found = [(peer, program) for peer in PEERS if (program := installed(peer, Path(peers))) is not None]
    if not found:
        raise UsageError(
            "none of the programs to compare with is there",
            where=peers,
            remedy="; ".join(peer.recipe(Path(peers)) for peer in PEERS),
        )
    return found


def _number(value: float | None, width: int, digits: int) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:{width}.{digits}f}"
