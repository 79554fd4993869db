"""Scores: right answers over what was asked and over what was answered; consistency and confidence."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log2

from runner.endpoint.statistics.intervals import rate
from runner.endpoint.statistics.outcomes import OURS
from runner.records.bench_figures import RateFigure, ScoreFigure
from runner.records.bench_trial import BenchTrial

IS_ANSWER = frozenset({"passed", "failed", "invalid_format"})
PASSED = "passed"
KINDS = ("quality", "performance", "agentic")
"""Kinds of cases; where a group has several, the first of them is the one that is scored."""
FOLLOWED, FOLLOWABLE = "instructions_passed", "instructions_total"
Variants = Mapping[str, str]
"""From a case to the case that it is a variant of."""


def was_attempted(trial: BenchTrial) -> bool:
    """Whether the endpoint was asked and what came of it is its own doing."""
    return trial.skipped is None and trial.score.verdict != "skipped" and trial.outcome not in OURS


def is_answer(trial: BenchTrial) -> bool:
    """Whether an answer came that is right or wrong."""
    return trial.score.verdict in IS_ANSWER


def has_passed(trial: BenchTrial) -> bool:
    """Whether the answer is right."""
    return trial.score.verdict == PASSED


def of_one_kind(trials: Sequence[BenchTrial]) -> list[BenchTrial]:
    """The trials that a score and a cost per right answer are over: kinds are never mixed in one figure.

    The quality cases; where there are none the performance ones, and without these the agentic ones.
    """
    there = {trial.case_kind for trial in trials}
    kind = next((kind for kind in KINDS if kind in there), None)
    return [trial for trial in trials if trial.case_kind == kind]


def answer_of(trial: BenchTrial) -> str | None:
    """What was compared, or the mark that stands for it; None where there is no answer."""
    if not is_answer(trial):
        return None
    return trial.score.answer_mark or trial.score.answer


def score(trials: Iterable[BenchTrial], variants: Variants | None = None) -> ScoreFigure:
    """The score of measured trials; warm-ups are left out."""
    asked = [trial for trial in trials if was_attempted(trial) and not trial.warm_up]
    answered = [trial for trial in asked if is_answer(trial)]
    passes = sum(map(has_passed, asked))
    groups = repeats(answered)
    sure = [trial for trial in answered if trial.score.confidence is not None]
    values = [trial.score.value for trial in answered if trial.score.value is not None]
    return ScoreFigure(
        over_attempted=rate(passes, len(asked)),
        over_answered=rate(passes, len(answered)),
        verdicts=dict(sorted(Counter(trial.score.verdict for trial in asked).items())),
        mean_value=statistics.fmean(values) if values else None,
        first_pass=first_pass(asked),
        consistency=statistics.fmean(map(most_frequent_share, groups)) if groups else None,
        consistency_groups=len(groups),
        answer_entropy_bits=statistics.fmean(map(entropy_bits, groups)) if groups else None,
        brier=brier(sure),
        mean_confidence=mean_confidence(sure),
        confidences=len(sure),
        instructions=instructions(answered),
        robustness_drop=robustness_drop(asked, variants or {}),
    )


def repeats(trials: Sequence[BenchTrial]) -> list[list[str]]:
    """Answers to the same instance, for instances that were answered more than once.

    Different runs of a seeded case are different instances: comparing them would say nothing. All runs of a
    case without a seed are the same one, and count.
    """
    groups: dict[tuple[str, int], list[str]] = defaultdict(list)
    for trial in trials:
        answer = answer_of(trial)
        if answer is not None:
            groups[(trial.case, trial.seed)].append(answer)
    return [answers for answers in groups.values() if len(answers) > 1]


def most_frequent_share(answers: Sequence[str]) -> float:
    """Share of the most frequent answer."""
    return Counter(answers).most_common(1)[0][1] / len(answers)


def entropy_bits(answers: Sequence[str]) -> float:
    """Shannon entropy of the answers, ``-sum p log2 p``; 0 where all are the same."""
    shares = [count / len(answers) for count in Counter(answers).values()]
    return abs(-sum(share * log2(share) for share in shares))


def first_pass(trials: Sequence[BenchTrial]) -> RateFigure:
    """Cases whose first instance passed at the first time of asking, of the cases that were asked."""
    first: dict[str, BenchTrial] = {}
    for trial in sorted(trials, key=lambda each: (each.run, each.repeat)):
        first.setdefault(trial.case, trial)
    return rate(sum(map(has_passed, first.values())), len(first))


def brier(trials: Sequence[BenchTrial]) -> float | None:
    """Mean of ``(confidence - outcome)^2`` with outcome 1 for a right answer; None without confidences."""
    errors = [
        (trial.score.confidence - float(has_passed(trial))) ** 2
        for trial in trials
        if trial.score.confidence is not None
    ]
    return statistics.fmean(errors) if errors else None


def mean_confidence(trials: Sequence[BenchTrial]) -> float | None:
    """Mean of the stated confidences; more than the share that was right is too much trust."""
    known = [trial.score.confidence for trial in trials if trial.score.confidence is not None]
    return statistics.fmean(known) if known else None


def instructions(trials: Sequence[BenchTrial]) -> RateFigure | None:
    """Single instructions that were followed, of all in these answers; None where no answer had any."""
    counted = [trial.score.metrics for trial in trials if FOLLOWABLE in trial.score.metrics]
    whole = sum(int(metrics[FOLLOWABLE]) for metrics in counted)
    return rate(sum(int(metrics.get(FOLLOWED, 0)) for metrics in counted), whole) if whole else None


def robustness_drop(trials: Sequence[BenchTrial], variants: Variants) -> float | None:
    """Mean over variants of the plain case's score less the variant's, over the instances both were asked."""
    by_case: dict[str, dict[str, float]] = defaultdict(dict)
    for trial in trials:
        by_case[trial.case][trial.slot] = float(has_passed(trial))
    drops = []
    for variant, plain in variants.items():
        common = by_case[variant].keys() & by_case[plain].keys()
        if common:
            drops.append(statistics.fmean(by_case[plain][key] - by_case[variant][key] for key in common))
    return statistics.fmean(drops) if drops else None
