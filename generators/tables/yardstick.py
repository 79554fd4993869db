"""Yardstick: which judge by which rubric gave a score; scores by different ones never share a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from runner.records import JudgementRecord, JudgementStatus, ProofRecord
from runner.store import StoredTrial


@dataclass(frozen=True)
class Yardstick:
    """A judge, its model and version, and the rubric."""

    judge: str
    model: str | None
    version: str | None
    """Of the judge's program; another one is another judge."""
    rubric: str

    @classmethod
    def of(cls, judgement: JudgementRecord | ProofRecord) -> Yardstick:
        """What ``judgement`` was measured with."""
        judge = judgement.judge
        return cls(judge.name, judge.model, judge.version, judgement.rubric)

    @property
    def order(self) -> tuple[str, str, str, str]:
        """For sorting."""
        return (self.judge, self.model or "", self.version or "", self.rubric)

    @property
    def judge_label(self) -> str:
        """The judge as a reader names it."""
        more = [part for part in (self.model, self.version) if part and part != self.judge]
        return f"{self.judge} ({', '.join(more)})" if more else self.judge

    def other_than(self, main: Yardstick) -> str:
        """What sets it apart from ``main``, in words; empty where nothing does."""
        if self.rubric != main.rubric:
            return f"judged under another rubric: {self.rubric}"
        return f"judged by another judge: {self.judge_label}" if self != main else ""


def admitted(trial: StoredTrial) -> tuple[JudgementRecord, ...]:
    """The judgements that may say something about ``trial``: scripted answers only about demonstrations."""
    return tuple(
        judgement
        for judgement in trial.judgements
        if trial.record.demonstration or not judgement.demonstration
    )


def main_yardstick(trials: Iterable[StoredTrial]) -> Yardstick | None:
    """The one that scored most of these trials; of equally many the one that sorts last.

    A trial that it judged several times counts once.
    """
    counts = Counter(
        yardstick
        for trial in trials
        for yardstick in {
            Yardstick.of(judgement)
            for judgement in admitted(trial)
            if judgement.status is not JudgementStatus.INVALID
        }
    )
    return max(counts, key=lambda each: (counts[each], each.order)) if counts else None


def counted_judgements(trial: StoredTrial, yardstick: Yardstick | None) -> tuple[JudgementRecord, ...]:
    """The valid judgements of ``trial`` by ``yardstick``, oldest first; the trial's score is their mean.

    Repeated judgements of one trial all count: which of them is nearest the truth, nobody knows.
    """
    valid = [
        judgement
        for judgement in admitted(trial)
        if judgement.status is not JudgementStatus.INVALID and Yardstick.of(judgement) == yardstick
    ]
    return tuple(sorted(valid, key=lambda judgement: judgement.number))
