"""Reconciliation: how far the independent ways to know one cost agree, for a trial and for a cell."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from runner.costs.comparison import (
    NOTHING,
    Comparison,
    Explanation,
    Figure,
    Pair,
    agreement_of,
    agreement_with_list,
    explain_charge,
)
from runner.costs.disagreement import AGREES_WITHIN, Agreement, Reason
from runner.costs.evidence import BILLED, Evidence
from runner.costs.price_lists import AGENT_DEFAULT, Charge, Followed, dollars_at
from runner.costs.tokens import tokens_processed
from runner.records import Cost, CostBasis, Hosting, TrialRecord

LAST_TURN_CODES = frozenset({"last-turn-counters", "low-output-per-turn"})
SEVERITY = tuple(Agreement)


@dataclass(frozen=True)
class Note:
    """A named oddity about money without a second figure; ``ratio`` where two numbers stand behind it."""

    reason: Reason
    text: str
    ratio: float | None = None


@dataclass(frozen=True)
class TrialReconciliation:
    """All comparisons of one trial, and what was found besides."""

    comparisons: tuple[Comparison, ...]
    notes: tuple[Note, ...]
    known: int
    """Ways with a known amount."""

    @property
    def agreement(self) -> Agreement:
        """The worst agreement of all comparisons; without one, whether any amount is known."""
        found = {comparison.agreement for comparison in self.comparisons}
        worst = next((level for level in SEVERITY if level in found), None)
        return worst or (Agreement.ONE_WAY if self.known else Agreement.NO_AMOUNT)

    @property
    def beyond(self) -> bool:
        """Whether two comparable figures differ by more than ``AGREES_WITHIN``."""
        return self.agreement is Agreement.BEYOND

    @property
    def main(self) -> Comparison | None:
        """The comparison that decides: of the worst agreement the one farthest from 1."""
        level = self.agreement
        found = [comparison for comparison in self.comparisons if comparison.agreement is level]
        return max(found, key=lambda each: abs(math.log(each.ratio or 1)), default=None)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Every class that applies, those of figures beyond 5 % first."""
        ordered = sorted(self.comparisons, key=lambda each: SEVERITY.index(each.agreement))
        found = [reason for each in ordered for reason in each.explanation.reasons]
        return tuple(dict.fromkeys([*found, *(note.reason for note in self.notes)]))

    @property
    def reason(self) -> Reason | None:
        """The class that stands for the trial: that of the deciding comparison, else of the first note."""
        main = self.main
        if main is not None and main.explanation.reasons:
            return main.explanation.reasons[0]
        return self.notes[0].reason if self.notes and main is None else None


def reconcile_trial(evidence: Evidence) -> TrialReconciliation:
    """Compare every way to know the cost of one trial with every other that it can be compared with."""
    comparisons = (
        *_charged(evidence),
        *_recorded_twice(evidence),
        *_notional(evidence),
        *_credits(evidence),
        *_server(evidence),
        *_across(evidence),
    )
    notes = tuple(_notes(evidence, compared=bool(comparisons)))
    return TrialReconciliation(comparisons, notes, len(evidence.known))


def _figure(cost: Cost) -> Figure:
    return Figure(cost.amount_usd, cost.source, cost.basis, cost.price_as_of)


def _charged(evidence: Evidence) -> Iterator[Comparison]:
    """The agent's dollars against the price book, or where it has no row against the list they follow."""
    book, followed, trial = evidence.book, evidence.followed, evidence.trial
    for cost, charge in zip(evidence.recorded, evidence.charges, strict=False):
        said = _figure(cost)
        explained = followed.explains(charge) if followed else None
        if book is not None and book.amount_usd:
            ratio = charge.amount_usd / book.amount_usd
            why = explain_charge(trial, charge, evidence.row, followed)
            yield Comparison(Pair.BOOK, said, _figure(book), ratio, agreement_of(ratio), why)
        elif followed is not None and explained:
            ratio = charge.amount_usd / explained
            why = explain_charge(trial, charge, None, followed)
            second = _at(followed, explained)
            yield Comparison(Pair.LIST, said, second, ratio, agreement_with_list(ratio), why)


