"""Truth: what the built-in server injected and when it sent, against what a run made of it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.endpoint.result import Outcome
from runner.endpoint.statistics.intervals import nearest_rank
from runner.engine.bench.command import BenchCall, bench_command
from runner.engine.bench.options import BenchOptions
from runner.engine.places import Places
from runner.errors import EndpointError, UsageError
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_trial import BenchRequest, BenchTrial
from runner.store.bench_run import BenchRun, find_runs, newest

MODEL = "replay-truth"
PROFILES = ("smoke", "standard", "load", "coding")
CLASSES = (
    ("e429", Outcome.RATE_LIMITED),
    ("malformed", Outcome.PARSE_ERROR),
    ("cut", Outcome.STREAM_ERROR),
    ("noend", Outcome.INCOMPLETE),
    ("limit", Outcome.LENGTH),
)
"""From a fault to the class that it must be given, the first that holds."""
SERVER_MS = (2.0, 10.0)
"""What the server's own threads may add at p50 and p99: it is a threaded server and no metronome."""
NO_USAGE = "nousage"


@dataclass(frozen=True)
class Compared:
    """One profile.

    Args:
        wrong: requests that were classed or counted in another way than was injected, in words.
        biases: TTFT as measured less what the server noted, in ms, in rising order.
        unexplained: the same less the lag that the client noted of itself during the request.
        allowed: largest bias at p50 and p99: the calibrated one and what the server may add.
    """

    profile: str
    requests: int
    wrong: tuple[str, ...]
    biases: tuple[float, ...]
    unexplained: tuple[float, ...]
    allowed: tuple[float, float]

    @property
    def holds(self) -> bool:
        """Whether everything came out right."""
        p50, p99 = spread_of(self.unexplained)
        return (
            not self.wrong
            and bool(self.biases)
            and self.biases[0] >= 0
            and p50 <= self.allowed[0]
            and p99 <= self.allowed[1]
        )

    def line(self) -> str:
        """In words."""
        (p50, p99), (left50, left99) = spread_of(self.biases), spread_of(self.unexplained)
        return (
            f"{self.profile:9} {self.requests:5} requests, {len(self.wrong)} wrong; TTFT bias "
            f"{p50:.2f} / {p99:.2f} ms at p50 / p99, without the lag that the client noted itself "
            f"{left50:.2f} / {left99:.2f} (allowed {self.allowed[0]:.1f} / {self.allowed[1]:.1f}): "
            f"{'right' if self.holds else 'NOT RIGHT'}"
        )


def spread_of(ordered: Sequence[float]) -> tuple[float, float]:
    """A sorted sample at p50 and p99; infinite where nothing was measured."""
    if not ordered:
        return float("inf"), float("inf")
    return nearest_rank(ordered, 0.5), nearest_rank(ordered, 0.99)


def expected_class(faults: Iterable[str]) -> Outcome:
    """The class of a request that these faults held for."""
    names = {name.rpartition("-")[2] for name in faults}
    return next((outcome for fault, outcome in CLASSES if fault in names), Outcome.OK)


def compare(
    manifest: BenchManifest, trials: Sequence[BenchTrial], log: Mapping[str, Mapping[str, object]]
) -> Compared:
    """Every request of a run against the server's note of it.

    Raises:
        EndpointError: the server has no note of a request.
    """
    wrong, biases, unexplained = [], list[float](), list[float]()
    requests = [request for trial in trials for request in trial.requests]
    for request in requests:
        note = log.get(request.request_id or "")
        if note is None:
            raise EndpointError("the server noted no such request", where=str(request.request_id))
        faults = note["faults"] if isinstance(note["faults"], list) else []
        expected = expected_class(faults)
        if request.outcome != expected.value:
            wrong.append(f"{request.request_id}: {request.outcome} in place of {expected}")
        elif expected is Outcome.OK:
            wrong += _miscounted(request, note, silent=any(name.endswith(NO_USAGE) for name in faults))
        first, received = note.get("first_write_ns"), note["received_ns"]
        if request.timing.ttft_ms is not None and isinstance(first, int) and isinstance(received, int):
            bias = request.timing.ttft_ms - (first - received) / 1e6
            biases.append(bias)
            unexplained.append(max(min(bias, 0.0), bias - (request.loop_lag_ms or 0.0)))
    levels = () if manifest.calibration is None else manifest.calibration.levels
    p50 = max((level.bias_p50_ms or 0.0 for level in levels), default=0.0) + SERVER_MS[0]
    p99 = max((level.bias_p99_ms or 0.0 for level in levels), default=0.0) + SERVER_MS[1]
    name = manifest.settings.profile or "load"
    return Compared(
        profile=name,
        requests=len(requests),
        wrong=tuple(wrong),
        biases=tuple(sorted(biases)),
        unexplained=tuple(sorted(unexplained)),
        allowed=(p50, p99),
    )


def _miscounted(request: BenchRequest, note: Mapping[str, object], *, silent: bool) -> list[str]:
    served, usage = note.get("usage"), request.usage
    if silent:
        told = usage is not None and usage.output_tokens is not None
        return [f"{request.request_id}: usage that was never told"] if told else []
    if not isinstance(served, dict) or usage is None:
        return [f"{request.request_id}: no usage"]
    same = (usage.output_tokens, usage.reasoning_tokens) == (served["output"], served["reasoning"])
    return [] if same else [f"{request.request_id}: {usage} in place of {served}"]


def read_log(path: Path) -> dict[str, dict[str, object]]:
    """The server's notes by the ids of requests."""
    notes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {note["id"]: note for note in notes}


def truth_command(places: Places, say: Callable[[str], None]) -> int:
    """Run all profiles against both mappings with known faults; 2 where something does not come out right."""
    lines = []
    holds = True
    for profile in PROFILES:
        with tempfile.TemporaryDirectory(prefix="truth-") as folder:
            log = Path(folder) / "server.log"
            options = BenchOptions(models=(MODEL,), profile=profile, budget_seconds="none")
            bench_command(places, say, BenchCall(options, quiet=True, log=log), {})
            run = newest_of(places)
            found = compare(run.manifest(), run.trials(), read_log(log))
        holds = holds and found.holds
        lines += [found.line(), *(f"  {each}" for each in found.wrong[:20])]
    for line in lines:
        say(line)
    return 0 if holds else 2


def newest_of(places: Places) -> BenchRun:
    """The newest demonstration of this model.

    Raises:
        UsageError: there is none.
    """
    run = newest(each for each in find_runs(places.roots().demonstration) if each.model == MODEL)
    if run is None:
        raise UsageError(f"there is no demonstration of {MODEL}", remedy="the benchmark before this failed")
    return run
