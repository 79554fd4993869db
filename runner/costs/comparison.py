"""Comparison: two money figures of one trial side by side, their ratio, and why they differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from runner.costs.disagreement import (
    AGREEMENT_WORDS,
    AGREES_WITHIN,
    DELEGATING_SKILLS,
    SMALL_EXCESS,
    UNIT_POWERS,
    UNIT_WITHIN,
    Agreement,
    Reason,
)
from runner.costs.price_lists import Charge, Followed, dollars_at, fits
from runner.costs.token_prices import TokenPrices
from runner.costs.tokens import tokens_processed
from runner.records import CacheSemantics, CostBasis, TrialRecord, Usage

CONFIRMS_NOTHING = "the list was found from such dollars, so this confirms nothing"
SESSION_CODES = frozenset({"several-invocations", "turns-do-not-fit-tokens"})
"""Warnings that tell of more than one session of the agent."""


class Pair(StrEnum):
    """Which two ways are compared."""

    BOOK = "recorded-and-price-book"
    LIST = "recorded-and-its-own-list"
    RECORDED = "recorded-and-recorded"
    NOTIONAL = "notional-and-hardware-derived"
    CREDITS = "credits-at-two-rates"
    SERVER = "agent-and-server-counts"
    BASES = "two-bases"


@dataclass(frozen=True)
class Figure:
    """One way to know the cost: US dollars (None where only tokens are compared), and what they rest on."""

    amount_usd: float | None
    what: str
    basis: CostBasis
    price_as_of: date | None = None


@dataclass(frozen=True)
class Explanation:
    """Why two figures differ: the classes that apply, the strongest first, in words with their numbers."""

    reasons: tuple[Reason, ...]
    text: str
    likely: bool = False
    """The class fits what is known, but the records do not show it."""


@dataclass(frozen=True)
class Comparison:
    """Two figures of one trial; ``ratio`` is the first over the second."""

    pair: Pair
    first: Figure
    second: Figure
    ratio: float | None
    agreement: Agreement
    explanation: Explanation

    @property
    def words(self) -> str:
        """How far the figures agree; a list that was found from the dollars is no second way to know them."""
        return CONFIRMS_NOTHING if self.agreement is Agreement.ONE_WAY else AGREEMENT_WORDS[self.agreement]


NOTHING = Explanation((), "")


def agreement_of(ratio: float | None) -> Agreement:
    """Whether a ratio of two comparable figures lies within ``AGREES_WITHIN`` of 1, edges included."""
    if ratio is None:
        return Agreement.NOT_COMPARABLE
    # A rounding error of the division must not push an exact 5 % over the edge.
    return Agreement.AGREES if abs(ratio - 1) <= AGREES_WITHIN + 1e-12 else Agreement.BEYOND


def agreement_with_list(ratio: float | None) -> Agreement:
    """As ``agreement_of``, but a list that was found from the dollars themselves confirms nothing."""
    level = agreement_of(ratio)
    return Agreement.ONE_WAY if level is Agreement.AGREES else level


def explain_charge(
    trial: TrialRecord, charge: Charge, row: TokenPrices | None, followed: Followed | None
) -> Explanation:
    """Why an agent's dollars are not tokens x the row of the day.

    Args:
        trial: the record, for evidence of subagents and sessions.
        charge: the tokens, the agent's dollars, and the dollars by the row of the day.
        row: the row of the day.
        followed: the list that the dollars of this agent and model follow, where it is known.
    """
    explained = followed.explains(charge) if followed else charge.book_usd
    unit = _unit_error(charge, explained)
    if unit:
        return unit
    listed = _list_reasons(charge, followed)
    if explained and charge.amount_usd > explained * (1 + AGREES_WITHIN):
        cache = _cache_class(charge, row) if not listed else None
        return cache or _excess(trial, charge, explained, followed, listed)
    if listed and explained and agreement_of(charge.amount_usd / explained) is Agreement.AGREES:
        return _followed_text(charge, explained, followed, listed)
    if charge.book_usd and agreement_of(charge.amount_usd / charge.book_usd) is Agreement.AGREES:
        return _small_excess(charge, explained)
    return _cache_class(charge, row) or Explanation(
        (Reason.UNEXPLAINED,), "Nothing in the record says why the figures differ."
    )


def _list_reasons(charge: Charge, followed: Followed | None) -> tuple[Reason, ...]:
    """Another list than the row of the day, or none where the list followed gives the same dollars."""
    if followed is None:
        return ()
    explained = followed.explains(charge)
    if charge.book_usd and explained and agreement_of(explained / charge.book_usd) is Agreement.AGREES:
        return ()
    return (Reason.DEFAULT_PRICE if followed.default else Reason.OTHER_LIST,)


def _followed_text(
    charge: Charge, explained: float, followed: Followed | None, listed: tuple[Reason, ...]
) -> Explanation:
    name = followed.name if followed else "another list"
    text = f"The dollars follow {name}, which gives {explained:.4f} USD."
    small = _small_excess(charge, explained)
    return Explanation((*listed, *small.reasons), f"{text} {small.text}".strip())


def _small_excess(charge: Charge, explained: float | None) -> Explanation:
    if not explained or charge.amount_usd <= explained * (1 + SMALL_EXCESS):
        return NOTHING
    share = charge.amount_usd / explained - 1
    return Explanation((Reason.SMALL_EXCESS,), f"They lie {100 * share:.1f} % above it.")


def _unit_error(charge: Charge, explained: float | None) -> Explanation | None:
    for base in (charge.book_usd, explained):
        if not base:
            continue
        ratio = charge.amount_usd / base
        power = round(math.log10(ratio))
        if power in UNIT_POWERS and abs(ratio / 10**power - 1) <= UNIT_WITHIN:
            return Explanation((Reason.UNIT,), f"The ratio {ratio:.6g} is a power of ten, 1e{power}.")
    return None


def _excess(
    trial: TrialRecord,
    charge: Charge,
    explained: float,
    followed: Followed | None,
    listed: tuple[Reason, ...],
) -> Explanation:
    at = followed.name if followed else "the row of the day"
    factor = charge.amount_usd / explained
    amounts = f"{explained:.2f} USD of {charge.amount_usd:.2f}"
    text = f"The tokens explain {amounts} at {at}: a factor of {factor:.2f}."
    shown = subagent_tokens(trial)
    if shown:
        return Explanation((Reason.SUBAGENTS, *listed), f"{text} {shown}")
    if several_sessions(trial):
        return Explanation(
            (Reason.SESSIONS, *listed),
            f"{text} The agent was started more than once, and its tokens look like those of the last start.",
            likely=True,
        )
    if trial.identity.cell.skill in DELEGATING_SKILLS:
        return Explanation(
            (Reason.SUBAGENTS, *listed),
            f"{text} The skill works with subagents; the record does not say what they used.",
            likely=True,
        )
    return Explanation((Reason.UNEXPLAINED, *listed), f"{text} Nothing in the record says why.")


def subagent_tokens(trial: TrialRecord) -> str:
    """What the usage by model holds beyond the trial's own tokens, in words; empty where it does not."""
    own = tokens_processed(trial.usage)
    parts = [tokens_processed(usage) for each in trial.invocations for usage in each.usage_by_model.values()]
    if own is None or not parts or any(part is None for part in parts):
        return ""
    together = sum(part or 0 for part in parts)
    if together <= own * (1 + AGREES_WITHIN):
        return ""
    return f"By model the agent tells of {together:,} tokens, in its sums of {own:,}."


