"""Judgement of an imported task: scored, zero without a call, or not judged at all."""

from __future__ import annotations

from runner.importers.published.document import JudgeBlock, RunDocument, TaskRow
from runner.records import (
    DataWarning,
    Judge,
    JudgementRecord,
    JudgementStatus,
    Source,
    TrialRecord,
)
from runner.store import slug

RUBRICS = {4: "published-four-artifacts", 5: "published-five-artifacts"}
UNKNOWN_RUBRIC = "published-unknown-artifacts"
UNKNOWN_JUDGE = "unknown-judge"


def status_of(row: TaskRow) -> JudgementStatus | None:
    """How ``row`` was judged; None where it never was: unscored, whatever the ``failed`` flag says."""
    if row.task_score is None:
        return None
    if row.task_score == 0 and row.artifacts_produced < row.artifacts_expected:
        return JudgementStatus.ZERO_BY_MISSING_ARTIFACTS
    return JudgementStatus.SCORED


def rubric_of(row: TaskRow) -> str:
    """The rubric by the number of artifacts it averages; different rubrics are never averaged together."""
    if row.scores is None:
        return UNKNOWN_RUBRIC
    return RUBRICS[len(row.scores.by_artifact())]


def judgement_of(
    run: RunDocument, row: TaskRow, trial: TrialRecord, source: Source
) -> JudgementRecord | None:
    """The judgement of ``row``, or None where it never was judged."""
    status = status_of(row)
    if status is None:
        return None
    return JudgementRecord(
        trial=trial.identity,
        number=1,
        judge=_judge(run, status),
        rubric=rubric_of(row),
        status=status,
        scores=None if row.scores is None else row.scores.by_artifact(),
        task_score=row.task_score,
        trial_sha256=trial.digest(),
        source=source,
    )


def _judge(run: RunDocument, status: JudgementStatus) -> Judge:
    block = run.judge
    if block is None:
        return Judge(name=UNKNOWN_JUDGE, taken_from="the source names no judge for this run")
    taken_from = "the source's block for the whole run, which describes one of its tasks"
    if block.repo_ref is not None and block.evaluated_at is not None:
        taken_from += f" (ref {block.repo_ref}, judged {block.evaluated_at})"
    foreign = status is JudgementStatus.SCORED and describes_a_zero(run)
    return Judge(
        name=slug(block.model),
        model=block.model,
        method=block.provider,
        repository_grounded=None if foreign else block.repo_grounded,
        reasoning_effort=None if foreign else block.reasoning_effort,
        taken_from=taken_from,
    )


def describes_a_zero(run: RunDocument) -> bool:
    """Whether the run's judge block is that of a task with nothing to judge: not grounded, no effort."""
    block: JudgeBlock | None = run.judge
    if block is None or block.repo_grounded or block.reasoning_effort is not None:
        return False
    return any(status_of(row) is JudgementStatus.ZERO_BY_MISSING_ARTIFACTS for row in run.tasks)


def judgement_warnings(run: RunDocument, row: TaskRow) -> list[DataWarning]:
    """What a reader must know about the score of one task."""
    found = []
    status = status_of(row)
    if row.failed and status is None:
        found.append(
            DataWarning(
                code="never-judged",
                text="The source counts this task as failed because it has no score; "
                f"{row.artifacts_produced} of {row.artifacts_expected} artifacts were produced.",
            )
        )
    if row.is_error and row.failed is False:
        found.append(
            DataWarning(
                code="error-but-scored",
                text=f"is_error is true and failed is false: {row.artifacts_produced} of "
                f"{row.artifacts_expected} artifacts, scored {row.task_score}.",
            )
        )
    if row.failed and not row.is_error and status is not None:
        found.append(
            DataWarning(
                code="failed-without-error",
                text=f"failed is true and is_error is false: {row.artifacts_produced} of "
                f"{row.artifacts_expected} artifacts, scored {row.task_score}.",
            )
        )
    if status is JudgementStatus.SCORED and describes_a_zero(run):
        found.append(
            DataWarning(
                code="judge-block-of-one-task",
                text="The run's judge block is that of a task with nothing to judge, so effort and "
                "grounding of this judgement are unknown.",
            )
        )
    return found + _artifact_warnings(row)


def _artifact_warnings(row: TaskRow) -> list[DataWarning]:
    if row.scores is None:
        return []
    found = []
    by_artifact = row.scores.by_artifact()
    scored = sum(1 for score in by_artifact.values() if score.total > 0)
    if scored > row.artifacts_produced:
        found.append(
            DataWarning(
                code="artifacts-disagree-with-scores",
                text=f"{row.artifacts_produced} of {row.artifacts_expected} artifacts were produced, but "
                f"{scored} carry a score above 0.",
            )
        )
    zeros = [name for name, score in by_artifact.items() if score.total == 0]
    if zeros and row.artifacts_produced == row.artifacts_expected:
        found.append(
            DataWarning(
                code="artifact-scored-zero",
                text=f"{', '.join(zeros)} scored 0 although {row.artifacts_produced} of "
                f"{row.artifacts_expected} artifacts were produced.",
            )
        )
    if rubric_of(row) == RUBRICS[4]:
        found.append(
            DataWarning(
                code="shorter-contract",
                text="Judged on four artifacts, without the implementation; the mean is not comparable "
                "with one over five.",
            )
        )
    return found
