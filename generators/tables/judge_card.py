"""Judge card: what the records of a judge show of its reliability, by one judge, version and rubric."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from generators.statistics.agreement import (
    LimitsOfAgreement,
    limits_of_agreement,
    rank_correlation,
    weighted_kappa,
)
from generators.statistics.discrimination import CalibrationBin, area_under_curve, calibration
from generators.statistics.intervals import Interval
from generators.statistics.reliability import Repeatability, repeatability
from generators.tables.facts import TrialFacts
from generators.tables.judge_proof import JudgeProof
from generators.tables.judging_cost import judging_mean
from generators.tables.sample import Value
from generators.tables.yardstick import Yardstick, admitted
from runner.records import CRITERIA, JudgementRecord, JudgementStatus, ProofRecord

TrialKey = tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """One judgement and the trial it is about."""

    trial: TrialFacts
    judgement: JudgementRecord

    @property
    def key(self) -> TrialKey:
        """What makes two judgements ones of the same trial."""
        return tuple(map(str, self.trial.record.identity.key))


@dataclass(frozen=True)
class Spread:
    """Mean and spread of the totals of one artifact over trials."""

    artifact: str
    mean: float
    deviation: float | None
    trials: int


@dataclass(frozen=True)
class Pairing:
    """Two judges on the trials that both have scored, each trial with the mean of its scores."""

    other: Yardstick
    limits: LimitsOfAgreement | None
    kappa: float | None
    """Quadratic weighted kappa over all criteria of all artifacts that both scored once or more."""
    trials: int


@dataclass(frozen=True)
class JudgeCard:
    """Everything the records show of one yardstick. Scripted answers and real ones are never in one card."""

    yardstick: Yardstick
    judged: tuple[Judged, ...]
    """Every judgement, invalid ones too."""
    pairings: tuple[Pairing, ...]
    proof: JudgeProof = field(default_factory=JudgeProof)
    """How it scored submissions that were made to try it out."""

    @cached_property
    def statuses(self) -> Mapping[JudgementStatus, int]:
        """Judgements by how they ended."""
        return Counter(each.judgement.status for each in self.judged)

    @cached_property
    def scores_by_trial(self) -> Mapping[TrialKey, list[float]]:
        """Scores of each trial, oldest first."""
        return _by_trial(self.judged)

    @property
    def trials(self) -> int:
        """Trials with a score."""
        return len(self.scores_by_trial)

    @cached_property
    def repeats(self) -> Repeatability | None:
        """Spread over repeated judgements of the same trial."""
        return repeatability(list(self.scores_by_trial.values()))

    @cached_property
    def area(self) -> Interval | None:
        """Chance that a trial whose checks passed has the higher score."""
        passed = [score for score, good in self._with_verdict if good]
        failed = [score for score, good in self._with_verdict if not good]
        return area_under_curve(passed, failed)

    @cached_property
    def calibration(self) -> list[CalibrationBin]:
        """Share of trials that passed their checks, by score."""
        return calibration(
            [score for score, _ in self._with_verdict], [good for _, good in self._with_verdict]
        )

    @cached_property
    def length_bias(self) -> Interval | None:
        """Rank correlation of score and length of what was shown to the judge."""
        pairs = [
            (float(sum(part.characters for part in each.judgement.seen)), each.judgement.task_score)
            for each in self._scored
            if each.judgement.seen
        ]
        known = [(length, score) for length, score in pairs if score is not None]
        return rank_correlation([length for length, _ in known], [score for _, score in known])

    @cached_property
    def artifacts(self) -> tuple[Spread, ...]:
        """Mean and spread of each artifact."""
        totals: dict[str, dict[TrialKey, list[int]]] = defaultdict(lambda: defaultdict(list))
        for each in self._scored:
            for name, score in (each.judgement.scores or {}).items():
                totals[name][each.key].append(score.total)
        found = []
        for name, by_trial in sorted(totals.items()):
            means = [statistics.fmean(values) for values in by_trial.values()]
            deviation = statistics.stdev(means) if len(means) > 1 else None
            found.append(Spread(name, statistics.fmean(means), deviation, len(means)))
        return tuple(found)

    @cached_property
    def criteria(self) -> Mapping[tuple[str, str], Interval | None]:
        """Rank correlation of two criteria over all scored artifacts, each pair once."""
        scores = [score for each in self._scored for score in (each.judgement.scores or {}).values()]
        points = {name: [float(getattr(score, name)) for score in scores] for name in CRITERIA}
        return {
            (one, other): rank_correlation(points[one], points[other])
            for place, one in enumerate(CRITERIA)
            for other in CRITERIA[place + 1 :]
        }

    @cached_property
    def cost(self) -> Value:
        """Mean dollars of a judgement whose cost is known."""
        return judging_mean([each.judgement for each in self.judged])

    @cached_property
    def seconds(self) -> Value:
        """Mean seconds of a judgement whose time is known."""
        known = [
            each.judgement.duration_seconds
            for each in self.judged
            if each.judgement.duration_seconds is not None
        ]
        if not known:
            return Value(None, 0, len(self.judged), "how long judging took is not recorded")
        return Value(statistics.fmean(known), len(known), len(self.judged))

    @property
    def grounded(self) -> Mapping[bool | None, int]:
        """Judgements by whether it is shown that the repository was read."""
        return Counter(each.judgement.judge.repository_grounded for each in self.judged)

    @property
    def asked_again(self) -> int:
        """Judgements that needed more than one answer."""
        return sum(len(each.judgement.attempts) > 1 for each in self.judged)

    @cached_property
    def _scored(self) -> tuple[Judged, ...]:
        return tuple(each for each in self.judged if each.judgement.status is JudgementStatus.SCORED)

    @cached_property
    def _with_verdict(self) -> list[tuple[float, bool]]:
        """Mean score and verdict of the checks, of every trial that has both."""
        verdicts = {each.key: each.trial.resolved for each in self._scored}
        return [
            (statistics.fmean(scores), verdict)
            for key, scores in self.scores_by_trial.items()
            if (verdict := verdicts[key]) is not None
        ]


def judge_cards(trials: Iterable[TrialFacts], proofs: Iterable[ProofRecord] = ()) -> tuple[JudgeCard, ...]:
    """One card for each yardstick, those with most judgements first.

    Args:
        proofs: scorings of submissions that were made to try judges out; a judge that has nothing else has
            a card too.
    """
    tried: dict[Yardstick, list[ProofRecord]] = defaultdict(list)
    for record in proofs:
        tried[Yardstick.of(record)].append(record)
    groups: dict[Yardstick, list[Judged]] = defaultdict(list)
    for trial in trials:
        for judgement in admitted(trial.stored):
            groups[Yardstick.of(judgement)].append(Judged(trial, judgement))
    for yardstick in tried:
        groups.setdefault(yardstick, [])
    order = sorted(groups, key=lambda each: (-len(groups[each]), each.order))
    return tuple(
        JudgeCard(
            each,
            tuple(groups[each]),
            tuple(_pairings(each, groups, order)),
            JudgeProof(tuple(tried.get(each, ()))),
        )
        for each in order
    )


def _pairings(
    own: Yardstick, groups: Mapping[Yardstick, Sequence[Judged]], order: Sequence[Yardstick]
) -> Iterable[Pairing]:
    """Agreement with every other judge by the same rubric that scored some of the same trials."""
    mine = _by_trial(groups[own])
    for other in order:
        if other == own or other.rubric != own.rubric:
            continue
        theirs = _by_trial(groups[other])
        common = sorted(mine.keys() & theirs.keys())
        if common:
            means = [[statistics.fmean(scores[key]) for key in common] for scores in (mine, theirs)]
            kappa = weighted_kappa(*_criteria_of(groups[own], groups[other]))
            yield Pairing(other, limits_of_agreement(*means), kappa, len(common))


def _by_trial(judged: Iterable[Judged]) -> dict[TrialKey, list[float]]:
    scores: dict[TrialKey, list[float]] = defaultdict(list)
    for each in sorted(judged, key=lambda each: each.judgement.number):
        if each.judgement.status is JudgementStatus.SCORED and each.judgement.task_score is not None:
            scores[each.key].append(each.judgement.task_score)
    return dict(scores)


def _criteria_of(own: Iterable[Judged], other: Iterable[Judged]) -> tuple[list[int], list[int]]:
    """Points of each criterion of each artifact that both judged, by their newest judgements."""
    first, second = ({each.key: each.judgement.scores or {} for each in side} for side in (own, other))
    pairs = [
        (int(getattr(scores[name], criterion)), int(getattr(second[key][name], criterion)))
        for key, scores in sorted(first.items())
        for name in sorted(scores)
        if name in second.get(key, {})
        for criterion in CRITERIA
    ]
    return [one for one, _ in pairs], [two for _, two in pairs]