def _at(followed: Followed, explained: float) -> Figure:
    """Tokens x the list that an agent follows: a price nobody else stands for."""
    return Figure(explained, f"tokens x {followed.name}", CostBasis.NOTIONAL)


def _recorded_twice(evidence: Evidence) -> Iterator[Comparison]:
    for other in evidence.recorded[1:]:
        first = evidence.recorded[0]
        ratio = (first.amount_usd or 0) / (other.amount_usd or 1)
        level = agreement_of(ratio)
        why = Explanation((Reason.UNEXPLAINED,), "Two recorded figures differ, and nothing says why.")
        beyond = level is Agreement.BEYOND
        yield Comparison(
            Pair.RECORDED, _figure(first), _figure(other), ratio, level, why if beyond else NOTHING
        )


def _notional(evidence: Evidence) -> Iterator[Comparison]:
    trial = evidence.trial
    notional = next(
        (each for each in evidence.stated if each.basis is CostBasis.NOTIONAL and each.amount_usd), None
    )
    if notional is None or notional.amount_usd is None:
        return
    hardware = evidence.hardware
    if hardware is not None and hardware.amount_usd:
        ratio = notional.amount_usd / hardware.amount_usd
        text = f"The agent's list price is {ratio:.1f} times the cost of the machines that served the model."
        # A notional price is no cost, so even a near one agrees with nothing.
        why = Explanation((Reason.NOTIONAL,), text)
        yield Comparison(Pair.NOTIONAL, _figure(notional), _figure(hardware), ratio, Agreement.BEYOND, why)
    explained = dollars_at(trial.usage, AGENT_DEFAULT.prices)
    if explained and trial.usage is not None:
        ratio = notional.amount_usd / explained
        default = Followed(AGENT_DEFAULT.name, AGENT_DEFAULT.prices, None, 1, default=True)
        why = explain_charge(trial, Charge(trial.usage, notional.amount_usd), None, default)
        second = _at(default, explained)
        yield Comparison(Pair.LIST, _figure(notional), second, ratio, agreement_with_list(ratio), why)


def _credits(evidence: Evidence) -> Iterator[Comparison]:
    rate = evidence.usd_per_credit
    for cost in evidence.stated:
        if cost.basis is not CostBasis.CREDITS or not cost.amount_usd or not cost.credits_used or not rate:
            continue
        here = cost.credits_used * rate
        ratio = cost.amount_usd / here
        level = agreement_of(ratio)
        each = cost.amount_usd / cost.credits_used
        text = f"{cost.credits_used:g} credits were taken at {each:.4g} USD each, here they are at {rate:g}."
        why = Explanation((Reason.CREDITS_PLAN,), text) if level is Agreement.BEYOND else NOTHING
        second = Figure(here, f"credits x {rate:g} USD", CostBasis.CREDITS, cost.price_as_of)
        yield Comparison(Pair.CREDITS, _figure(cost), second, ratio, level, why)


def _server(evidence: Evidence) -> Iterator[Comparison]:
    """The agent's tokens against those of a server that nobody else used meanwhile."""
    counted, own = 0, tokens_processed(evidence.trial.usage)
    for each in evidence.trial.invocations:
        window = each.server_window
        if window is None or window.shared or None in (window.prompt_tokens, window.generation_tokens):
            return
        counted += (window.prompt_tokens or 0) + (window.generation_tokens or 0)
    if not own or not counted:
        return
    hardware = evidence.hardware
    dollars = hardware.amount_usd if hardware else None
    day = hardware.price_as_of if hardware else None
    ratio, basis = own / counted, CostBasis.HARDWARE_DERIVED
    level = agreement_of(ratio)
    text = f"The agent tells of {own:,} tokens, the server of {counted:,}."
    why = Explanation((Reason.SERVER_COUNTS,) if level is Agreement.BEYOND else (), text)
    first = Figure(dollars, "the agent's token counts", basis, day)
    second = Figure(None if dollars is None else dollars / ratio, "the server's token counts", basis, day)
    yield Comparison(Pair.SERVER, first, second, ratio, level, why)


