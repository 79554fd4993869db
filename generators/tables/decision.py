"""Decision: the cheapest cell that does what a reader asks for, how sure that is, and what would change it.

The browser decides by the same rules (site_src/assets/decision.js); the same vectors are run against both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from scipy import special

from generators.statistics.planner import FEWEST_TASKS, Plan, plan_tasks
from generators.statistics.verdict import Word
from generators.tables.choices import Candidate, Choices, Quality, Versus
from runner.records import Hosting


class Why(StrEnum):
    """What a cell falls short of."""

    FLOOR = "floor"
    SCORE_UNKNOWN = "score unknown"
    BUDGET = "budget"
    COST_UNKNOWN = "cost unknown"
    MINUTES = "minutes"
    MINUTES_UNKNOWN = "minutes unknown"
    HOSTING = "hosting"
    HARNESS = "harness"


class Sureness(StrEnum):
    """What the data say of a cell and a floor."""

    CLEARS = "clears it"
    MISSES = "misses it"
    NOT_ENOUGH = "not enough data"


@dataclass(frozen=True)
class Wish:
    """What a reader asks for; None asks for nothing."""

    floor: float = 0.0
    """Least quality, from 0 to 100."""
    budget: float | None = None
    """Most US dollars per task."""
    minutes: float | None = None
    """Most minutes per task."""
    hosting: frozenset[str] | None = None
    """Who may run the model's machines."""
    harness: str | None = None
    private: bool = False
    """The code must not leave the reader's machines: only models that are self-hosted."""

    @property
    def allowed(self) -> frozenset[str] | None:
        """Hosting that is allowed; None where any is, even one that is not known."""
        own = frozenset({Hosting.SELF_HOSTED.value})
        if not self.private:
            return self.hosting
        return own if self.hosting is None else own & self.hosting


@dataclass(frozen=True)
class Hold:
    """How sure it is that a cell clears the floor."""

    word: Sureness
    probability: float | None
    """That its true mean is at least the floor; None where the data tell nothing of chance."""


@dataclass(frozen=True)
class Change:
    """One limit that, moved to ``at``, changes the answer to ``candidate``; None: to no answer."""

    limit: Why
    raised: bool
    """Whether the limit is moved up, for hosting and harness given up."""
    at: float | None
    candidate: int | None


@dataclass(frozen=True)
class NextRun:
    """Tasks to run, for one or two candidates, and what each of them would cost."""

    candidates: tuple[int, ...]
    plan: Plan
    prices: tuple[float | None, ...]
    """US dollars of each candidate, on its own basis; never added up across bases."""


@dataclass(frozen=True)
class Decision:
    """The shortlist and all that belongs to it. Numbers are places among the candidates."""

    fits: tuple[int, ...]
    """Cells that do all that is asked, cheapest first."""
    unpriced: tuple[int, ...]
    """Cells that would, but whose cost is unknown, so that they are neither cheap nor dear."""
    why: tuple[tuple[Why, ...], ...]
    """Of each candidate, what it falls short of."""
    cheapest_of_basis: tuple[int, ...]
    """The first of the shortlist on each cost basis."""
    holds: tuple[Hold, ...]
    """Of each of ``fits``."""
    surely: int | None
    """The cheapest whose interval and bounds lie wholly at or above the floor."""
    rival: int | None
    """Whom the answer is held against: the next on the list, or else the cheaper one that just misses."""
    near_miss: int | None
    """Among cells that miss nothing but the floor, and are cheaper than the answer, the best."""
    nearest: int | None
    """Where nothing fits: the cell that falls short of least."""
    changes: tuple[Change, ...]
    separate: NextRun | None
    """What would part the answer and its rival."""
    settle: NextRun | None
    """What would show on which side of the floor the answer lies."""

    @property
    def answer(self) -> int | None:
        """The cheapest that fits."""
        return self.fits[0] if self.fits else None


