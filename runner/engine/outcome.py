"""Outcome of a trial: decided from what happened, never from the exit code alone."""

from __future__ import annotations

from collections.abc import Sequence

from runner.engine.supervision import Finished
from runner.harnesses.base import Reading
from runner.records import Outcome


def decide_outcome(finished: Finished, reading: Reading, missing: Sequence[str]) -> tuple[Outcome, str]:
    """The outcome class of the last invocation and the reason in words.

    Order: a cancellation, then limits, then errors, then missing artifacts. An agent that was stopped by a
    limit is never called completed, whatever it left behind.
    """
    if finished.cancelled:
        return Outcome.CANCELLED, "stopped by the user"
    if finished.failure is not None:
        return Outcome.INFRASTRUCTURE, finished.failure
    if finished.idle:
        return Outcome.TIMEOUT, f"neither output nor a model request until {finished.duration_seconds:.0f} s"
    if finished.limit is not None:
        return Outcome.BUDGET, f"limit reached: {finished.limit}"
    if finished.timed_out:
        return Outcome.TIMEOUT, f"wall-clock limit reached after {finished.duration_seconds:.0f} s"
    if reading.limit_hit == "time":
        return Outcome.TIMEOUT, "the harness reached its own time limit"
    if reading.limit_hit is not None:
        return Outcome.BUDGET, f"limit reached: {reading.limit_hit}"
    lines = finished.stderr_tail.strip().splitlines()
    said = f": {lines[-1]}" if lines else ""
    if reading.is_error:
        return Outcome.MODEL_ERROR, (reading.error or f"the harness reports {reading.stop_reason}{said}")[
            :1000
        ]
    if finished.exit_code != 0:
        how = f"signal {finished.signal}" if finished.exit_code is None else f"exit code {finished.exit_code}"
        return Outcome.INFRASTRUCTURE, f"the harness ended by {how}{said or ': no message'}"[:1000]
    if missing:
        return Outcome.INCOMPLETE, incomplete(missing)
    return Outcome.COMPLETED, "all artifacts are there"


def incomplete(missing: Sequence[str]) -> str:
    """Why a trial without the artifacts ``missing`` is not complete, in words."""
    return "missing: " + ", ".join(missing)
