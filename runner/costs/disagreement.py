"""Disagreement: the named classes of why two money figures differ, each with the test that decides it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

AGREES_WITHIN = 0.05
"""Two figures this close agree: below it lie rounding, a late top-up and list prices of two days."""
FITS_WITHIN = 0.0001
"""A price list fits an amount this close: published dollars that follow a list do so to the cent."""
SMALL_EXCESS = 0.002
"""Dollars above their own price list by less than this are rounding; the smallest real excess is larger."""
UNIT_WITHIN = 0.01
"""How near a power of ten a ratio must be: a wrong unit gives it exactly, chance seldom does."""
UNIT_POWERS = (-6, -3, -2, -1, 1, 2, 3, 6)
"""Tens, cents, thousands and millions: the units that token prices are quoted in."""
SHARED_BY = 2
"""Trials that must show one ratio before it is taken for a price list: one alone may be chance."""
BAND, FIT, UNIT_BAND = (f"{100 * share:g} %" for share in (AGREES_WITHIN, FITS_WITHIN, UNIT_WITHIN))
"""``AGREES_WITHIN``, ``FITS_WITHIN`` and ``UNIT_WITHIN`` as pages write them."""
DELEGATING_SKILLS = frozenset({"swe2"})
"""Skills whose prompt hands the work to subagents."""


class Agreement(StrEnum):
    """How far two figures agree, worst first."""

    BEYOND = "beyond"
    AGREES = "agrees"
    NOT_COMPARABLE = "not-comparable"
    ONE_WAY = "one-way"
    NO_AMOUNT = "no-amount"


class Reason(StrEnum):
    """Why figures differ, or why there is only one."""

    NOTIONAL = "notional-price"
    SUBAGENTS = "subagents"
    SESSIONS = "several-sessions"
    OTHER_LIST = "other-price-list"
    DEFAULT_PRICE = "default-price"
    MISSING_CACHE_CLASS = "missing-cache-class"
    UNIT = "unit-error"
    CREDITS_PLAN = "credits-at-another-rate"
    SERVER_COUNTS = "server-counted-more"
    FAILED_TASKS = "failed-tasks-included"
    UNEXPLAINED = "unexplained"
    SMALL_EXCESS = "small-excess"
    LAST_TURN = "last-turn-counts"
    CACHE_TWICE = "cache-counted-twice"
    ZERO_COST = "zero-cost-reported"
    NOT_REPORTED = "cost-not-reported"
    WITHOUT_TOKENS = "cost-without-tokens"
    CACHE_COUNTS_ABSENT = "cache-counts-absent"
    NOT_IN_BOOK = "price-not-in-book"
    CREDITS_ONLY = "credits-without-tokens"
    HARDWARE_ONLY = "hardware-derived-only"
    OTHER_HOURLY_RATE = "other-hourly-rate"
    BY_DESIGN = "no-cost-by-design"
    NO_SECOND_WAY = "no-second-way"


@dataclass(frozen=True)
class DisagreementClass:
    """A class as a page explains it: its title, one sentence, and the test that decides it."""

    title: str
    sentence: str
    test: str


AGREEMENT_WORDS: Mapping[Agreement, str] = {
    Agreement.BEYOND: f"differ by more than {BAND}",
    Agreement.AGREES: f"agree within {BAND}",
    Agreement.NOT_COMPARABLE: "rest on different bases",
    Agreement.ONE_WAY: "only one way is known",
    Agreement.NO_AMOUNT: "no amount is known",
}

CLASSES: Mapping[Reason, DisagreementClass] = {
    Reason.NOTIONAL: DisagreementClass(
        "Notional price",
        "The agent put a list price on a self-hosted model that nobody billed.",
        "A recorded cost has the basis notional; its ratio to the hardware-derived cost is shown.",
    ),
    Reason.SUBAGENTS: DisagreementClass(
        "Subagents",
        "The agent's dollars count subagents that its token sums leave out.",
        f"Dollars over tokens x the agent's own list exceed {1 + AGREES_WITHIN:.2f}, and either the usage by "
        f"model holds more tokens than the trial (shown) or the skill delegates, as "
        f"{', '.join(sorted(DELEGATING_SKILLS))} does (likely).",
    ),
    Reason.SESSIONS: DisagreementClass(
        "Several sessions",
        "The dollars add up over several sessions of the agent, the tokens are those of the last one.",
        f"Dollars over tokens x the agent's own list exceed {1 + AGREES_WITHIN:.2f}, and the record tells of "
        "several starts of the agent, or of turns that cannot hold the tokens.",
    ),
    Reason.OTHER_LIST: DisagreementClass(
        "Another price list",
        "The agent computed with a price list other than the row of the price book that holds for this run.",
        f"Tokens x another row give the dollars within {FIT}, or one ratio to our row, to four "
        f"decimals, is shared by at least {SHARED_BY} trials of this agent and model.",
    ),
    Reason.DEFAULT_PRICE: DisagreementClass(
        "The agent's default price",
        "The agent knows no price of this model and charged the one it uses for unknown models.",
        f"Tokens x 5 / 25 / 0.5 USD per million input / output / cached tokens (notional, day of "
        "the prices not known) give the dollars of this "
        f"agent and model within {FIT}, and no row of the model itself explains as many.",
    ),
    Reason.MISSING_CACHE_CLASS: DisagreementClass(
        "A class of cached tokens billed otherwise",
        "The dollars fit only if cached tokens are billed as fresh input, at another cache price, or not.",
        f"One change to how a class of cached tokens is priced gives the dollars within {FIT}.",
    ),
    Reason.UNIT: DisagreementClass(
        "Unit error",
        "One of the figures is in another unit, such as cents, or a price per thousand read as per million.",
        f"The ratio lies within {UNIT_BAND} of a power of ten: "
        f"{', '.join(f'1e{power}' for power in UNIT_POWERS)}.",
    ),
    Reason.CREDITS_PLAN: DisagreementClass(
        "Credits at another plan's rate",
        "The credits were turned into dollars at a rate that is not the one set for this site.",
        "Dollars over credits, against the dollars per credit in use.",
    ),
    Reason.SERVER_COUNTS: DisagreementClass(
        "The server counted other tokens",
        "The model's server, used by nobody else meanwhile, counted other tokens than the agent reported.",
        f"Tokens of all unshared windows over the agent's tokens differ by more than {BAND}.",
    ),
    Reason.FAILED_TASKS: DisagreementClass(
        "Failed tasks included",
        "A spend over all tasks counts failed and unscored ones, a mean over scored tasks does not.",
        f"The known costs of all trials are more than {BAND} above those of the graded ones.",
    ),
    Reason.UNEXPLAINED: DisagreementClass(
        "Unexplained",
        "The figures differ, and nothing in the records says why.",
        "None of the other tests holds.",
    ),
    Reason.SMALL_EXCESS: DisagreementClass(
        "Small excess",
        "The dollars lie a little above what the tokens cost at the agent's own list; nothing says why.",
        f"Dollars over tokens x the agent's own list lie between {1 + SMALL_EXCESS:.3f} and "
        f"{1 + AGREES_WITHIN:.2f}.",
    ),
    Reason.LAST_TURN: DisagreementClass(
        "Counts of the last turn",
        "The figures agree with each other, but rest on token counts that look like those of the last turn.",
        "The record carries the warning last-turn-counters or low-output-per-turn.",
    ),
    Reason.CACHE_TWICE: DisagreementClass(
        "Cached tokens counted twice",
        "The source's token total adds cached tokens to an input that holds them already; dollars from it "
        "would be too high by the same factor.",
        f"The source's total over the tokens processed exceeds {1 + AGREES_WITHIN:.2f}.",
    ),
    Reason.ZERO_COST: DisagreementClass(
        "Zero reported",
        "The source prints a cost of 0 for a run that was not free; it is taken as unknown.",
        "The printed cost is exactly 0 and the model is not the built-in one.",
    ),
    Reason.NOT_REPORTED: DisagreementClass(
        "Cost not reported",
        "The model is billed, but no cost was reported.",
        "The recorded cost of a billed model has no amount and was not printed as 0.",
    ),
    Reason.WITHOUT_TOKENS: DisagreementClass(
        "Cost without tokens",
        "Dollars stand beside no tokens at all, so nothing can check them.",
        "A metered or notional amount is known, and the token counts are not.",
    ),
    Reason.CACHE_COUNTS_ABSENT: DisagreementClass(
        "Cache counts absent",
        "A class of cached tokens was not counted, so no price table can price the run.",
        "Input and output are known, cache reads or writes of a billed model are not.",
    ),
    Reason.NOT_IN_BOOK: DisagreementClass(
        "Price not in the book",
        "The price book has no row for this model on that day.",
        "The token counts are known and the lookup in the price book ends without a row.",
    ),
    Reason.CREDITS_ONLY: DisagreementClass(
        "Credits without tokens",
        "The vendor bills credits and tells no tokens, so no second figure exists.",
        "A credits cost is known, and the token counts are not.",
    ),
    Reason.HARDWARE_ONLY: DisagreementClass(
        "Hardware-derived only",
        "A self-hosted model sends no bill; its cost is derived from a throughput sweep and stands alone.",
        "The only amount has the basis hardware-derived.",
    ),
    Reason.OTHER_HOURLY_RATE: DisagreementClass(
        "Another hourly rate",
        "The source priced the machine of this deployment at an hourly rate that is not in the price list.",
        "The rate in the sweep's file over the rate in use, the share of the machine being the same.",
    ),
    Reason.BY_DESIGN: DisagreementClass(
        "No cost by design",
        "The built-in model server bills nothing.",
        "The recorded cost has the basis none.",
    ),
    Reason.NO_SECOND_WAY: DisagreementClass(
        "No second way",
        "One amount is known and nothing to compare it with.",
        "None of the other tests holds for a single amount.",
    ),
}
"""Every class, as the page explains it."""