def decide(choices: Choices, wish: Wish) -> Decision:
    """What to take. Unknown costs and minutes satisfy no limit, and an unknown cost is never the cheapest."""
    candidates = choices.candidates
    why = tuple(_shortcomings(each, wish) for each in candidates)
    fits = tuple(sorted((at for at in _with(why, ()) if _known(candidates, at)), key=_cheapest(candidates)))
    answer = fits[0] if fits else None
    holds = tuple(hold(candidates[at].quality, wish.floor) for at in fits)
    misses = [at for at in _with(why, (Why.FLOOR,)) if _cheaper(candidates, at, answer)]
    near_miss = min(misses, key=lambda at: (-_score(candidates, at), _cost(candidates, at), at), default=None)
    rival = fits[1] if len(fits) > 1 else near_miss if answer is not None else None
    first_of: dict[str | None, int] = {}
    for at in fits:
        first_of.setdefault(candidates[at].basis, at)
    return Decision(
        fits=fits,
        unpriced=tuple(at for at in _with(why, ()) if not _known(candidates, at)),
        why=why,
        cheapest_of_basis=tuple(first_of.values()),
        holds=holds,
        surely=next((at for at, each in zip(fits, holds, strict=True) if each.word is Sureness.CLEARS), None),
        rival=rival,
        near_miss=near_miss,
        nearest=_nearest(candidates, why) if answer is None else None,
        changes=tuple(_changes(candidates, why, fits, near_miss)),
        separate=_separate(choices, answer, rival),
        settle=_settle(candidates, answer, wish.floor, holds),
    )


def hold(quality: Quality, floor: float) -> Hold:
    """How sure it is that a cell clears the floor.

    It clears, or misses, where the 95 % interval over at least six tasks lies wholly on one side and the open
    trials cannot undo it; all else is not enough data. The probability is Student's t of the distance in
    standard errors with n - 1 degrees, which is the posterior under a flat prior (Jeffreys 1961); for shares
    of tasks tried once, that of Beta(1 + passed, 1 + failed) (arXiv 2503.01747). It is about this cell alone,
    as if it had not been picked among many.
    """
    chance = _chance(quality, floor)
    lower, upper = quality.lower, quality.upper
    if quality.tasks < FEWEST_TASKS or lower is None or upper is None:
        return Hold(Sureness.NOT_ENOUGH, chance)
    if lower >= floor and (quality.worst is None or quality.worst >= floor):
        return Hold(Sureness.CLEARS, chance)
    if upper < floor and (quality.best is None or quality.best < floor):
        return Hold(Sureness.MISSES, chance)
    return Hold(Sureness.NOT_ENOUGH, chance)


def _chance(quality: Quality, floor: float) -> float | None:
    if quality.passed is not None:
        share = min(1.0, max(0.0, floor / 100))
        return float(special.betainc(1 + quality.tasks - quality.passed, 1 + quality.passed, 1 - share))
    if quality.error is None or quality.centre is None:
        return None
    return float(special.stdtr(quality.tasks - 1, (quality.centre - floor) / quality.error))


def _shortcomings(candidate: Candidate, wish: Wish) -> tuple[Why, ...]:
    found = []
    score, cost, minutes = candidate.quality.amount, candidate.cost.amount, candidate.minutes.amount
    if score is None:
        found.append(Why.SCORE_UNKNOWN)
    elif score < wish.floor:
        found.append(Why.FLOOR)
    if wish.budget is not None and cost is None:
        found.append(Why.COST_UNKNOWN)
    elif wish.budget is not None and cost is not None and cost > wish.budget:
        found.append(Why.BUDGET)
    if wish.minutes is not None and minutes is None:
        found.append(Why.MINUTES_UNKNOWN)
    elif wish.minutes is not None and minutes is not None and minutes > wish.minutes:
        found.append(Why.MINUTES)
    if wish.allowed is not None and candidate.hosting not in wish.allowed:
        found.append(Why.HOSTING)
    if wish.harness is not None and candidate.harness != wish.harness:
        found.append(Why.HARNESS)
    return tuple(found)


