"""ScoreState: whether a trial is scored, failed, unscored or left out; the one filter every figure uses."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from runner.records import JudgementRecord, JudgementStatus, Outcome, Standing, TrialRecord


class ScoreState(StrEnum):
    """What a trial contributes to the figures of its cell."""

    SCORED = "scored"
    """A judge gave it a score: it enters the mean."""
    FAILED = "failed"
    """Nothing to judge: named beside the mean, zero where failures count as zero."""
    UNSCORED = "unscored"
    """Never judged, or judged without a valid answer: named beside the mean, unknown between 0 and 100."""
    EXCLUDED = "excluded"
    """Superseded, a probe, or made from another version of the task set: enters no figure, and is named."""


OUR_SIDE = frozenset({Outcome.INFRASTRUCTURE, Outcome.CANCELLED})
VOID = frozenset({Outcome.CHEATING})


def score_state(trial: TrialRecord, judgements: Sequence[JudgementRecord]) -> tuple[ScoreState, str]:
    """The state of a trial and the reason for it in words.

    Args:
        trial: its record.
        judgements: the valid ones that count.
    """
    if trial.standing is not Standing.COUNTED:
        return ScoreState.EXCLUDED, f"{trial.standing.value}: {trial.standing_reason}"
    if trial.outcome in VOID:
        return ScoreState.FAILED, "found to have used what it must not use"
    if not judgements:
        if trial.outcome in OUR_SIDE:
            return (
                ScoreState.UNSCORED,
                f"our side failed ({trial.outcome.value}); says nothing about the cell",
            )
        return ScoreState.UNSCORED, "no valid judgement"
    if any(each.status is JudgementStatus.ZERO_BY_MISSING_ARTIFACTS for each in judgements):
        return ScoreState.FAILED, "artifacts are missing, so there was nothing to judge"
    return ScoreState.SCORED, "judged"
