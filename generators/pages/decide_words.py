"""Decide words: a decision as a reader sees it, in the very words that the page's script uses."""

from __future__ import annotations

from generators.escape.html import Json
from generators.pages import words
from generators.pages.decide_figures import (
    Told,
    across,
    among,
    chance,
    cost,
    cost_note,
    likely,
    membership,
    minutes_note,
    number,
    score,
    spread,
)
from generators.pages.interval_words import sureness
from generators.statistics.planner import MOST_TASKS
from generators.statistics.verdict import Kind, Word
from generators.tables.choices import Versus
from generators.tables.decision import Change, Decision, Hold, NextRun, Sureness, Why, Wish
from generators.tables.sample import Unit
from runner.records import Hosting

Sentence = list[Json]
"""Text, and links as pairs of text and address."""
CELL = "A cell is one model under one harness."
ANOTHER_BASIS = "Costs on different bases compare in direction only"


def view(told: Told, found: Decision, wish: Wish) -> dict[str, Json]:
    """The answer as plain data: sentences, facts and the rows of the shortlist."""
    at = found.answer
    return {
        "headline": headline(told, found, wish),
        "summary": summary(told, found),
        "facts": facts(told, at, found.holds[0], wish) if at is not None else [],
        "sure": list(_sure(told, found)),
        "changes": [_change(told, each, found.answer, wish) for each in found.changes],
        "run": list(_next(told, found, wish)),
        "commands": _commands(told, found),
        "rows": [_row(told, place, found) for place in range(len(found.fits))],
    }


def headline(told: Told, found: Decision, wish: Wish) -> Sentence:
    """What to take, or why there is nothing to take; "reaches" only where the data can show it."""
    if found.answer is not None:
        sure = found.holds[0].word is Sureness.CLEARS
        reach = f"that reaches {number(wish.floor)}" if sure else f"seen at {number(wish.floor)} or more"
        return [f"Cheapest {reach}: " if wish.floor > 0 else "Cheapest: ", told.link(found.answer)]
    if found.unpriced:
        count = len(found.unpriced)
        fit = "1 cell does" if count == 1 else f"{count} cells do"
        return [f"{fit} what you ask, but at a cost that is not known, so none is the cheapest: "] + [
            part for each in found.unpriced[:3] for part in (told.link(each), " ")
        ]
    if found.nearest is None:
        return ["No cell here does all you ask, and none has a score."]
    short = [_shortfall(told, found.nearest, each, wish) for each in found.why[found.nearest]]
    return [
        "No cell here does all you ask. Nearest: ",
        told.link(found.nearest),
        f": {'; '.join(short)}.",
    ]


def summary(told: Told, found: Decision) -> str:
    """How many cells do what is asked."""
    total = len(told.choices.candidates)
    unpriced = f", {len(found.unpriced)} more at an unknown cost" if found.unpriced else ""
    said = f"{len(found.fits)} of {words.counted(total, 'cell')} do what you ask{unpriced}. {CELL}"
    return said + apart(len(told.choices.board.set_apart))


def apart(count: int) -> str:
    """How many cells of the dataset must not be compared with these."""
    if count == 0:
        return ""
    are = "is" if count == 1 else "are"
    return f" {words.counted(count, 'cell')} {are} set apart: another judge, rubric or dataset version."


def facts(told: Told, at: int, held: Hold, wish: Wish) -> list[Json]:
    """Name, text, note and mark of each figure of the answer."""
    candidate = told.of(at)
    minutes = candidate.minutes
    took = (
        f"{words.amount(minutes.amount, Unit.MINUTES)} ({words.n_of_m(minutes)})"
        if minutes.amount is not None
        else "not known"
    )
    flag = told.flags[at]
    shown: list[Json] = [
        ["Score" if told.choices.kind is Kind.SCORE else "Resolved", score(told, at), spread(told, at), None],
        [f"Reaches {number(wish.floor)}?", held.word.value, chance(told, at, held), None],
        ["Cost per task", cost(told, at), cost_note(candidate), list(flag) if flag else None],
        ["Minutes per task", took, sureness(minutes, Unit.MINUTES), None],
        ["On the frontier", membership(candidate), across(told, candidate), None],
        ["Model hosting", words.hosting(Hosting(candidate.hosting)), candidate.cell.identity.provider, None],
    ]
    return shown


