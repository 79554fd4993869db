"""Dated text: sentences of records that name dollars, with what these rest on and their day."""

from __future__ import annotations

import re

from generators.pages import words
from generators.pages.table import Entry
from generators.tables.cells import Cell
from generators.tables.dollars import Priced
from generators.tables.facts import TrialFacts
from runner.records import CostBasis

DOLLARS = re.compile(r"\$\s?\d|\d\s?USD\b|\bUSD\s?\d")
SWEPT = Priced(CostBasis.HARDWARE_DERIVED, undated=True)
"""Of machine prices that the source of a sweep used; none says of which day they are."""


def rests_on(text: str, priced: Priced | None) -> str:
    """What the dollars in ``text`` rest on and their day; empty where it names none."""
    return words.priced(priced) if DOLLARS.search(text) else ""


def found_entry(text: str, priced: Priced | None) -> Entry:
    """What was found, with what its dollars rest on below it."""
    return Entry(text, note=rests_on(text, priced))


def as_recorded(trial: TrialFacts | None) -> Priced | None:
    """What the dollars that a trial's record holds rest on; None where it holds none."""
    if trial is None:
        return None
    costs = [cost for cost in trial.record.costs if cost.amount_usd is not None]
    day = None if not costs else costs[0].price_as_of or trial.run_date
    return Priced(costs[0].basis, day, day, undated=day is None) if costs else None


def of_task(cell: Cell, task: str | None) -> Priced | None:
    """What the recorded dollars of a task of a cell rest on; without a task those of its first trial."""
    own = (trial for trial in cell.trials if task in {None, trial.task})
    return as_recorded(next(own, None))


def price_days(priced: Priced | None) -> str:
    """The days of the prices alone, where the basis is told already; empty where there is no amount."""
    return "" if priced is None else words.priced(priced).partition(", ")[2]