def _changes(
    candidates: tuple[Candidate, ...],
    why: tuple[tuple[Why, ...], ...],
    fits: tuple[int, ...],
    near_miss: int | None,
) -> Iterable[Change]:
    """Every single limit that, moved alone, changes the answer, and the least move that does."""
    answer = fits[0] if fits else None
    if near_miss is not None:
        yield Change(Why.FLOOR, False, candidates[near_miss].quality.amount, near_miss)
    if answer is not None:
        top, slow = _score(candidates, answer), candidates[answer].minutes.amount
        yield Change(Why.FLOOR, True, top, next((at for at in fits if _score(candidates, at) > top), None))
        yield Change(Why.BUDGET, False, candidates[answer].cost.amount, None)
        if slow is not None:
            faster = (
                at for at in fits if (took := candidates[at].minutes.amount) is not None and took < slow
            )
            yield Change(Why.MINUTES, False, slow, next(faster, None))
    cheapest = _cheapest(candidates)
    for limit in (Why.BUDGET, Why.MINUTES, Why.HOSTING, Why.HARNESS):
        others = [at for at in _with(why, (limit,)) if _cheaper(candidates, at, answer)]
        if not others:
            continue
        if limit is Why.MINUTES:
            best = min(others, key=lambda at: (candidates[at].minutes.amount or 0.0, *cheapest(at)))
            yield Change(limit, True, candidates[best].minutes.amount, best)
        else:
            best = min(others, key=cheapest)
            yield Change(limit, True, candidates[best].cost.amount if limit is Why.BUDGET else None, best)


def _nearest(candidates: tuple[Candidate, ...], why: tuple[tuple[Why, ...], ...]) -> int | None:
    """The cell with fewest shortcomings, of those the best and then the cheapest; none without a score."""

    def order(at: int) -> tuple[int, float, float, int]:
        """Fewest shortcomings, then the best score, then the lowest cost, then the first."""
        return len(why[at]), -_score(candidates, at), _cost(candidates, at), at

    scored = [at for at, each in enumerate(candidates) if each.quality.amount is not None]
    return min(scored, key=order, default=None)


def _separate(choices: Choices, answer: int | None, rival: int | None) -> NextRun | None:
    pair = choices.versus(answer, rival) if answer is not None and rival is not None else None
    if answer is None or rival is None or not _is_open(pair):
        return None
    plan = pair.verdict.plan if pair is not None and pair.verdict is not None else None
    return _priced(choices.candidates, (answer, rival), plan) if plan is not None else None


def _is_open(pair: Versus | None) -> bool:
    return pair is not None and pair.verdict is not None and pair.verdict.word is Word.NOT_ENOUGH


def _settle(
    candidates: tuple[Candidate, ...], answer: int | None, floor: float, holds: tuple[Hold, ...]
) -> NextRun | None:
    if answer is None or holds[0].word is not Sureness.NOT_ENOUGH:
        return None
    quality = candidates[answer].quality
    if quality.error is None or quality.centre is None:
        return None
    spread = quality.error * math.sqrt(quality.tasks)
    plan = plan_tasks(quality.centre - floor, spread, quality.tasks)
    # Where the tasks would do but chance or open trials kept it undecided, one more is the least.
    return _priced(candidates, (answer,), replace(plan, more=1) if plan.more == 0 else plan)


def _priced(candidates: tuple[Candidate, ...], places: tuple[int, ...], plan: Plan) -> NextRun:
    costs = [candidates[at].cost.amount for at in places]
    more = plan.more
    prices = tuple(None if cost is None or more is None else more * cost for cost in costs)
    return NextRun(places, plan, prices)


def _with(why: tuple[tuple[Why, ...], ...], exactly: tuple[Why, ...]) -> list[int]:
    return [at for at, each in enumerate(why) if each == exactly]


def _known(candidates: tuple[Candidate, ...], at: int) -> bool:
    return candidates[at].cost.amount is not None


def _cheaper(candidates: tuple[Candidate, ...], at: int, than: int | None) -> bool:
    """Whether a cell with a known cost comes before another on a shortlist; any does before none."""
    order = _cheapest(candidates)
    return _known(candidates, at) and (than is None or order(at) < order(than))


def _cheapest(candidates: tuple[Candidate, ...]) -> Callable[[int], tuple[float, float, int]]:
    return lambda at: (_cost(candidates, at), -_score(candidates, at), at)


def _cost(candidates: tuple[Candidate, ...], at: int) -> float:
    amount = candidates[at].cost.amount
    return math.inf if amount is None else amount


def _score(candidates: tuple[Candidate, ...], at: int) -> float:
    amount = candidates[at].quality.amount
    return -math.inf if amount is None else amount