def _shortfall(told: Told, at: int, why: Why, wish: Wish) -> str:
    candidate = told.of(at)
    amount, minutes = candidate.quality.amount or 0.0, candidate.minutes.amount or 0.0
    dollars = candidate.cost.amount or 0.0
    match why:
        case Why.FLOOR:
            return f"{number(amount)} is {number(wish.floor - amount)} below the floor"
        case Why.BUDGET:
            return f"{told.price(at)} is {words.dollars(dollars - (wish.budget or 0.0))} over the budget"
        case Why.MINUTES:
            return f"{number(minutes)} minutes are {number(minutes - (wish.minutes or 0.0))} too many"
        case Why.SCORE_UNKNOWN:
            return "it has no score"
        case Why.COST_UNKNOWN:
            return "its cost is not known"
        case Why.MINUTES_UNKNOWN:
            return "its time is not known"
        case Why.HOSTING:
            return f"its model ran on: {words.hosting(Hosting(candidate.hosting))}"
        case Why.HARNESS:
            return f"it ran under {candidate.harness}"


def _sure(told: Told, found: Decision) -> list[Json]:
    """The verdict on the answer and each neighbour, and what else bears on it."""
    at = found.answer
    if at is None:
        return []
    lines: list[Json] = [["", *each] for each in told.caveats]
    for other in dict.fromkeys(each for each in (found.rival, found.near_miss) if each is not None):
        lines.append([*_versus(told, other, told.choices.versus(at, other))])
    if found.surely is not None and found.surely != at:
        lines.append(
            [
                "",
                "Cheapest that surely reaches the floor: ",
                told.link(found.surely),
                f", {told.price(found.surely)}.",
            ]
        )
    if found.surely is None:
        lines.append(["", "Of no cell on this list do the data show that it reaches the floor."])
    if len(found.cheapest_of_basis) > 1:
        line: Sentence = ["", f"{ANOTHER_BASIS}. The cheapest of each: "]
        for place, each in enumerate(found.cheapest_of_basis):
            line += ["; " if place else "", told.link(each), f" {told.price(each)}"]
        lines.append([*line, "."])
    return lines


def _versus(told: Told, other: int, pair: Versus | None) -> Sentence:
    """The word first, empty where there is none."""
    if pair is None or pair.verdict is None:
        return ["", "Against ", told.link(other), f": no verdict, {pair.reason if pair else 'no score'}."]
    verdict = pair.verdict
    favoured = {"first": pair.first, "second": pair.second}.get(verdict.favoured or "")
    decided = verdict.word is not Word.NOT_ENOUGH
    taken: Sentence = [] if favoured is None else [" In favour of ", told.link(favoured), "."]
    return [
        verdict.word.value,
        "Against ",
        told.link(other),
        f", {told.price(other)}: {verdict.explanation}.",
        *taken,
        f" {_capital(verdict.what_would_decide)}."
        if decided
        else f" To decide: {verdict.what_would_decide}.",
        _dearer(told, pair),
    ]


def _dearer(told: Told, pair: Versus) -> str:
    """Whether the data tell which of the two costs less."""
    if pair.cost is None:
        return " Which costs less is not tested: other bases, or a cost that is not known."
    if pair.costs_less is None:
        return f" Which costs less: {Word.NOT_ENOUGH.value}, {pair.cost.number}."
    return f" {told.names[pair.costs_less]} costs less: {pair.cost.number}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _change(told: Told, change: Change, answer: int | None, wish: Wish) -> Sentence:
    to: Sentence = ["nothing here fits."]
    if change.candidate is not None:
        to = [told.link(change.candidate), f" at {told.price(change.candidate)}."]
    at = change.at or 0.0
    match change.limit, change.raised:
        case Why.FLOOR, False:
            start = f"Floor {number(at)} or lower, {number(wish.floor - at)} less: "
        case Why.FLOOR, True:
            start = f"Floor above {number(at)}: "
        case Why.BUDGET, False:
            start = f"Budget below {told.price(answer) if answer is not None else ''}: "
        case Why.BUDGET, True:
            to = [told.link(change.candidate), "."] if change.candidate is not None else to
            start = (
                f"Budget of {told.price(change.candidate) if change.candidate is not None else ''} or more: "
            )
        case Why.MINUTES, False:
            start = f"Fewer than {number(at)} minutes: "
        case Why.MINUTES, True:
            start = f"{number(at)} minutes or more: "
        case Why.HOSTING, _:
            hosting = told.of(change.candidate).hosting if change.candidate is not None else ""
            start = f"Hosting by {words.hosting(Hosting(hosting))} allowed: "
        case _:
            harness = told.of(change.candidate).harness if change.candidate is not None else ""
            start = f"Harness {harness} instead: "
    return [start, *to]


