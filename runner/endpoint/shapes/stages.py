"""Stages: wanted loads as stages of a plan, each with its requests fixed before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from runner.endpoint.shapes.arrivals import constant, poisson, ramp
from runner.endpoint.shapes.talks import AGENT, TALK
from runner.endpoint.shapes.transcript import Transcript
from runner.endpoint.shapes.wanted import WantedLoad
from runner.endpoint.suites.case import Case, Slot
from runner.endpoint.suites.draw import seed_of
from runner.endpoint.suites.streaming import LEVEL_CASES
from runner.records.bench_manifest import LoadStage, PlannedBench, Shape

LEAST_REQUESTS = 20
REQUESTS_PER_LEVEL = 4
OPEN_REQUESTS = 60
PROBE_REQUESTS = 40
SESSIONS_PER_LEVEL = 3
WARM_UP_SHARE = 0.1
LOAD_CASE = LEVEL_CASES[0]


@dataclass(frozen=True)
class LoadOptions:
    """What holds for all stages of a run.

    Args:
        requests: per stage, in place of the shape's own number.
        warm_up: requests before the measured ones, in place of the shape's own number.
    """

    seed: int
    requests: int | None = None
    warm_up: int | None = None
    case: Case = LOAD_CASE


@dataclass(frozen=True)
class PlannedStage:
    """A stage with the case and slot of each of its requests, warm-ups first."""

    stage: LoadStage
    units: tuple[tuple[Case, Slot], ...]

    def planned(self) -> tuple[PlannedBench, ...]:
        """Its entries in the plan. A search plans nothing ahead: it decides as it goes."""
        return tuple(
            PlannedBench(
                key=unit_key(self.stage.key, number),
                target=self.stage.target,
                case=case.identifier,
                slot=slot.label,
                seed=case.seed(self.stage.seed or 0, slot),
                warm_up=slot.warm_up,
                stage=self.stage.key,
            )
            for number, (case, slot) in enumerate(self.units)
        )


def unit_key(stage: str, number: int) -> str:
    """Key of one request, or session, of a stage."""
    return f"{stage}|{number}"


def stages_of(
    loads: Sequence[WantedLoad], target: str, options: LoadOptions, transcript: Transcript | None
) -> tuple[PlannedStage, ...]:
    """All stages at one target, level by rising level."""
    return tuple(
        _stage(load, level, target, options, transcript)
        for load in loads
        for level in ((load.levels[0],) if load.shape in {"goodput", "ramp"} else sorted(load.levels))
    )


def profile_stages(cases: Sequence[Case], target: str, seed: int) -> tuple[PlannedStage, ...]:
    """The levels of a profile as one sweep: cases that are asked so many at once."""
    found = []
    for case in sorted(cases, key=lambda each: each.concurrency):
        slots = case.slots()
        stage = LoadStage(
            key=f"{target}|sweep|{case.concurrency}",
            group="sweep",
            shape="sweep",
            target=target,
            case=case.identifier,
            level=float(case.concurrency),
            unit="in flight",
            closed_loop=True,
            requests=len(slots),
            warm_up_requests=sum(slot.warm_up for slot in slots),
            seed=seed,
        )
        found.append(PlannedStage(stage, tuple((case, slot) for slot in slots)))
    return tuple(found)


def probe_stage(search: LoadStage, level: int, case: Case) -> PlannedStage:
    """One probe of a goodput search: at high levels more requests, or the level would not be held."""
    measured = max(search.requests - search.warm_up_requests, REQUESTS_PER_LEVEL * level)
    stage = search.model_copy(
        update={
            "key": f"{search.key}@{level}",
            "level": float(level),
            "adaptive": False,
            "requests": measured + level,
            "warm_up_requests": level,
        }
    )
    return PlannedStage(stage, _units(case, measured + level, level))


def _stage(
    load: WantedLoad, level: float, target: str, options: LoadOptions, transcript: Transcript | None
) -> PlannedStage:
    units = _units_of(load, level, options, transcript)
    warm_ups = sum(slot.warm_up for _, slot in units)
    key = f"{target}|{load.shape}|{level:g}"
    seed = seed_of(options.seed, key, 1)
    stage = LoadStage(
        key=key,
        group=load.shape,
        shape=load.shape,
        target=target,
        case=units[0][0].identifier if units and load.shape != "transcript" else None,
        level=level,
        unit=_unit(load),
        closed_loop=load.closed_loop and not (transcript is not None and _timed(load, transcript)),
        requests=len(units),
        warm_up_requests=warm_ups,
        send_offsets_ms=_offsets(load, level, len(units), seed, transcript),
        seed=options.seed,
        adaptive=load.shape == "goodput",
        levels=load.levels if load.shape in {"goodput", "ramp"} else (),
    )
    return PlannedStage(stage, units)


def _unit(load: WantedLoad) -> Literal["in flight", "requests per second", "sessions"]:
    if load.shape in {"sessions", "agent-sessions"}:
        return "sessions"
    return "in flight" if load.closed_loop else "requests per second"


def _timed(load: WantedLoad, transcript: Transcript) -> bool:
    return load.shape == "transcript" and transcript.timed


def _units_of(
    load: WantedLoad, level: float, options: LoadOptions, transcript: Transcript | None
) -> tuple[tuple[Case, Slot], ...]:
    if load.shape == "transcript":
        cases = () if transcript is None else transcript.cases()
        return tuple((case, Slot(1)) for case in cases)
    case = {"sessions": TALK, "agent-sessions": AGENT}.get(load.shape, options.case)
    count = options.requests or _usual(load.shape, level)
    warm_up = options.warm_up
    if warm_up is None:
        warm_up = 0 if case in (TALK, AGENT) else _usual_warm_up(load, level, count)
    return _units(case, count + warm_up, warm_up)


def _units(case: Case, total: int, warm_up: int) -> tuple[tuple[Case, Slot], ...]:
    return (
        *((case, Slot(number, warm_up=True)) for number in range(1, warm_up + 1)),
        *((case, Slot(number)) for number in range(1, total - warm_up + 1)),
    )


def _usual(shape: Shape, level: float) -> int:
    if shape in {"sessions", "agent-sessions"}:
        return max(1, int(SESSIONS_PER_LEVEL * level))
    if shape in {"rate", "poisson", "ramp"}:
        return OPEN_REQUESTS
    return PROBE_REQUESTS if shape == "goodput" else max(LEAST_REQUESTS, int(REQUESTS_PER_LEVEL * level))


def _usual_warm_up(load: WantedLoad, level: float, count: int) -> int:
    return int(level) if load.closed_loop else max(1, int(count * WARM_UP_SHARE))


def _offsets(
    load: WantedLoad, level: float, count: int, seed: int, transcript: Transcript | None
) -> tuple[float, ...]:
    if load.shape == "rate":
        return _rounded(constant(count, level))
    if load.shape == "poisson":
        return _rounded(poisson(count, level, seed))
    if load.shape == "ramp":
        return _rounded(ramp(count, load.levels[0], load.levels[1]))
    if transcript is not None and _timed(load, transcript):
        return tuple(request.at_ms or 0.0 for request in transcript.requests)
    return ()


def _rounded(offsets: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(each, 3) for each in offsets)
