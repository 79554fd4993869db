"""Money: the figures about cost; unknown is never 0 and bases are never mixed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from generators.tables.dollars import Priced
from generators.tables.facts import TrialFacts
from generators.tables.judging_cost import judging_total
from generators.tables.sample import Sample, Value
from generators.tables.scores import mean_score
from generators.tables.spread import amounts_per_task
from runner.records import Cost, CostBasis


def cost_per_task(sample: Sample) -> Value:
    """Mean cost of the graded trials whose cost is known; its own n of m says how many those are.

    Graded trials are the scored ones, or where no judge scored any, those with execution checks.

    Unknown is never counted as 0. Costs of different bases are never averaged: a cell has the basis that
    most of its graded trials are known on, and a trial that is not known on it is unknown here. Source: the
    one definition that replaces two published ones (run cost over scored tasks, and mean over scored tasks).
    """
    value = _mean_cost(sample, statistics.fmean)
    if value.amount is None:
        return value
    return replace(value, spread=amounts_per_task(sample.graded, lambda trial: _spent(sample, trial)))


def median_cost_per_task(sample: Sample) -> Value:
    """Median cost of the graded trials whose cost is known; one runaway task cannot move it."""
    return _mean_cost(sample, statistics.median)


def spend_total(sample: Sample) -> Value:
    """Sum of the known costs of all trials that count, failed and unscored ones included.

    A lower bound of the true spend whenever n is smaller than m.
    """
    known = _known(sample, sample.trials)
    if not known:
        return Value(None, 0, sample.planned, _why_no_cost(sample.trials))
    return Value(sum(_amounts(known)), len(known), sample.planned, priced=Priced.of(known))


def cost_per_scored_task(sample: Sample) -> Value:
    """Whole spend, failed trials included, for each scored trial: what a usable result really costs.

    Known only when the cost of every trial that counts is known.
    """
    total = spend_total(sample)
    scored = len(sample.scores)
    if total.amount is None:
        return Value(None, 0, sample.planned, total.reason)
    if total.n < len(sample.trials):
        return Value(None, total.n, sample.planned, "the cost of some trials is unknown")
    if not scored:
        return Value(None, 0, sample.planned, "no trial was scored")
    return Value(total.amount / scored, scored, sample.planned, priced=total.priced)


def cost_per_point(sample: Sample) -> Value:
    """Cost per task divided by mean score. It flatters cheap weak results, so nothing is ordered by it."""
    cost, score = cost_per_task(sample), mean_score(sample)
    if cost.amount is None:
        return cost
    if not score.amount:
        return Value(None, cost.n, cost.m, "the mean score is zero or unknown")
    return Value(cost.amount / score.amount, cost.n, cost.m, priced=cost.priced)


def judging_spend(sample: Sample) -> Value:
    """Sum of the known costs of every judgement of the trials that count. Part of no other figure.

    n and m are judgements here.
    """
    return judging_total([each for trial in sample.trials for each in trial.stored.judgements])


def _known(sample: Sample, trials: Sequence[TrialFacts]) -> list[Cost]:
    """The known costs of these trials on the basis of the sample."""
    found = [trial.cost_on(sample.basis) for trial in trials]
    return [cost for cost in found if cost is not None]


def _spent(sample: Sample, trial: TrialFacts) -> float | None:
    cost = trial.cost_on(sample.basis)
    return cost.amount_usd if cost is not None else None


def _amounts(costs: Sequence[Cost]) -> list[float]:
    return [cost.amount_usd for cost in costs if cost.amount_usd is not None]


def _why_no_cost(trials: Sequence[TrialFacts]) -> str:
    reasons = {trial.cost.missing_reason for trial in trials if trial.cost.missing_reason}
    if any(trial.cost.basis is CostBasis.NONE for trial in trials):
        reasons.add("no cost arises by design")
    return "; ".join(sorted(reasons)[:2]) or "no trial with a cost"


def _mean_cost(sample: Sample, mean: Callable[[list[float]], float]) -> Value:
    known = _known(sample, sample.graded)
    if not known:
        reason = _why_no_cost(sample.graded) if sample.graded else "no trial was graded"
        return Value(None, 0, len(sample.graded), reason)
    return Value(mean(_amounts(known)), len(known), len(sample.graded), priced=Priced.of(known))
