"""The comparison with the server's notes finds what was classed, counted or timed wrong."""

from __future__ import annotations

from runner.endpoint.result import Outcome
from runner.engine.bench.truth import compare, expected_class
from runner.records.bench_trial import BenchTiming, BenchTrial, BenchUsage
from tests import bench_examples

MANIFEST = bench_examples.manifest()
USAGE = BenchUsage(prompt_tokens=10, output_tokens=5, reasoning_tokens=2)


def note(*faults: str, first_ms: float = 200.0, output: int = 5) -> dict[str, object]:
    served = {"output": output, "reasoning": 2}
    times = {"received_ns": 1_000_000, "first_write_ns": int(1_000_000 + first_ms * 1e6)}
    return {"faults": list(faults), "usage": served, **times}


def trial(outcome: str = "ok", ttft_ms: float = 200.5, lag_ms: float = 0.0) -> BenchTrial:
    made = bench_examples.trial()
    request = made.requests[0].model_copy(
        update={
            "outcome": outcome,
            "request_id": "r1",
            "usage": USAGE,
            "timing": BenchTiming(ttft_ms=ttft_ms),
            "loop_lag_ms": lag_ms,
        }
    )
    return made.model_copy(update={"requests": (request,)})


def test_faults_have_one_class_the_stronger_one_first() -> None:
    assert expected_class([]) is Outcome.OK
    assert expected_class(["slow20", "every7-limit"]) is Outcome.LENGTH
    assert expected_class(["every7-limit", "every9-e429"]) is Outcome.RATE_LIMITED
    assert expected_class(["every17-noend", "every7-limit"]) is Outcome.INCOMPLETE


def test_what_is_right_holds() -> None:
    found = compare(MANIFEST, [trial()], {"r1": note()})
    assert found.holds
    assert "right" in found.line()


def test_a_wrong_class_count_or_time_does_not_hold() -> None:
    assert not compare(MANIFEST, [trial()], {"r1": note("every7-limit")}).holds
    assert not compare(MANIFEST, [trial("length")], {"r1": note()}).holds
    assert not compare(MANIFEST, [trial()], {"r1": note(output=6)}).holds
    assert not compare(MANIFEST, [trial()], {"r1": note("every5-nousage")}).holds
    assert not compare(MANIFEST, [trial(ttft_ms=260.0)], {"r1": note()}).holds
    assert not compare(MANIFEST, [trial(ttft_ms=150.0)], {"r1": note()}).holds
    assert not compare(MANIFEST, [], {}).holds


def test_lag_that_the_client_noted_of_itself_explains_a_late_stamp_and_never_an_early_one() -> None:
    assert compare(MANIFEST, [trial(ttft_ms=260.0, lag_ms=59.0)], {"r1": note()}).holds
    assert not compare(MANIFEST, [trial(ttft_ms=150.0, lag_ms=59.0)], {"r1": note()}).holds
