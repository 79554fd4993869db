"""Verdict: one word per pair of cells, the number that decided it, and what would decide it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from generators.statistics.bounds import Bounds
from generators.statistics.clusters import clustered_mean
from generators.statistics.intervals import Interval
from generators.statistics.multiplicity import holm, holm_factors, p_text
from generators.statistics.paired import (
    Floats,
    adjusted_interval,
    mcnemar,
    paired_differences,
    paired_t,
    sign_flip,
)
from generators.statistics.planner import FEWEST_TASKS, SIGNIFICANCE, Plan, plan_equivalence, plan_tasks

MARGIN = 5.0
"""Points of score, or percent of tasks resolved, that two cells may differ by and still be called a tie."""
SCALE = 100.0


class Word(StrEnum):
    """The only three things that a comparison may say."""

    BETTER = "better"
    TIE = "tie: take the cheaper"
    NOT_ENOUGH = "not enough data"


class Kind(StrEnum):
    """What the values of a pair are, both from 0 to 100."""

    SCORE = "score"
    """Judge scores."""
    CHECK = "check"
    """Percent of a task's trials that passed their checks."""


class Deciding(StrEnum):
    """Which number decided."""

    TASKS = "common tasks"
    P_VALUE = "adjusted p"
    INTERVAL_END = "far end of the interval"


@dataclass(frozen=True)
class Pair:
    """Two cells on the same tasks in the same order; NaN where unknown."""

    first: Sequence[float] | Floats
    second: Sequence[float] | Floats
    kind: Kind = Kind.SCORE
    first_cost: float | None = None
    """Dollars per task; both on one basis, or both None."""
    second_cost: float | None = None
    bounds: Bounds | None = None
    """Of first minus second, where trials are missing or failed on our side."""
    clusters: Sequence[str] | None = None
    """Of each task, such as its repository; None where all are independent."""


@dataclass(frozen=True)
class Evidence:
    """What the common tasks tell about a pair. Differences are first minus second."""

    interval: Interval | None
    p_value: float | None
    """None where the data carry no test."""
    test: str
    spread: float | None
    """Standard deviation of the differences, for planning; for checks with half a task added each way."""
    tasks: int
    note: str = ""
    """What weakens it, such as tasks of one repository only."""


@dataclass(frozen=True)
class Verdict:
    """The word, who it favours, and why."""

    word: Word
    favoured: str | None
    """``first`` or ``second``: the better one, or in a tie the cheaper; None where none can be named."""
    deciding: Deciding
    deciding_number: float
    limit: float
    """What the number was held against."""
    explanation: str
    what_would_decide: str
    plan: Plan | None
    """Tasks to add where more data would decide, with their price."""
    evidence: Evidence
    against: int = 1
    """Pairs of its table that it is held against: its p must fall below 0.05 by this number for a claim."""

    @property
    def significance(self) -> float:
        """Limit of its own p, not adjusted: what plans and powers must ask for to keep their word."""
        return SIGNIFICANCE / self.against


def gather(pair: Pair) -> Evidence:
    """Interval and p of a pair.

    Passes and failures: the adjusted interval and exact McNemar; with several trials a task, the sign-flip
    test over tasks in its place. Judge scores: the paired t interval and its p; where that is below 0.05, the
    larger of it and of the p of the sign-flip test, so that a claim needs neither normal nor symmetric
    differences alone. Where tasks come in clusters, the clustered p and interval take over if they are wider.
    """
    differences = paired_differences(pair.first, pair.second)
    if len(differences) == 0:
        return Evidence(None, None, "none", None, 0)
    found = _of_checks(differences) if pair.kind is Kind.CHECK else _of_scores(differences)
    return found if pair.clusters is None else _with_clusters(found, differences, pair)


def _of_checks(differences: Floats) -> Evidence:
    count = len(differences)
    interval = adjusted_interval(differences, scale=SCALE)
    centre = float(differences.sum()) / (count + 2)
    spread = math.sqrt(max(0.0, (float((differences**2).sum()) + SCALE**2) / (count + 2) - centre**2))
    if bool(np.isin(differences, (-SCALE, 0.0, SCALE)).all()):
        p_value = mcnemar(int((differences > 0).sum()), int((differences < 0).sum()))
        return Evidence(interval, p_value, "exact McNemar", spread, count)
    return Evidence(interval, sign_flip(differences).p_value, "sign-flip", spread, count)


def _of_scores(differences: Floats) -> Evidence:
    count, student = len(differences), paired_t(differences)
    interval = student.interval if student else None
    spread = float(differences.std(ddof=1)) if count > 1 else None
    by_t = student.p_value if student else None
    if by_t is not None and by_t >= SIGNIFICANCE:
        return Evidence(interval, by_t, "paired t", spread, count)
    flipped = sign_flip(differences).p_value
    # Differences that are all alike have no t; what their signs say stands.
    if by_t is None or flipped > by_t:
        return Evidence(interval, flipped, "sign-flip", spread, count)
    return Evidence(interval, by_t, "paired t", spread, count)


