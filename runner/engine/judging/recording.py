"""Recording: the record of a judgement from its attempts and the ruling they ended in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from runner.datasets import SealedCheckout
from runner.engine.folding import fold_costs, fold_usage
from runner.engine.judging.bench import Bench
from runner.engine.judging.journal import Done
from runner.engine.judging.subject import Subject
from runner.engine.masking import Mask
from runner.judges.base import DIRECT
from runner.judges.brief import Brief
from runner.judges.fencing import visible
from runner.judges.hearing import Ruling
from runner.judges.rubric import Rubric, mean_of_totals
from runner.records import (
    CRITERIA,
    ArtifactScore,
    DataWarning,
    Judge,
    JudgementRecord,
    JudgementStatus,
)
from runner.records.judgement import MAX_NOTE

MAX_REASON = 2000
ZERO = ArtifactScore(**dict.fromkeys(CRITERIA, 0), total=0)


@dataclass(frozen=True)
class Hearing:
    """How a judgement came about."""

    brief: Brief
    ruling: Ruling | None
    """None where nothing was asked, because nothing was handed in."""
    done: tuple[Done, ...]
    checkout: SealedCheckout | None
    number: int

    @property
    def files_read(self) -> tuple[str, ...]:
        """Files that the judge was seen to read, in any attempt."""
        return tuple(dict.fromkeys(name for each in self.done for name in each.files_read))


def judgement_record(bench: Bench, subject: Subject, hearing: Hearing, mask: Mask) -> JudgementRecord:
    """The record; ``mask`` takes out of the judge's words what must not be written."""
    record, attempts = subject.stored.record, hearing.done
    return JudgementRecord(
        trial=record.identity,
        missing=hearing.brief.missing,
        candidate=hearing.brief.sealing.candidate,
        seen=hearing.brief.seen if attempts else (),
        repository_tree=None if hearing.checkout is None else hearing.checkout.tree,
        trial_sha256=record.digest(),
        **heard(bench, subject.rubric, hearing, mask),
    )


def heard(bench: Bench, rubric: Rubric, hearing: Hearing, mask: Mask) -> dict[str, Any]:
    """What every record of a hearing holds: who judged by what, what came of it, and what it took."""
    attempts = tuple(each.attempt for each in hearing.done)
    durations = [attempt.duration_seconds for attempt in attempts]
    known = [seconds for seconds in durations if seconds is not None]
    return {
        "number": hearing.number,
        "judge": _judge(bench, hearing),
        "rubric": rubric.identity,
        "rubric_sha256": rubric.digest,
        "demonstration": bench.demonstration,
        "files_read": hearing.files_read,
        "attempts": attempts,
        "usage": fold_usage(attempts),
        "costs": fold_costs([attempt.costs for attempt in attempts]),
        "duration_seconds": round(sum(known), 3) if known and len(known) == len(durations) else None,
        "isolation": bench.isolation.level.value if attempts and bench.reads_repository else None,
        "warnings": _warnings(bench, hearing),
        "judged_at": datetime.now(UTC),
        **_scores(rubric, hearing, mask),
    }


def _scores(rubric: Rubric, hearing: Hearing, mask: Mask) -> dict[str, Any]:
    zeros = dict.fromkeys(hearing.brief.missing, ZERO)
    if hearing.ruling is None:
        status = JudgementStatus.ZERO_BY_MISSING_ARTIFACTS
        return {"status": status, "scores": zeros, "task_score": 0.0}
    if hearing.ruling.scores is None:
        reason = f"no valid answer: {'; '.join(hearing.ruling.faults)}"
        return {
            "status": JudgementStatus.INVALID,
            "invalid_reason": mask.text(visible(reason), MAX_REASON),
        }
    found = hearing.ruling.scores
    given: Mapping[str, ArtifactScore] = {**found.scores, **zeros}
    # In the order of the rubric, whatever the order of the answer.
    scores = {each.name: given[each.name] for each in rubric.artifacts}
    return {
        "status": JudgementStatus.SCORED,
        "scores": scores,
        "task_score": mean_of_totals([score.total for score in scores.values()]),
        "notes": {name: mask.text(visible(text), MAX_NOTE) for name, text in found.notes.items()},
        "verdict": mask.text(visible(found.verdict), MAX_NOTE),
    }


def _judge(bench: Bench, hearing: Hearing) -> Judge:
    grounded = bool(hearing.files_read) and bench.judge.method != DIRECT
    return Judge(
        name=bench.settings.label,
        kind=bench.settings.judge,
        model=bench.settings.model,
        provider=bench.provider.name,
        method=bench.judge.method,
        version=bench.version,
        repository_grounded=grounded if hearing.done else None,
        reasoning_effort=bench.settings.effort,
    )


def _warnings(bench: Bench, hearing: Hearing) -> tuple[DataWarning, ...]:
    if not hearing.done:
        return ()
    found = [warning for each in hearing.done for warning in each.warnings]
    if bench.reads_repository and not hearing.files_read:
        text = "no output of the judge's tools holds a line of a file of the repository"
        found.append(DataWarning(code="judge-not-grounded", text=text))
    for part in hearing.brief.seen:
        if part.cut_characters:
            text = f"{part.name}: {part.cut_characters} characters were not shown"
            found.append(DataWarning(code="artifact-cut", text=text))
    return tuple(dict.fromkeys(found))