def several_sessions(trial: TrialRecord) -> bool:
    """Whether the record tells of more than one session of the agent."""
    published = trial.published.agent_invocations if trial.published else None
    codes = {warning.code for warning in trial.warnings}
    return len(trial.invocations) > 1 or (published or 1) > 1 or bool(codes & SESSION_CODES)


def _cache_class(charge: Charge, row: TokenPrices | None) -> Explanation | None:
    """The one change to how cached tokens are priced that gives the dollars exactly; None where none does."""
    if row is None:
        return None
    for name, changed in cache_variants(row).items():
        if fits(charge.amount_usd, dollars_at(charge.usage, changed)):
            return Explanation((Reason.MISSING_CACHE_CLASS,), f"The dollars fit exactly where {name}.")
    whole = _everything_fresh(charge.usage)
    if whole is not None and fits(charge.amount_usd, dollars_at(whole, row)):
        return Explanation(
            (Reason.MISSING_CACHE_CLASS,),
            "The dollars fit exactly where cached tokens are billed as input and then once more as cached.",
        )
    return None


def cache_variants(row: TokenPrices) -> dict[str, TokenPrices]:
    """Other ways to price cached tokens, by what they say."""
    fresh, hour = row.input, 2 * row.input
    changes: dict[str, dict[str, float]] = {
        "all cached tokens are billed as fresh input": {"cache_read": fresh, "cache_write": fresh},
        "cache reads are billed as fresh input": {"cache_read": fresh},
        "cache writes are billed as fresh input": {"cache_write": fresh},
        "cache writes are billed at the price of one hour, twice the input price": {"cache_write": hour},
        "no cached tokens are billed": {"cache_read": 0.0, "cache_write": 0.0},
        "cache reads are not billed": {"cache_read": 0.0},
        "cache writes are not billed": {"cache_write": 0.0},
    }
    return {name: row.model_copy(update=update) for name, update in changes.items()}


def _everything_fresh(usage: Usage) -> Usage | None:
    """Partition counts read as if the cached part came on top; None for other counts."""
    if usage.cache_semantics is not CacheSemantics.PARTITION:
        return None
    return usage.model_copy(update={"cache_semantics": CacheSemantics.DISJOINT})
