"""Profiles: mean scores by artifact, by criterion and by complexity tier."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from functools import partial

from generators.statistics.bounds import mean_bounds
from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from generators.tables.sample import Sample, Value
from generators.tables.scores import mean_score
from generators.tables.spread import Kind, Spread, per_task
from runner.records import CRITERIA, ArtifactScore

CRITERION_MAXIMUM = 25
TIER_ORDER = ("trivial", "low", "medium", "high")
ARTIFACT_ORDER = ("github_issue", "lld", "review", "testing", "implementation")


def artifact_means(cell: Cell) -> dict[str, Value]:
    """Mean total (0..100) of each judged artifact over the scored trials that publish it."""
    names = {name for trial in cell.counted for scores in _scores(trial) for name in scores}
    order = [name for name in ARTIFACT_ORDER if name in names]
    order += sorted(names - set(ARTIFACT_ORDER))
    return {name: _mean(cell, partial(_artifact, name=name)) for name in order}


def criterion_means(cell: Cell) -> dict[str, Value]:
    """Mean of each criterion over all artifacts of the scored trials, as percent of its maximum of 25.

    A trial's value is the mean over its artifacts, so that every trial weighs the same. Source: the
    published quality radar.
    """
    return {name: _mean(cell, partial(_criterion, name=name)) for name in CRITERIA}


def tier_means(cell: Cell) -> dict[str, Value]:
    """Mean score per complexity tier, by the one filter: scored trials only, n of m beside it."""
    tiers = {trial.complexity for trial in cell.counted if trial.complexity is not None}
    found: dict[str, Value] = {}
    for tier in sorted(tiers, key=tier_rank):
        members = tuple(trial for trial in cell.counted if trial.complexity == tier)
        found[tier] = mean_score(Sample(members, len(members)))
    return found


def tier_rank(tier: str) -> tuple[int, str]:
    """Sorts tiers by difficulty; unknown names come last in alphabetical order."""
    return (TIER_ORDER.index(tier) if tier in TIER_ORDER else len(TIER_ORDER), tier)


def criterion_mean(cell: Cell, artifact: str, criterion: str) -> Value:
    """Mean points (0 to 25) of one criterion of one artifact, each trial counting once."""

    def points(trial: TrialFacts) -> float | None:
        """The mean of one trial over its judgements; None where none scored the artifact."""
        found = [int(getattr(each[artifact], criterion)) for each in _scores(trial) if artifact in each]
        return statistics.fmean(found) if found else None

    return _mean(cell, points, CRITERION_MAXIMUM)


def has_parts(cell: Cell) -> bool:
    """Whether any scored trial publishes scores by artifact."""
    return any(_scores(trial) for trial in cell.counted)


def _scores(trial: TrialFacts) -> list[dict[str, ArtifactScore]]:
    """Scores by artifact, one for each judgement that has them."""
    if trial.score is None:
        return []
    return [judgement.scores for judgement in trial.judgements if judgement.scores]


def _artifact(trial: TrialFacts, name: str) -> float | None:
    totals = [scores[name].total for scores in _scores(trial) if name in scores]
    return statistics.fmean(totals) if totals else None


def _criterion(trial: TrialFacts, name: str) -> float | None:
    parts = [int(getattr(score, name)) for scores in _scores(trial) for score in scores.values()]
    return statistics.fmean(100 * part / CRITERION_MAXIMUM for part in parts) if parts else None


def _mean(cell: Cell, measure: Callable[[TrialFacts], float | None], highest: float = 100.0) -> Value:
    amounts: Iterable[float | None] = (measure(trial) for trial in cell.counted)
    known = [amount for amount in amounts if amount is not None]
    if not known:
        return Value(None, 0, cell.sample.planned, "scores by part were not published")
    # A failed trial counts as 0 here as it does in the bounds of the score; only the others are open.
    failed = cell.sample.failed
    open_count = cell.sample.planned - len(known) - failed
    bounds = mean_bounds([*known, *[0.0] * failed], open_count, lowest=0.0, highest=highest)
    spread = Spread(per_task(cell.counted, measure), Kind.SCORE, bounds=bounds, highest=highest, zeros=failed)
    return Value(statistics.fmean(known), len(known), cell.sample.planned, spread=spread)