def _next(told: Told, found: Decision, wish: Wish) -> list[Json]:
    at, rival = found.answer, found.rival
    if at is None:
        return []
    lines: list[Json] = []
    if found.separate is not None and rival is not None:
        pair = told.choices.versus(at, rival)
        what = pair.verdict.what_would_decide if pair and pair.verdict else ""
        line: Sentence = ["To separate ", told.link(at), " from ", told.link(rival), f": {what}"]
        lines.append([*line, f"; {_prices(told, found.separate)}." if found.separate.plan.more else "."])
        lines += [_trials(told, pair, found.separate)] if pair is not None else []
    if found.settle is not None:
        more = found.settle.plan.more
        text = f"no number of tasks up to {MOST_TASKS:,} will do."
        if more is not None:
            text = f"about {words.counted(more, 'more task')} with 80 % power; {_prices(told, found.settle)}."
        lines.append([f"To show on which side of {number(wish.floor)} ", told.link(at), f" lies: {text}"])
    if not lines:
        lines.append(["Nothing: what is asked here is decided by the data there are."])
    pair = told.choices.versus(at, rival) if rival is not None else None
    if pair is not None and pair.least is not None:
        lines.append(
            [f"These tasks could show a difference of {pair.least:.1f} points or more between the two."]
        )
    return lines


def _trials(told: Told, pair: Versus, run: NextRun) -> Sentence:
    """Whether more trials of the tasks there are would do in place of more tasks."""
    more = pair.trials.more
    if more is None or pair.verdict is None:
        return [f"More trials of the same tasks: {pair.trials.reason}."]
    tasks = pair.verdict.evidence.tasks
    prices = " and ".join(f"{told.price(at, more * tasks)} for {told.names[at]}" for at in run.candidates)
    return [f"More trials of the same tasks: {more} of each would do; {prices}."]


def _prices(told: Told, run: NextRun) -> str:
    return " and ".join(f"{told.price(at, run.plan.more or 0)} for {told.names[at]}" for at in run.candidates)


def _commands(told: Told, found: Decision) -> list[Json]:
    run = found.separate if found.separate is not None and found.separate.plan.more else found.settle
    if run is None or not run.plan.more:
        return []
    return [told.commands[at] for at in run.candidates]


def _row(told: Told, place: int, found: Decision) -> list[Json]:
    """One line of the shortlist: text, note and number of each column."""
    at, held = found.fits[place], found.holds[place]
    candidate = told.of(at)
    pair = told.choices.versus(found.fits[0], at) if place else None
    verdict = pair.verdict.word.value if pair is not None and pair.verdict is not None else ""
    minutes, flag = candidate.minutes, told.flags[at]
    return [
        [told.names[at], told.hrefs[at], candidate.cell.identity.provider],
        [score(told, at), spread(told, at), candidate.quality.amount],
        [held.word.value, likely(told, at, held), held.probability],
        [
            cost(told, at),
            cost_note(candidate),
            candidate.cost.amount,
            list(flag) if flag else None,
        ],
        [
            words.amount(minutes.amount, Unit.MINUTES) if minutes.amount is not None else "not known",
            minutes_note(candidate),
            minutes.amount,
        ],
        [words.hosting(Hosting(candidate.hosting)), ""],
        [membership(candidate), among(candidate), candidate.membership],
        [verdict or ("the answer" if place == 0 else "no verdict"), ""],
    ]
