"""Load: figures of load stages in their steady windows, and the curves that they make."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.endpoint.statistics.distribution import distribution, measures
from runner.endpoint.statistics.goodput import GOOD_SHARE, Limits, goodput_search, is_good, keeps
from runner.endpoint.statistics.intervals import rate
from runner.endpoint.statistics.knee import knee
from runner.endpoint.statistics.money import money
from runner.endpoint.statistics.outcomes import reliability
from runner.endpoint.statistics.trust import client_error, time_flags
from runner.endpoint.statistics.window import (
    Sent,
    Window,
    closed_window,
    in_flight,
    open_window,
    output_tokens,
    sent_of,
    spans_of,
)
from runner.records.bench_manifest import BenchCalibration, LoadStage
from runner.records.bench_summary import LoadCurve, LoadPoint
from runner.records.bench_trial import BenchTrial

SLICES = 10
ALWAYS = Window(float("-inf"), float("inf"))
DEGRADED = 2.0


@dataclass(frozen=True)
class _Sitting:
    """What was sent without a break; a stage that was interrupted has several, each with its own clock."""

    sent: tuple[Sent, ...]
    window: Window | None

    def inside(self) -> list[Sent]:
        """The requests that were due within the window."""
        return [] if self.window is None else [e for e in self.sent if self.window.holds(e.scheduled_ms)]


def curves(
    stages: Sequence[LoadStage],
    trials: Sequence[BenchTrial],
    limits: Limits,
    seed: int,
    calibration: BenchCalibration | None = None,
) -> tuple[LoadCurve, ...]:
    """The load of a run as curves: one for each group of stages at each target."""
    found: dict[str, list[BenchTrial]] = defaultdict(list)
    for trial in trials:
        if trial.load is not None:
            found[trial.load.stage].append(trial)
    by_stage = {key: each for key, each in found.items() if any(one.skipped is None for one in each)}
    groups: dict[tuple[str, str], list[LoadStage]] = defaultdict(list)
    for stage in stages:
        groups[(stage.group, stage.target)].append(stage)
    return tuple(_curve(group, by_stage, limits, seed, calibration) for group in groups.values())


def _curve(
    stages: Sequence[LoadStage],
    by_stage: Mapping[str, Sequence[BenchTrial]],
    limits: Limits,
    seed: int,
    calibration: BenchCalibration | None,
) -> LoadCurve:
    first, searched = stages[0], any(stage.adaptive for stage in stages)
    probes = [stage for stage in stages if not stage.adaptive]
    if searched:
        probes += _probes(first, by_stage)
    found = sorted(
        (
            (stage, trials, trusted(load_point(stage, trials, limits), stage, trials, calibration))
            for stage in probes
            if (trials := by_stage.get(stage.key))
        ),
        key=lambda each: each[2].level,
    )
    points = _degraded([point for _, _, point in found])
    slices = {point.level: completion_slices(stage, trials) for stage, trials, point in found}
    return LoadCurve(
        group=first.group,
        shape=first.shape,
        target=first.target,
        closed_loop=first.closed_loop,
        points=tuple(points),
        saturation_level=saturation(points),
        knee=knee(slices, seed) if first.shape == "sweep" else None,
        goodput=goodput_search(points) if searched else None,
    )


def _probes(search: LoadStage, by_stage: Mapping[str, Sequence[BenchTrial]]) -> list[LoadStage]:
    """Stages that a search decided on while it ran; their keys begin with its own."""
    found = []
    for key, trials in by_stage.items():
        place = trials[0].load
        if key.startswith(f"{search.key}@") and place is not None:
            found.append(search.model_copy(update={"key": key, "level": place.level, "adaptive": False}))
    return found


def load_point(stage: LoadStage, trials: Sequence[BenchTrial], limits: Limits) -> LoadPoint:
    """One stage. Figures are of the steady window; where the level was never held, of everything.

    Money is always of the whole stage, warm-ups included: all of it was paid for what came to a good end.
    """
    sittings = _sittings(stage, trials)
    every = [each for sitting in sittings for each in sitting.sent]
    inside = [each for sitting in sittings for each in sitting.inside()]
    held = [sitting for sitting in sittings if sitting.window is not None]
    seconds = sum(sitting.window.seconds for sitting in held if sitting.window is not None) or None
    chosen = inside if seconds else every
    requests = [each.request for each in chosen]
    skipped = Counter(trial.skipped for trial in trials if trial.skipped is not None and not trial.warm_up)
    whole = sum(_length(sitting.sent) for sitting in sittings) or None
    ends = sum(
        is_good(each.request) and sitting.window is not None and sitting.window.holds(each.ended_ms)
        for sitting in held
        for each in sitting.sent
    )
    good = [each.request for each in chosen if is_good(each.request)]
    within = sum(keeps(request.timing.model_dump(), limits) for request in good)
    kept_ends = sum(
        sitting.window is not None
        and sitting.window.holds(each.ended_ms)
        and is_good(each.request)
        and keeps(each.request.timing.model_dump(), limits)
        for sitting in held
        for each in sitting.sent
    )
    flights = [in_flight(sitting.sent, sitting.window) for sitting in held if sitting.window is not None]
    lengths = [sitting.window.seconds for sitting in held if sitting.window is not None]
    late = [e.place.lateness_ms for e in every if e.place.lateness_ms is not None and e.turn == 0]
    only = held[0].window if len(held) == 1 else None
    return LoadPoint(
        stage=stage.key,
        level=stage.level,
        unit=stage.unit,
        window_begins_ms=None if only is None else only.begins_ms,
        window_ends_ms=None if only is None else only.ends_ms,
        window_seconds=seconds,
        whole_seconds=whole,
        requests=len(chosen),
        outside_window=len(every) - len(chosen),
        skipped=dict(sorted(skipped.items())),
        succeeded=rate(len(good), len(chosen)),
        offered_per_second=len(inside) / seconds if seconds and not stage.closed_loop else None,
        requests_per_second=ends / seconds if seconds else None,
        whole_requests_per_second=sum(is_good(e.request) for e in every) / whole if whole else None,
        whole_output_tokens_per_second=_over(output_tokens(every, ALWAYS), whole),
        output_tokens_per_second=_tokens_per_second(held, seconds),
        in_flight_mean=_weighted([mean for mean, _ in flights], lengths),
        in_flight_peak=max((peak for _, peak in flights), default=None),
        goodput_per_second=kept_ends / seconds if seconds and limits else None,
        within_limits=rate(within, len(chosen)) if limits else None,
        measures=measures(requests, skipped),
        lateness_ms=distribution(late) if late else None,
        reliability=reliability(requests),
        money=money(trials, sum(is_good(each.request) for each in every), len(every)),
        flags=() if seconds else ("the level was never held: figures are of the whole stage",),
    )


def trusted(
    point: LoadPoint, stage: LoadStage, trials: Sequence[BenchTrial], calibration: BenchCalibration | None
) -> LoadPoint:
    """The point with the client's own error beside it, at as many streams as it had."""
    workers = max((trial.load.workers for trial in trials if trial.load is not None), default=1)
    streams = int(stage.level) if stage.closed_loop else (point.in_flight_peak or 1)
    client = client_error(calibration, streams, workers, [r for trial in trials for r in trial.requests])
    found = point.measures.get("ttft_ms")
    ttft = None if found is None else found.quantile(0.5)
    why = time_flags(calibration, streams, client, None if ttft is None else ttft.value)
    return point.model_copy(update={"client": client, "flags": (*point.flags, *why)})


