"""Scores: the figures about quality."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

from generators.statistics.bounds import Bounds, mean_bounds
from generators.tables.facts import TrialFacts
from generators.tables.sample import Sample, Value
from generators.tables.scoring import ScoreState
from generators.tables.spread import Kind, Spread, per_task

LOWEST_SCORE = 0.0
HIGHEST_SCORE = 100.0


def mean_score(sample: Sample) -> Value:
    """Mean judge score of the scored trials. Failed and unscored trials are left out and named beside it.

    Source: the published run summaries define it so (mean task score excluding failed tasks).
    """
    value = _over_scores(sample, statistics.fmean)
    return value if value.amount is None else replace(value, spread=_scores_spread(sample, zeros=False))


def median_score(sample: Sample) -> Value:
    """Middle score of the scored trials; with an even number the mean of the middle two."""
    return _over_scores(sample, statistics.median)


def lowest_score(sample: Sample) -> Value:
    """Smallest score among the scored trials."""
    return _over_scores(sample, min)


def highest_score(sample: Sample) -> Value:
    """Largest score among the scored trials."""
    return _over_scores(sample, max)


def score_spread(sample: Sample) -> Value:
    """Sample standard deviation (n - 1) of the scores over tasks; needs two scored trials.

    Source: arXiv 2411.00640, which divides by n - 1. It mixes the spread of task difficulty with chance.
    """
    if len(sample.scores) < 2:
        return Value(None, len(sample.scores), sample.planned, "needs at least two scored trials")
    return _over_scores(sample, statistics.stdev)


def score_with_failures(sample: Sample) -> Value:
    """Mean score when each failed trial counts as 0. Unscored trials stay out: nobody knows their score."""
    scores = sample.scores + [0.0] * sample.failed
    if not scores:
        return Value(None, 0, sample.planned, "no trial was scored or failed")
    spread = _scores_spread(sample, zeros=True)
    return Value(statistics.fmean(scores), len(scores), sample.planned, spread=spread)


def score_lower_bound(sample: Sample) -> Value:
    """Worst case: failed trials and every trial whose score is unknown count as 0.

    Source: bounds without assumptions (Manski 1989); equal to the score with failures when nothing is open.
    """
    return _bound(sample, upper=False)


def score_upper_bound(sample: Sample) -> Value:
    """Best case: failed trials count as 0, every trial whose score is unknown counts as 100.

    Source: bounds without assumptions (Manski 1989).
    """
    return _bound(sample, upper=True)


def resolved_share(sample: Sample) -> Value:
    """Share of graded trials in which every execution check passed, in percent.

    A trial is graded when its hidden tests and every other check were run to a verdict about the patch.
    """
    graded = [trial.resolved for trial in sample.trials if trial.resolved is not None]
    if not graded:
        return Value(None, 0, sample.planned, "no hidden tests were run")
    shares = per_task(sample.trials, _passed)
    # Where a task was tried several times its trials are no independent draws.
    passes = (sum(graded), len(graded)) if len(shares) == len(graded) else None
    bounds = mean_bounds(
        [HIGHEST_SCORE * passed for passed in graded],
        sample.planned - len(graded),
        lowest=LOWEST_SCORE,
        highest=HIGHEST_SCORE,
    )
    spread = Spread(shares, Kind.SHARE, passes, bounds)
    return Value(100 * sum(graded) / len(graded), len(graded), sample.planned, spread=spread)


def _passed(trial: TrialFacts) -> float | None:
    return None if trial.resolved is None else HIGHEST_SCORE * trial.resolved


def _scores_spread(sample: Sample, *, zeros: bool) -> Spread:
    def points(trial: TrialFacts) -> float | None:
        """A trial's score; 0 for a failed one where failures count as 0."""
        return 0.0 if zeros and trial.state is ScoreState.FAILED else trial.score

    return Spread(
        per_task(sample.trials, points), Kind.SCORE, bounds=_open_bounds(sample), zeros=sample.failed
    )


def _open_bounds(sample: Sample) -> Bounds | None:
    known = sample.scores + [0.0] * sample.failed
    return mean_bounds(known, sample.open, lowest=LOWEST_SCORE, highest=HIGHEST_SCORE)


def _over_scores(sample: Sample, reduce: Callable[[list[float]], float]) -> Value:
    scores = sample.scores
    if not scores:
        return Value(None, 0, sample.planned, "no trial was scored")
    return Value(reduce(scores), len(scores), sample.planned)


def _bound(sample: Sample, *, upper: bool) -> Value:
    known = sample.scores + [0.0] * sample.failed
    bounds = _open_bounds(sample)
    if bounds is None or not any(trial.state is not ScoreState.UNSCORED for trial in sample.trials):
        return Value(None, 0, sample.planned, "no trial was scored or failed")
    return Value(bounds.upper if upper else bounds.lower, len(known), sample.planned)
