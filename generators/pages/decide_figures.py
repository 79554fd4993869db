"""Decide figures: what the home page says of one candidate, whatever is asked, and how it writes limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.escape.html import Json
from generators.pages import words
from generators.pages.interval_words import sureness
from generators.statistics.frontier import FEW_TASKS
from generators.statistics.planner import FEWEST_TASKS
from generators.statistics.verdict import Kind
from generators.tables.choices import Candidate, Choices
from generators.tables.decision import Hold
from generators.tables.sample import Unit
from runner.records import CostBasis


@dataclass(frozen=True)
class Told:
    """The candidates as the page names them, by their places."""

    choices: Choices
    names: Sequence[str]
    hrefs: Sequence[str]
    flags: Sequence[tuple[str, str] | None]
    """The mark of costs that disagree: what it says and where it leads."""
    commands: Sequence[str]
    caveats: Sequence[Sequence[Json]] = ()
    """What weakens every answer of the board: sentences, as text and links."""

    def link(self, at: int) -> Json:
        """A candidate's name, which leads to its page."""
        return [self.names[at], self.hrefs[at]]

    def of(self, at: int) -> Candidate:
        """The candidate at a place."""
        return self.choices.candidates[at]

    def price(self, at: int, factor: float = 1.0) -> str:
        """What a candidate costs per task, or so many times that, with basis and day."""
        cost = self.of(at).cost
        if cost.amount is None:
            return words.NOT_PRICED
        return f"{words.dollars(factor * cost.amount)} ({words.priced(cost.priced)})"


def score(told: Told, at: int) -> str:
    """The mean with its n of m, as everywhere on the site."""
    figures = told.of(at).cell.figures
    value = figures["mean_score" if told.choices.kind is Kind.SCORE else "resolved_share"]
    if value.amount is None:
        return "not known"
    unit = Unit.POINTS if told.choices.kind is Kind.SCORE else Unit.PERCENT
    return f"{words.amount(value.amount, unit)} ({words.n_of_m(value)})"


def spread(told: Told, at: int) -> str:
    """Interval and bounds of the score."""
    quality = told.of(at).quality
    tasks = words.counted(quality.tasks, "task")
    if quality.lower is None or quality.upper is None:
        found = f"{tasks}: too few or too alike for an interval"
    else:
        found = f"95 % interval {quality.lower:.1f} to {quality.upper:.1f} over {tasks}"
    if quality.failed and quality.amount is not None:
        found += f"; {quality.amount:.1f} with failures as 0, which counts here"
    if quality.open and quality.worst is not None and quality.best is not None:
        trials = words.counted(quality.open, "trial")
        found += f"; {quality.worst:.1f} to {quality.best:.1f}, whatever {trials} without a score would give"
    return found


def likely(told: Told, at: int, held: Hold) -> str:
    """Probability of reaching the floor."""
    if held.probability is None:
        return f"no probability from {words.counted(told.of(at).quality.tasks, 'task')}"
    return f"probability {words.percent(held.probability)}"


def chance(told: Told, at: int, held: Hold) -> str:
    """The same, with what it is about and what it cannot do."""
    few = told.of(at).quality.tasks < FEWEST_TASKS
    alone = "" if held.probability is None else ", for this cell alone"
    return (
        likely(told, at, held) + alone + (f"; {FEWEST_TASKS} tasks are the fewest for a claim" if few else "")
    )


def cost_note(candidate: Candidate) -> str:
    """How sure the cost of a candidate is, and what it rests on."""
    sure = sureness(candidate.cost, Unit.DOLLARS)
    rests_on = words.priced(candidate.cost.priced)
    return f"{sure}; {rests_on}" if sure else rests_on


def minutes_note(candidate: Candidate) -> str:
    """n of m and how sure the minutes of a candidate are."""
    sure, count = sureness(candidate.minutes, Unit.MINUTES), words.n_of_m(candidate.minutes)
    return f"{count}; {sure}" if sure else count


def cost(told: Told, at: int) -> str:
    """Dollars per task with their n of m."""
    value = told.of(at).cost
    if value.amount is None:
        return words.NOT_PRICED
    return f"{words.dollars(value.amount)} ({words.n_of_m(value)})"


def membership(candidate: Candidate) -> str:
    """Probability of being on the frontier within the basis."""
    return "no point" if candidate.membership is None else words.percent(candidate.membership)


def across(told: Told, candidate: Candidate) -> str:
    """What the probability is about, and the same across bases, marked."""
    if candidate.membership is None or candidate.across is None:
        return "its cost or score is not known"
    several = len({each.basis for each in told.choices.candidates if each.membership is not None}) > 1
    wide = f"; {words.percent(candidate.across)} across bases, direction only" if several else ""
    few = f", untested below {FEW_TASKS} tasks" if candidate.quality.tasks < FEW_TASKS else ""
    return f"probability {among(candidate)}{few}{wide}"


def among(candidate: Candidate) -> str:
    """The frontier that the probability is about."""
    return f"among {words.basis_adjective(CostBasis(candidate.basis))} costs" if candidate.basis else ""


def number(amount: float) -> str:
    """A limit as the reader entered it: no more digits than needed."""
    return f"{amount:.2f}".rstrip("0").rstrip(".")
