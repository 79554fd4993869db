"""Agreement: how alike two mappings of one model answer, right or wrong."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from runner.endpoint.statistics.intervals import rate
from runner.endpoint.statistics.money import tokens
from runner.endpoint.statistics.pairing import LEAST_PAIRS, RESAMPLES
from runner.endpoint.statistics.scores import answer_of, has_passed, was_attempted
from runner.records.bench_figures import Agreement
from runner.records.bench_trial import BenchTrial

ByTarget = Mapping[str, Sequence[BenchTrial]]
Instance = tuple[str, str]
Categories = Mapping[str, str]
"""From a case to its category."""


def agreements(by_target: ByTarget, categories: Categories, seed: int) -> tuple[Agreement, ...]:
    """Every pair of targets, in the order of the targets."""
    answers = {target: _answers(trials) for target, trials in by_target.items()}
    same_answer: Counter[tuple[Instance, str]] = Counter(
        (instance, answer) for found in answers.values() for instance, (answer, _) in found.items()
    )
    return tuple(
        _agreement(left, right, by_target, answers, same_answer, categories, seed)
        for left, right in combinations(by_target, 2)
    )


def _agreement(
    left: str,
    right: str,
    by_target: ByTarget,
    answers: Mapping[str, Mapping[Instance, tuple[str, bool]]],
    same_answer: Mapping[tuple[Instance, str], int],
    categories: Categories,
    seed: int,
) -> Agreement:
    ours, theirs = answers[left], answers[right]
    common = [instance for instance in ours if instance in theirs]
    same = {instance: ours[instance][0] == theirs[instance][0] for instance in common}
    wrong = [instance for instance in common if not ours[instance][1]]
    weights = {instance: 1 / same_answer[(instance, ours[instance][0])] for instance in wrong}
    rare = sum(weights[each] for each in wrong if same[each]) / sum(weights.values()) if wrong else None
    interval = _over_cases(same, seed)
    similar = category_similarity(by_target[left], by_target[right], categories)
    thought = _share_difference(by_target[left], by_target[right])
    agreed, erred = rate(sum(same.values()), len(same)), rate(sum(same[each] for each in wrong), len(wrong))
    parts = [agreed.rate, erred.rate, rare, similar, None if thought is None else 1 - min(1.0, thought)]
    known = [part for part in parts if part is not None]
    return Agreement(
        left=left,
        right=right,
        same=agreed,
        same_low=interval[0] if interval else None,
        same_high=interval[1] if interval else None,
        same_errors=erred,
        rare_errors=rare,
        category_similarity=similar,
        reasoning_share_difference=thought,
        similarity=statistics.fmean(known) if common and known else None,
        seed=seed,
    )


def _answers(trials: Sequence[BenchTrial]) -> dict[Instance, tuple[str, bool]]:
    """Answer and whether it is right, by instance and its time of asking."""
    found = {}
    for trial in trials:
        answer = answer_of(trial)
        if answer is not None and not trial.warm_up and trial.case_kind == "quality":
            found[(trial.case, trial.slot)] = (answer, has_passed(trial))
    return found


def _over_cases(same: Mapping[Instance, bool], seed: int) -> tuple[float, float] | None:
    """The middle 95 % of the rate over resamples of whole cases, whose instances are not independent."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for (case, _), matches in same.items():
        groups[case].append(matches)
    if len(groups) < LEAST_PAIRS or len(set(same.values())) == 1:
        return None
    import numpy

    hits = numpy.array([sum(group) for group in groups.values()], dtype=float)
    sizes = numpy.array([len(group) for group in groups.values()], dtype=float)
    drawn = numpy.random.default_rng(seed).integers(0, len(hits), (RESAMPLES, len(hits)))
    rates = hits[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = numpy.quantile(rates, (0.025, 0.975))
    return float(low), float(high)


def category_similarity(
    left: Sequence[BenchTrial], right: Sequence[BenchTrial], categories: Categories
) -> float | None:
    """1 less the mean over categories of the difference between both scores; None without a common one."""
    ours, theirs = _scores(left, categories), _scores(right, categories)
    differences = [abs(ours[name] - theirs[name]) for name in ours if name in theirs]
    return 1 - statistics.fmean(differences) if differences else None


def _scores(trials: Sequence[BenchTrial], categories: Categories) -> dict[str, float]:
    groups: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if was_attempted(trial) and not trial.warm_up and trial.case_kind == "quality":
            groups[categories.get(trial.case, "")].append(float(has_passed(trial)))
    return {name: statistics.fmean(values) for name, values in groups.items()}


def _share_difference(left: Sequence[BenchTrial], right: Sequence[BenchTrial]) -> float | None:
    ours, theirs = (
        tokens(request for trial in trials for request in trial.requests).reasoning_share
        for trials in (left, right)
    )
    return None if ours is None or theirs is None else abs(ours - theirs)