def _across(evidence: Evidence) -> Iterator[Comparison]:
    """A bill and a hardware-derived cost: both known, on bases that are never compared."""
    hardware = evidence.hardware
    bills = [cost for cost in evidence.known if cost.basis in {*BILLED, CostBasis.CREDITS}]
    if hardware is not None and bills:
        first, second = _figure(bills[0]), _figure(hardware)
        yield Comparison(Pair.BASES, first, second, None, Agreement.NOT_COMPARABLE, NOTHING)


def _notes(evidence: Evidence, *, compared: bool) -> Iterator[Note]:
    trial, known = evidence.trial, evidence.known
    if any(each.basis is CostBasis.NONE for each in trial.costs):
        yield Note(Reason.BY_DESIGN, "The built-in model server bills nothing.")
        return
    printed = trial.published.total_cost_usd if trial.published else None
    recorded_zero = any(each.amount_usd == 0 and each.basis in BILLED for each in trial.costs)
    if printed == 0 or (recorded_zero and tokens_processed(trial.usage)):
        yield Note(Reason.ZERO_COST, "A cost of 0 was reported for a run that was not free.")
    elif any(each.amount_usd is None and each.basis is CostBasis.METERED for each in trial.costs):
        yield Note(Reason.NOT_REPORTED, "The model is billed, and no cost was reported.")
    yield from _missing_notes(evidence)
    if len(known) == 1 and not compared:
        yield _alone(evidence, known[0])
    yield from _doubtful_notes(trial)


def _missing_notes(evidence: Evidence) -> Iterator[Note]:
    """What keeps the tokens from pricing the trial."""
    trial, usage = evidence.trial, evidence.trial.usage
    stated = [each.amount_usd for each in trial.costs if each.basis in {*BILLED, CostBasis.NOTIONAL}]
    if usage is None:
        if any(stated):
            amount = next(amount for amount in stated if amount)
            yield Note(Reason.WITHOUT_TOKENS, f"{amount:g} USD stand beside no tokens at all.")
        return
    if trial.serving.hosting in {Hosting.SELF_HOSTED, Hosting.BUILT_IN}:
        return
    if None in (usage.cache_read_tokens, usage.cache_write_tokens):
        absent = "reads" if usage.cache_read_tokens is None else "writes"
        yield Note(Reason.CACHE_COUNTS_ABSENT, f"Cache {absent} were not counted.")
    if evidence.book_reason:
        yield Note(Reason.NOT_IN_BOOK, f"{evidence.book_reason[:1].upper()}{evidence.book_reason[1:]}.")


def _doubtful_notes(trial: TrialRecord) -> Iterator[Note]:
    """Counts that every figure rests on, and that cannot be right."""
    if {warning.code for warning in trial.warnings} & LAST_TURN_CODES:
        yield Note(Reason.LAST_TURN, "Dollars and tokens rest on counts that look like the last turn's.")
    total, processed = (
        trial.published.total_tokens if trial.published else None,
        tokens_processed(trial.usage),
    )
    if total and processed and total > processed * (1 + AGREES_WITHIN):
        text = f"The source's total is {total:,} tokens; each counted once there are {processed:,}."
        yield Note(Reason.CACHE_TWICE, text, total / processed)


def _alone(evidence: Evidence, cost: Cost) -> Note:
    if cost.basis is CostBasis.CREDITS and evidence.trial.usage is None:
        return Note(Reason.CREDITS_ONLY, "The vendor tells credits and no tokens.")
    if cost.basis is CostBasis.HARDWARE_DERIVED:
        return Note(Reason.HARDWARE_ONLY, "A self-hosted model sends no bill.")
    return Note(Reason.NO_SECOND_WAY, "One amount is known and nothing to compare it with.")
