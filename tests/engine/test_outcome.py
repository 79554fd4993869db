"""The outcome is decided from all that happened, never from the exit code alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner.engine.outcome import decide_outcome
from runner.engine.supervision import Finished
from runner.harnesses.base import Reading
from runner.records import Outcome
from tests.examples import LATER, NOON


def finished(
    exit_code: int | None = 0, *, timed_out: bool = False, cancelled: bool = False, tail: str = ""
) -> Finished:
    return Finished(exit_code, timed_out, cancelled, NOON, LATER, 90.0, tail, output_cut=False)


FINE = Reading(stop_reason="end_turn", is_error=False)
BROKEN = Reading(stop_reason="error", is_error=True, error="HTTP 500 from the endpoint")


@pytest.mark.parametrize(
    ("end", "reading", "missing", "expected"),
    [
        (finished(), FINE, [], Outcome.COMPLETED),
        (finished(), FINE, ["implementation.md"], Outcome.INCOMPLETE),
        (finished(), BROKEN, [], Outcome.MODEL_ERROR),
        (finished(1), BROKEN, [], Outcome.MODEL_ERROR),
        (finished(3), FINE, [], Outcome.INFRASTRUCTURE),
        (finished(None), FINE, [], Outcome.INFRASTRUCTURE),
        (finished(None, timed_out=True), FINE, [], Outcome.TIMEOUT),
        (finished(None, timed_out=True), BROKEN, [], Outcome.TIMEOUT),
        (finished(None, cancelled=True), FINE, [], Outcome.CANCELLED),
        (finished(), Reading(stop_reason="limit", is_error=False, limit_hit="turns"), [], Outcome.BUDGET),
        (finished(), Reading(stop_reason="limit", is_error=False, limit_hit="cost"), [], Outcome.BUDGET),
        (finished(), Reading(stop_reason="limit", is_error=False, limit_hit="time"), [], Outcome.TIMEOUT),
    ],
)
def test_what_happened_decides(
    end: Finished, reading: Reading, missing: list[str], expected: Outcome
) -> None:
    assert decide_outcome(end, reading, missing)[0] is expected


def test_the_reason_names_what_is_missing() -> None:
    assert decide_outcome(finished(), FINE, ["a.md", "b.md"])[1] == "missing: a.md, b.md"


def test_the_reason_of_a_crash_is_the_last_line_it_printed() -> None:
    reason = decide_outcome(finished(1, tail="Traceback\nModuleNotFoundError: no module\n"), FINE, [])[1]
    assert reason == "the harness ended by exit code 1: ModuleNotFoundError: no module"


def test_an_error_that_an_agent_says_nothing_of_has_the_last_line_it_printed() -> None:
    silent = replace(BROKEN, error=None)
    reason = decide_outcome(finished(1, tail="Warning\nError: model not found\n"), silent, [])[1]
    assert reason == "the harness reports error: Error: model not found"
    assert decide_outcome(finished(1, tail="Warning"), BROKEN, [])[1] == "HTTP 500 from the endpoint"


def test_silence_a_process_limit_and_a_full_disk_have_their_own_outcomes() -> None:
    ended = finished(None)
    idle = decide_outcome(replace(ended, idle=True), BROKEN, [])
    many = decide_outcome(replace(ended, limit="processes"), FINE, [])
    full = decide_outcome(replace(ended, failure="No space left on device"), FINE, [])
    assert (idle[0], many[0], full[0]) == (Outcome.TIMEOUT, Outcome.BUDGET, Outcome.INFRASTRUCTURE)
    assert "neither output nor a model request" in idle[1]
    assert "processes" in many[1]
    assert "No space left" in full[1]


def test_the_signal_that_ended_a_harness_is_named() -> None:
    assert "signal 11" in decide_outcome(replace(finished(None), signal=11), FINE, [])[1]
