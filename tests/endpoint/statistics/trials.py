"""Trials as a run would have recorded them, with only what a test is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from runner.records.bench_manifest import LoadStage
from runner.records.bench_trial import (
    BenchAgent,
    BenchRequest,
    BenchScore,
    BenchTiming,
    BenchTrial,
    BenchUsage,
    LoadPlace,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
RIGHT, WRONG = "passed", "failed"


def request(outcome: str = "ok", **changes: object) -> BenchRequest:
    """One request; figures of its timing by their names."""
    timing = {name: changes.pop(name) for name in list(changes) if name in BenchTiming.model_fields}
    usual: dict[str, object] = {
        "outcome": outcome,
        "started_at": NOON,
        "streamed": True,
        "timing": BenchTiming.model_validate(timing),
        "usage": BenchUsage(prompt_tokens=100, output_tokens=10),
        "fragment_count": 3,
    }
    return BenchRequest.model_validate(usual | changes)


def trial(
    case: str = "case",
    slot: str = "1",
    verdict: str = RIGHT,
    answer: str | None = None,
    **changes: object,
) -> BenchTrial:
    """One trial of a quality case that was answered."""
    run, _, repeat = slot.removeprefix("w").partition(".")
    confidence = changes.pop("confidence", None)
    target = str(changes.pop("target", "one"))
    score = BenchScore.model_validate(
        {"verdict": verdict, "value": 1.0 if verdict == RIGHT else 0.0, "answer": answer or verdict}
        | {"confidence": confidence}
    )
    usual: dict[str, object] = {
        "run_id": "run",
        "key": f"{target}|{case}|{slot}",
        "target": target,
        "case": case,
        "case_kind": "quality",
        "slot": slot,
        "run": int(run),
        "repeat": int(repeat or 1),
        "warm_up": slot.startswith("w"),
        "seed": int(run),
        "started_at": NOON,
        "finished_at": NOON + timedelta(seconds=1),
        "outcome": "ok",
        "score": score,
        "requests": (request(),),
    }
    return BenchTrial.model_validate(usual | changes)


def loaded(number: int, sent_ms: float, lasts_ms: float, **changes: object) -> BenchTrial:
    """One request of a load stage."""
    place: dict[str, object] = {
        name: changes.pop(name) for name in list(changes) if name in LoadPlace.model_fields
    }
    load = LoadPlace.model_validate({"stage": "stage", "level": 2.0, "number": number} | place)
    return trial(
        "load",
        str(number + 1),
        case_kind="performance",
        load=load,
        requests=(_sent(sent_ms, lasts_ms, changes),),
    )


def _sent(sent_ms: float, lasts_ms: float, changes: dict[str, object]) -> BenchRequest:
    outcome = str(changes.pop("outcome", "ok"))
    times: dict[str, object] = {"total_ms": lasts_ms, "latency_ms": lasts_ms, "ttft_ms": lasts_ms / 2}
    every: dict[str, object] = {"offset_ms": sent_ms, **times, **changes}
    return request(outcome, **every)


def stage(level: float = 2.0, *, closed: bool = True, **changes: object) -> LoadStage:
    """A load stage."""
    usual: dict[str, object] = {
        "key": "stage",
        "group": "sweep",
        "shape": "sweep" if closed else "poisson",
        "target": "one",
        "level": level,
        "unit": "in flight" if closed else "requests per second",
        "closed_loop": closed,
        "requests": 1,
    }
    return LoadStage.model_validate(usual | changes)


def agent(**changes: object) -> BenchAgent:
    """What an agent did."""
    usual: dict[str, object] = {
        "stop_reason": "no_tool_calls",
        "turns": 3,
        "tool_calls": 4,
        "invalid_calls": 1,
        "no_progress_calls": 0,
        "test_runs": 1,
        "self_verified": True,
        "wall_seconds": 2.0,
        "tool_seconds": 0.5,
        "prompt_tokens": 100,
        "output_tokens": 10,
    }
    return BenchAgent.model_validate(usual | changes)
