"""ScoreState: whether a trial is scored, failed, unscored or left out; the one filter every figure uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from runner.records import JudgementRecord, JudgementStatus, Outcome, Standing, TrialRecord
from runner.store import StoredTrial


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


def main_rubric(trials: Iterable[StoredTrial]) -> str | None:
    """The rubric most judgements of these trials used; ties go to the name that sorts last."""
    counts = Counter(
        judgement.rubric
        for trial in trials
        for judgement in trial.judgements
        if judgement.status is not JudgementStatus.INVALID
    )
    return max(counts, key=lambda name: (counts[name], name)) if counts else None


def counted_judgement(trial: StoredTrial, rubric: str | None) -> JudgementRecord | None:
    """The judgement that counts: the latest valid one under ``rubric``, by number, then by judge.

    A later judgement by the same rubric replaces an earlier one; scores by another rubric are never mixed in.
    """
    valid = [
        judgement
        for judgement in trial.judgements
        if judgement.status is not JudgementStatus.INVALID and judgement.rubric == rubric
    ]
    return max(valid, key=lambda judgement: (judgement.number, judgement.judge.name), default=None)


def score_state(trial: TrialRecord, judgement: JudgementRecord | None) -> tuple[ScoreState, str]:
    """The state of a trial and the reason for it in words."""
    if trial.standing is not Standing.COUNTED:
        return ScoreState.EXCLUDED, f"{trial.standing.value}: {trial.standing_reason}"
    if trial.outcome in VOID:
        return ScoreState.FAILED, "found to have used what it must not use"
    if judgement is None:
        if trial.outcome in OUR_SIDE:
            return (
                ScoreState.UNSCORED,
                f"our side failed ({trial.outcome.value}); says nothing about the cell",
            )
        return ScoreState.UNSCORED, "no valid judgement"
    if judgement.status is JudgementStatus.ZERO_BY_MISSING_ARTIFACTS:
        return ScoreState.FAILED, "artifacts are missing, so there was nothing to judge"
    return ScoreState.SCORED, "judged"