def completion_slices(stage: LoadStage, trials: Sequence[BenchTrial]) -> list[float]:
    """Good ends per second in equal slices of the longest steady window; empty where there is none."""
    held = [each for each in _sittings(stage, trials) if each.window is not None]
    if not held:
        return []
    longest = max(held, key=lambda each: each.window.seconds if each.window else 0.0)
    window = longest.window
    if window is None:
        return []
    length = (window.ends_ms - window.begins_ms) / SLICES
    counts = [0] * SLICES
    for each in longest.sent:
        if is_good(each.request) and window.holds(each.ended_ms):
            counts[min(int((each.ended_ms - window.begins_ms) / length), SLICES - 1)] += 1
    return [count / (length / 1000) for count in counts]


def saturation(points: Sequence[LoadPoint]) -> float | None:
    """The first level above the lowest with twice its latency, or with less than 95 % good ends."""
    for point in points[1:]:
        share = point.succeeded.rate
        if (point.degradation or 0.0) >= DEGRADED or (share is not None and share < GOOD_SHARE):
            return point.level
    return None


def _sittings(stage: LoadStage, trials: Sequence[BenchTrial]) -> list[_Sitting]:
    groups: dict[int, list[BenchTrial]] = defaultdict(list)
    for trial in trials:
        if trial.load is not None:
            groups[trial.load.sitting].append(trial)
    found = []
    for _, group in sorted(groups.items()):
        sent = sent_of(group)
        if sent:
            window = (
                closed_window(spans_of(sent), int(stage.level)) if stage.closed_loop else open_window(sent)
            )
            found.append(_Sitting(tuple(sent), window))
    return found


def _degraded(points: Sequence[LoadPoint]) -> list[LoadPoint]:
    """The points with their latency over that of the lowest level that was answered at all."""
    base = next((value for point in points if (value := _median_latency(point))), None)
    return [
        point.model_copy(
            update={"degradation": value / base if base and (value := _median_latency(point)) else None}
        )
        for point in points
    ]


def _median_latency(point: LoadPoint) -> float | None:
    found = point.measures.get("scheduled_latency_ms" if point.offered_per_second else "latency_ms")
    figure = None if found is None else found.quantile(0.5)
    return None if figure is None else figure.value


def _tokens_per_second(held: Sequence[_Sitting], seconds: float | None) -> float | None:
    if not seconds:
        return None
    parts = [output_tokens(each.sent, each.window) for each in held if each.window is not None]
    known = [part for part in parts if part is not None]
    return sum(known) / seconds if len(known) == len(parts) else None


def _over(amount: float | None, seconds: float | None) -> float | None:
    return amount / seconds if amount is not None and seconds else None


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float | None:
    whole = sum(weights)
    return (
        sum(value * weight for value, weight in zip(values, weights, strict=True)) / whole if whole else None
    )


def _length(sent: Sequence[Sent]) -> float:
    return (max(each.ended_ms for each in sent) - sent[0].sent_ms) / 1000