def _with_clusters(found: Evidence, differences: Floats, pair: Pair) -> Evidence:
    known = ~(np.isnan(np.asarray(pair.first)) | np.isnan(np.asarray(pair.second)))
    names = [name for name, its in zip(pair.clusters or (), known, strict=True) if its]
    clustered = clustered_mean(list(differences), names)
    if clustered is None or clustered.p_value is None:
        return replace(found, note=clustered.note if clustered else "")
    note = f"{clustered.clusters} clusters"
    if found.p_value is not None and clustered.p_value <= found.p_value:
        return replace(found, note=note)
    return replace(
        found, interval=clustered.interval, p_value=clustered.p_value, test="clustered t", note=note
    )


@dataclass(frozen=True)
class Weighed:
    """Evidence with its p-value adjusted for the table it stands in."""

    evidence: Evidence
    adjusted_p: float | None
    """None where the pair can claim nothing."""
    family: int
    """Pairs of the table that could claim something."""
    against: int = 1
    """Those of them that it is held against: Holm's factor; for a pair that could not claim anything yet, the
    undecided ones and itself."""

    def word(self, margin: float = MARGIN) -> Word:
        """Better: adjusted p below 0.05 and an interval without zero. Tie: the interval within the margin."""
        interval = self.evidence.interval
        if self.evidence.tasks < FEWEST_TASKS or interval is None:
            return Word.NOT_ENOUGH
        p_value = 1.0 if self.adjusted_p is None else self.adjusted_p
        if p_value < SIGNIFICANCE and not _holds_zero(interval):
            return Word.BETTER
        far = _far_end(interval)
        return Word.TIE if far is not None and far <= margin else Word.NOT_ENOUGH


def weigh(pairs: Sequence[Pair]) -> list[Weighed]:
    """Evidence of each pair of a table, p-values adjusted for their number by Holm's rule.

    Pairs with fewer than six common tasks can claim nothing and do not count towards the number.
    """
    found = [gather(pair) for pair in pairs]
    able = [
        index for index, each in enumerate(found) if each.tasks >= FEWEST_TASKS and each.p_value is not None
    ]
    p_values = [found[index].p_value or 0.0 for index in able]
    adjusted = dict(zip(able, holm(p_values), strict=True))
    factors = dict(zip(able, holm_factors(p_values), strict=True))
    joining = 1 + sum(each >= SIGNIFICANCE for each in adjusted.values())
    return [
        Weighed(each, adjusted.get(index), len(able), factors.get(index, joining))
        for index, each in enumerate(found)
    ]


def verdicts(pairs: Sequence[Pair], *, margin: float = MARGIN) -> list[Verdict]:
    """One verdict for each pair of a table; any claim of it is wrong in at most 5 % of cases."""
    return [
        replace(_explain(pair, weighed, margin), against=weighed.against)
        for pair, weighed in zip(pairs, weigh(pairs), strict=True)
    ]


def verdict(pair: Pair, *, margin: float = MARGIN) -> Verdict:
    """The verdict on a pair that is compared alone; for several use ``verdicts``.

    With fewer than six common tasks: not enough data. Better: adjusted p below 0.05 and an interval without
    zero. Tie: the whole 95 % interval within the margin (equivalence; Schuirmann 1987, at half its level).
    Otherwise: not enough data.
    """
    return verdicts([pair], margin=margin)[0]


def _explain(pair: Pair, weighed: Weighed, margin: float) -> Verdict:
    evidence, family = weighed.evidence, weighed.family
    count, interval = evidence.tasks, evidence.interval
    word = weighed.word(margin)
    if count < FEWEST_TASKS or interval is None:
        why = (
            f"{count} common {_plural(count, 'task')}: with fewer than {FEWEST_TASKS} no two-sided "
            f"paired test can fall below {SIGNIFICANCE}"
        )
        return _open(pair, weighed, (Deciding.TASKS, float(count), float(FEWEST_TASKS)), why, margin)
    p_value = 1.0 if weighed.adjusted_p is None else weighed.adjusted_p
    if word is Word.BETTER:
        return _better(pair, evidence, interval, p_value, family)
    far = _far_end(interval)
    if word is Word.TIE and far is not None:
        return _tie(pair, evidence, far, margin)
    among = f", adjusted for {family} pairs," if family > 1 else ""
    why = f"p {p_text(p_value)}{among} is not below {SIGNIFICANCE}"
    if p_value < SIGNIFICANCE:
        why = f"p {p_text(p_value)}{among} would do, but the interval holds zero"
    if far is not None:
        why += f", and the interval reaches {far:.1f} points, beyond the {margin:g} of a tie"
    return _open(pair, weighed, (Deciding.P_VALUE, p_value, SIGNIFICANCE), why, margin)


