"""Proof: a sweep of a server whose service times are known, held against what they must come to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console

from runner.engine.measurement import machine
from runner.engine.places import Places
from runner.engine.running import EXIT_BELOW_THRESHOLD, EXIT_DONE
from runner.engine.sweeps.command import sweep_command
from runner.engine.sweeps.flags import sweep_form
from runner.errors import EndpointError
from runner.records import Level, SessionShape
from runner.replay import STAND_IN, ReplayServer, ServiceTimes
from runner.replay.service import BLOCK_TOKENS
from runner.serving.closed_loop import ServerSpeed, Truth, run_loop, truth_of
from runner.serving.synthetic import STAGGER_SECONDS
from runner.serving.talks import ratio, talks

SERVICE = ServiceTimes(
    capacity=4,
    prefill_seconds_per_token=0.004,
    output_seconds_per_token=0.05,
    kv_cache_tokens=10_000_000,
)
SHAPE = SessionShape(shared_tokens=600, first_tokens=300, added_tokens=200, output_tokens=12, turns=12)
LEVELS = (1, 2, 4, 6, 10)
"""Below, at and above the server's places."""
WINDOW_SECONDS = 120.0
INTERVAL_SECONDS = 0.5
SEED = 7
AIM = 0.02
FIGURES: Mapping[str, str] = {
    "prompt_tokens_per_second": "prompt tok/s",
    "output_tokens_per_second": "output tok/s",
    "requests_per_second": "requests/s",
    "ttft_ms_mean": "TTFT ms",
    "queue_ms_mean": "queue ms",
    "prefill_ms_mean": "prefill ms",
    "tpot_ms_mean": "TPOT ms",
    "e2e_ms_mean": "e2e ms",
    "prefix_cache_hit_rate": "hit rate",
}
SLIGHT_MS = 20.0
"""An error of a mean time that is below this is none: a machine needs some milliseconds for a request."""


@dataclass(frozen=True)
class Comparison:
    """One figure of one level: what was injected comes to, and what was measured."""

    concurrency: int
    figure: str
    injected: float
    measured: float | None

    @property
    def error(self) -> float | None:
        """Measured over injected, less one; None where nothing was to be measured or nothing was."""
        return None if self.measured is None or not self.injected else self.measured / self.injected - 1

    @property
    def within_aim(self) -> bool:
        """Whether the error is at most 2 %, or the times differ by a few milliseconds only."""
        if self.measured is None:
            return False
        slight = self.figure.endswith("_ms_mean") and abs(self.measured - self.injected) < SLIGHT_MS
        return slight or (self.error is not None and abs(self.error) <= AIM)


@dataclass(frozen=True)
class SweepProof:
    """All comparisons of a sweep."""

    comparisons: Sequence[Comparison]
    seconds: float
    machine: str

    @property
    def within_aim(self) -> bool:
        """Whether all are."""
        return all(each.within_aim for each in self.comparisons)

    def lines(self) -> Iterator[str]:
        """The table, and what it comes to."""
        levels = sorted({each.concurrency for each in self.comparisons})
        yield (
            f"{len(levels)} levels of {self.seconds:g} s; a server with {SERVICE.capacity} places, "
            f"{SERVICE.prefill_seconds_per_token * 1000:g} ms per fresh input token, "
            f"{SERVICE.output_seconds_per_token * 1000:g} ms per output token; "
            f"talks of {ratio(SHAPE):.0f} input tokens to one of output"
        )
        yield f"{'sessions':>8}  {'figure':<13}{'injected':>12}{'measured':>12}{'error':>9}"
        for each in self.comparisons:
            measured = "unknown" if each.measured is None else f"{each.measured:,.3f}"
            error = "-" if each.error is None else f"{each.error:+.2%}"
            mark = "" if each.within_aim else "  beyond the aim"
            name = FIGURES[each.figure]
            yield f"{each.concurrency:>8}  {name:<13}{each.injected:>12,.3f}{measured:>12}{error:>9}{mark}"
        worst = max((abs(each.error) for each in self.comparisons if each.error is not None), default=0.0)
        yield f"largest relative error: {worst:.2%} (aim: at most {AIM:.0%}, or {SLIGHT_MS:g} ms of a time)"
        yield f"machine: {self.machine}"


def prove_sweep(
    datasets: Path,
    say: Callable[[str], None],
    *,
    machine: str,
    levels: Sequence[int] = LEVELS,
    seconds: float = WINDOW_SECONDS,
) -> SweepProof:
    """Sweep a replay server with injected service times, with the very command that users give.

    Args:
        datasets: the project's; its price list and recorded turns are used.
        say: gets the lines of the sweep.
        machine: what it runs on, in words.
        levels: concurrent sessions.
        seconds: length of each level.

    Raises:
        EndpointError: the sweep did not end with a record.
    """
    with tempfile.TemporaryDirectory(prefix="harnessmark-sweep-") as folder:
        places = Places(Path(folder))
        places.datasets.symlink_to(datasets)
        with ReplayServer(places.cassettes, service=SERVICE) as server:
            given = sweep_form(
                None,
                endpoint=f"{server.base_url}/v1",
                model=STAND_IN,
                levels=",".join(map(str, levels)),
                window_seconds=str(seconds),
                interval_seconds=str(INTERVAL_SECONDS),
                seed=str(SEED),
            )
            given |= {name: str(value) for name, value in SHAPE.model_dump().items()}
            code = sweep_command(places, _console(say), environment=os.environ, given=given)
        records = [*places.store(demonstration=True, private=False).sweeps()]
    if code or not records:
        raise EndpointError(f"the sweep ended with exit code {code} and {len(records)} records")
    return SweepProof([each for level in records[0].levels for each in compared(level)], seconds, machine)


def compared(level: Level) -> Iterator[Comparison]:
    """Each figure of a measured level beside the truth of its own window."""
    truth = injected(level.concurrency, level.window_seconds or 0.0)
    for name in FIGURES:
        expected = getattr(truth, name)
        if expected is not None:
            yield Comparison(level.concurrency, name, expected, getattr(level, name))


def injected(concurrency: int, seconds: float) -> Truth:
    """What the injected service times come to at a level of so many seconds."""
    speed = ServerSpeed(
        SERVICE.capacity, SERVICE.prefill_seconds_per_token, SERVICE.output_seconds_per_token, BLOCK_TOKENS
    )
    requests = run_loop(
        talks(SHAPE, SEED, str(concurrency)),
        speed,
        slots=concurrency,
        until=seconds,
        think_seconds=SHAPE.think_seconds,
        stagger_seconds=STAGGER_SECONDS,
    )
    return truth_of(requests, speed, seconds)


def _console(say: Callable[[str], None]) -> Console:
    """A console whose lines go to ``say``."""

    class Lines(StringIO):
        """Text of which each line that is not empty is said."""

        def write(self, text: str) -> int:
            """Say the lines of ``text``."""
            for line in text.splitlines():
                if line.strip():
                    say(line)
            return len(text)

    return Console(file=Lines(), width=140)


def serving_command(datasets: Path, say: Callable[[str], None]) -> int:
    """Prove the sweep and show the figures; 2 where one is beyond the aim. Takes about eleven minutes."""
    proof = prove_sweep(datasets, say, machine=machine())
    for line in proof.lines():
        say(line)
    return EXIT_DONE if proof.within_aim else EXIT_BELOW_THRESHOLD