def _better(pair: Pair, evidence: Evidence, interval: Interval, p_value: float, family: int) -> Verdict:
    favoured = "first" if interval.estimate > 0 else "second"
    among = f", adjusted for {family} pairs" if family > 1 else ""
    points = f"{abs(interval.estimate):.1f} points on {evidence.tasks} common tasks"
    sure = f"{points}; p {p_value:.3g} by {evidence.test}{among}"
    open_trials = pair.bounds.open if pair.bounds is not None else 0
    if pair.bounds is None or open_trials == 0:
        more = f"decided on these tasks; {evidence.note or 'other tasks may differ'}"
    elif pair.bounds.lower <= 0 <= pair.bounds.upper:
        more = f"{open_trials} missing {_plural(open_trials, 'trial')} could still undo it: run them"
    else:
        more = f"decided whatever the {open_trials} missing {_plural(open_trials, 'trial')} would give"
    return Verdict(Word.BETTER, favoured, Deciding.P_VALUE, p_value, SIGNIFICANCE, sure, more, None, evidence)


def _tie(pair: Pair, evidence: Evidence, far: float, margin: float) -> Verdict:
    cheaper = _cheaper(pair)
    within = f"the difference is within {far:.1f} points on {evidence.tasks} common tasks"
    sure = f"{within}; up to {margin:g} is a tie"
    if cheaper is None:
        more = "which one is cheaper: costs are unknown, equal or of different bases"
    else:
        more = "decided within the margin; a smaller margin would need more tasks"
    return Verdict(Word.TIE, cheaper, Deciding.INTERVAL_END, far, margin, sure, more, None, evidence)


def _open(
    pair: Pair,
    weighed: Weighed,
    decided: tuple[Deciding, float, float],
    why: str,
    margin: float,
) -> Verdict:
    plan, more = _next_run(pair, weighed, margin)
    return Verdict(Word.NOT_ENOUGH, None, *decided, why, more, plan, weighed.evidence)


def _next_run(pair: Pair, weighed: Weighed, margin: float) -> tuple[Plan | None, str]:
    """The cheaper of two ways out: to show the difference seen, or to show that it is within the margin.

    The difference has to be shown among all pairs that this one is held against.
    """
    evidence = weighed.evidence
    interval, spread = evidence.interval, evidence.spread
    if interval is None or spread is None or (spread == 0.0 and evidence.tasks < FEWEST_TASKS):
        short = max(0, FEWEST_TASKS - evidence.tasks)
        return Plan(short, _price(pair, short)), f"at least {short} more common {_plural(short, 'task')}"
    price = _price(pair, 1)
    apart = plan_tasks(
        interval.estimate,
        spread,
        evidence.tasks,
        cost_per_task=price,
        significance=SIGNIFICANCE / weighed.against,
    )
    alike = plan_equivalence(interval.estimate, spread, evidence.tasks, margin, cost_per_task=price)
    shown = f"to show a difference of {abs(interval.estimate):.1f} points with 80 % power"
    same = f"to show a tie within {margin:g} points"
    ways = [(plan, text) for plan, text in ((apart, shown), (alike, same)) if plan.more is not None]
    if not ways:
        return replace(apart, cost_usd=None), f"more tasks would not settle it: {apart.reason}"
    # Where one of the two numbers is zero, chance alone kept the verdict open: one more task is the least.
    plan, text = min(ways, key=lambda way: way[0].more or 0)
    least = plan if plan.more else Plan(1, price, plan.reason)
    return least, f"about {least.more} more common {_plural(least.more or 0, 'task')} {text}"


def _price(pair: Pair, tasks: int) -> float | None:
    if pair.first_cost is None or pair.second_cost is None:
        return None
    return tasks * (pair.first_cost + pair.second_cost)


def _cheaper(pair: Pair) -> str | None:
    if pair.first_cost is None or pair.second_cost is None or pair.first_cost == pair.second_cost:
        return None
    return "first" if pair.first_cost < pair.second_cost else "second"


def _holds_zero(interval: Interval) -> bool:
    """Whether zero lies inside; where all differences are alike there are no ends, and their sign decides."""
    if interval.lower is None or interval.upper is None:
        return interval.estimate == 0.0
    return interval.lower <= 0 <= interval.upper


def _far_end(interval: Interval) -> float | None:
    """Distance from zero of the farther end; without ends unknown."""
    if interval.lower is None or interval.upper is None:
        return None
    return max(abs(interval.lower), abs(interval.upper))


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
