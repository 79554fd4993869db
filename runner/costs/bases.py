"""Bases: every way to know what a trial cost, and the one rule that says which of them is its cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from runner.costs.credit_plans import CreditPlans, PlanChoice
from runner.costs.hardware import HardwareRates, MissingRate, split_rates
from runner.costs.instances import DEFAULT_COMMITMENT
from runner.costs.price_book import PriceBook
from runner.costs.price_table import BOOK, Share, TableCost, shares_of, table_cost
from runner.costs.token_prices import credits_cost
from runner.costs.tokens import tokens_processed
from runner.records import Cost, CostBasis, Hosting, TrialRecord

GIVEN = "tokens times the prices given for this run"
"""Source text of a cost at prices that the user gave."""
ORDER = (CostBasis.METERED, CostBasis.CREDITS, CostBasis.PRICE_TABLE, CostBasis.HARDWARE_DERIVED)
"""A bill before a credit count before a calculation from prices before a share of a machine's price."""
RULE = (
    "A known metered amount comes first, then credits, then a price table, then for a self-hosted model the "
    "hardware-derived amount. Of price tables, prices that were given for the run come before the row of the "
    "price book, and that before a list price that only the agent knows. A notional price is never used. "
    "What stays unknown stays unknown."
)
RULE_OF_A_DAY = (
    "The figures are asked for at the prices of another day than that of the run. Only the price book can be "
    "moved to another day, so its amount comes first wherever it is known."
)
NOT_BILLED = frozenset({Hosting.SELF_HOSTED, Hosting.BUILT_IN})
"""Nobody bills these for tokens, so a list price of the same model elsewhere says nothing about them."""


class Way(StrEnum):
    """How an amount became known."""

    METERED = "bill"
    CREDITS = "credits"
    GIVEN = "prices given for the run"
    BOOK = "price book"
    AGENT_LIST = "the agent's own list price"
    BLENDED = "machine, blended rate"
    SPLIT = "machine, split rates"
    NOTIONAL = "notional price"
    NONE = "free by design"


@dataclass(frozen=True)
class Pricing:
    """At which prices costs are worked out."""

    book: PriceBook
    rates: HardwareRates
    price_date: date | None = None
    """Day whose token prices are used; None is the day of each run."""
    usd_per_credit: float | None = None
    """What a credit costs; None takes the amounts as recorded."""
    plans: CreditPlans | None = None
    """The plans of vendors that bill by credits, as far as they are known."""
    plan: PlanChoice | None = None
    """The plan whose price credits of its vendor have; None takes the amounts as recorded."""

    @property
    def moved(self) -> bool:
        """Whether something else is asked for than what the runs cost on their day."""
        usual = self.rates.commitment is DEFAULT_COMMITMENT
        return not usual or (self.price_date, self.usd_per_credit, self.plan) != (None, None, None)

    def day_for(self, own: date | None) -> date | None:
        """The day whose prices hold for work of the day ``own``: the asked one, else that, else the newest.

        None where the book is empty and nobody knows the day.
        """
        return self.price_date or own or self.book.checked_on

    def credit_price(self, provider: str, own: date | None) -> CreditPrice | None:
        """What a credit of a vendor is asked to cost for work of the day ``own``; None: as recorded."""
        if self.usd_per_credit is not None:
            return CreditPrice(self.usd_per_credit, "as asked for", self.price_date)
        plan = self.plan
        if plan is None or self.plans is None or plan.provider != provider:
            return None
        day = self.day_for(own)
        sold = None if day is None else self.plans.of(plan, day)
        price = None if sold is None else sold.price(overage=plan.overage)
        when = "a day that is not known" if day is None else day.isoformat()
        if sold is None or price is None:
            return CreditPrice(None, f"no price of a credit of plan {plan.plan} on {when} is known", None)
        holds = f"{sold.usd_per_month:g} USD a month for {sold.credits:,} credits"
        part = "for credits beyond them" if plan.overage else "all of them used"
        return CreditPrice(price, f"plan {sold.plan} of {sold.provider}: {holds}, {part}", day)


@dataclass(frozen=True)
class CreditPrice:
    """What a credit costs, whose word that is, and its day; without a price ``says`` is why."""

    usd: float | None
    says: str
    day: date | None


@dataclass(frozen=True)
class KnownWay:
    """One way to know the cost, with what it says; the amount may still be unknown."""

    way: Way
    cost: Cost


@dataclass(frozen=True)
class TrialCosts:
    """What a trial cost: the headline that tables and charts use, and every other way to know it."""

    headline: Cost
    others: tuple[Cost, ...]
    ways: tuple[KnownWay, ...]
    """All of them in the order in which the rule asks; the headline is the first known one."""
    table: TableCost | None = None
    """The look-up behind the price book's amount; None where the book was not asked."""
    rule: str = RULE

    @property
    def all(self) -> tuple[Cost, ...]:
        """The headline, then the others."""
        return (self.headline, *self.others)

    def on(self, basis: CostBasis) -> Cost | None:
        """The cost on one basis: the headline if it has it, else the first known one, else an unknown one."""
        own = [cost for cost in self.all if cost.basis is basis]
        return next((cost for cost in own if cost.amount_usd is not None), own[0] if own else None)


@dataclass(frozen=True)
class Work:
    """Work of models that somebody may bill: what was recorded of its cost, and what prices it anew."""

    recorded: tuple[Cost, ...]
    provider: str
    shares: tuple[Share, ...]
    """Its tokens by model."""
    day: date | None
    """The day it was done, as far as known."""
    billed: bool = True
    """Whether somebody bills its tokens, so that a list price says anything about it."""


def costs_of(trial: TrialRecord, pricing: Pricing) -> TrialCosts:
    """Every way to know what ``trial`` cost, and its headline.

    The rule: a known metered amount, else known credits, else a price table, else for a self-hosted model
    the hardware-derived amount (blended rate), else "none by design", else unknown. Of price tables, prices
    given for the run come first, since they are what its user pays; then the row of the price book, worked
    out now from the raw token counts, so that a corrected row corrects every run; then a list price that
    only the agent knows. With ``pricing.price_date`` the price book comes before all of them. A notional
    price is never a cost, a self-hosted model is never priced by a list price, and null stays null.
    """
    work = Work(
        recorded=trial.costs,
        provider=trial.identity.cell.provider,
        shares=shares_of(trial),
        day=day_of(trial),
        billed=not trial.demonstration and trial.serving.hosting not in NOT_BILLED,
    )
    table = table_of(work, pricing)
    derived = []
    if trial.serving.hosting is Hosting.SELF_HOSTED:
        derived = [
            KnownWay(Way.BLENDED, hardware_cost(trial, pricing.rates)),
            KnownWay(Way.SPLIT, split_cost(trial, pricing.rates)),
        ]
    ways = ways_of(work, pricing, table, derived)
    headline = _headline(trial, ways)
    others = tuple(each.cost for each in ways if each.cost is not headline)
    moved = pricing.price_date is not None and table is not None and headline is table.cost
    return TrialCosts(headline, others, ways, table, f"{RULE_OF_A_DAY} {RULE}" if moved else RULE)


def day_of(trial: TrialRecord) -> date | None:
    """The day the trial ran, as far as the record or its source tells."""
    moment = trial.ended_at or trial.started_at
    if moment is not None:
        return moment.date()
    text = trial.published.run_date if trial.published else None
    try:
        return datetime.fromisoformat(text).date() if text else None
    except ValueError:
        return None


def hardware_cost(trial: TrialRecord, rates: HardwareRates) -> Cost:
    """Tokens processed x blended rate; never from wall clock, never from dollars rounded before (T-35)."""
    rate = rates.rate_for(trial.identity.cell.model.slug, trial.serving)
    tokens = tokens_processed(trial.usage)
    if isinstance(rate, MissingRate):
        return _unknown(CostBasis.HARDWARE_DERIVED, "tokens x rate of the model's deployment", rate.reason)
    if tokens is None:
        why = "the tokens processed are unknown"
        return _unknown(CostBasis.HARDWARE_DERIVED, "tokens x rate of the model's deployment", why)
    return Cost(
        basis=CostBasis.HARDWARE_DERIVED,
        amount_usd=tokens * rate.usd_per_token,
        source=(
            f"tokens processed x rate of deployment {rate.deployment.name} at concurrency "
            f"{rate.level.concurrency}, {rate.commitment.value} price"
            + (f"; {rate.hardware_note}" if rate.hardware_note else "")
        ),
        price_as_of=rates.prices.as_of,
    )


def split_cost(trial: TrialRecord, rates: HardwareRates) -> Cost:
    """Tokens read x input rate + tokens written x output rate, at the level of the blended rate.

    Tokens read are all processed tokens but the output, cached ones too. Source: specification 5.6.
    """
    rate = rates.rate_for(trial.identity.cell.model.slug, trial.serving)
    source = "tokens read and written x split rates of the model's deployment"
    tokens = tokens_processed(trial.usage)
    output = trial.usage.output_tokens if trial.usage is not None else None
    if isinstance(rate, MissingRate):
        return _unknown(CostBasis.HARDWARE_DERIVED, source, rate.reason)
    if tokens is None or output is None:
        return _unknown(CostBasis.HARDWARE_DERIVED, source, "the tokens processed are unknown")
    level = rate.level
    split = split_rates(
        rate.usd_per_hour, level.prompt_tokens_per_second or 0.0, level.output_tokens_per_second or 0.0
    )
    return Cost(
        basis=CostBasis.HARDWARE_DERIVED,
        amount_usd=(tokens - output) * split.input_usd + output * split.output_usd,
        source=(
            f"tokens read and written x split rates of deployment {rate.deployment.name} at concurrency "
            f"{level.concurrency}, {rate.commitment.value} price"
        ),
        price_as_of=rates.prices.as_of,
    )


def table_of(work: Work, pricing: Pricing) -> TableCost | None:
    """What the price book says of ``work`` now; None where it has nothing to do with it."""
    free = any(cost.basis is CostBasis.NONE for cost in work.recorded)
    if free or not work.billed or not pricing.book.rows:
        return None
    if work.recorded and work.provider not in pricing.book.providers():
        return None
    day = pricing.day_for(work.day)
    if day is None:
        return None
    known = pricing.price_date is not None or work.day is not None
    note = "" if known else "the day of the run is not known, so these are the newest prices"
    return table_cost(work.shares, work.provider, day, pricing.book, note)


def ways_of(
    work: Work, pricing: Pricing, table: TableCost | None, derived: Iterable[KnownWay] = ()
) -> tuple[KnownWay, ...]:
    """Every way to know what ``work`` cost, in the order in which the rule asks.

    Args:
        work: what was done, and what was recorded of its cost.
        pricing: the prices that are asked for.
        table: what the price book says of it now.
        derived: ways that follow from machines.
    """
    recorded = [dated(cost, work.day) for cost in work.recorded]
    credit = pricing.credit_price(work.provider, work.day)
    found = [KnownWay(_way(cost), _rated(cost, credit)) for cost in recorded]
    if table is not None:
        # What the book said at the time of the run gives way to what it says now.
        if table.found or pricing.price_date is not None:
            found = [each for each in found if each.way is not Way.BOOK]
        if table.found or not any(each.way is Way.BOOK for each in found):
            found.append(KnownWay(Way.BOOK, table.cost))
    order = list(Way)
    moved = pricing.price_date is not None
    return tuple(
        sorted(
            [*found, *derived],
            key=lambda each: (not (moved and each.way is Way.BOOK), order.index(each.way)),
        )
    )


def known_headline(ways: Iterable[KnownWay]) -> Cost | None:
    """The first known amount of ``ways`` that is a cost; None where none is."""
    known = (each.cost for each in ways if each.cost.basis in ORDER)
    return next((cost for cost in known if cost.amount_usd is not None), None)


def _headline(trial: TrialRecord, ways: tuple[KnownWay, ...]) -> Cost:
    known = known_headline(ways)
    if known is not None:
        return known
    bases = [CostBasis.NONE, CostBasis.METERED, CostBasis.CREDITS, CostBasis.PRICE_TABLE]
    if trial.serving.hosting is Hosting.SELF_HOSTED:
        bases.insert(0, CostBasis.HARDWARE_DERIVED)
    for basis in bases:
        for each in ways:
            if each.cost.basis is basis:
                return each.cost
    return _unknown(CostBasis.METERED, "none", "nothing was recorded about the cost")


def _way(cost: Cost) -> Way:
    match cost.basis:
        case CostBasis.METERED:
            return Way.METERED
        case CostBasis.CREDITS:
            return Way.CREDITS
        case CostBasis.PRICE_TABLE if cost.source == GIVEN:
            return Way.GIVEN
        case CostBasis.PRICE_TABLE if cost.source.startswith(BOOK):
            return Way.BOOK
        case CostBasis.PRICE_TABLE:
            return Way.AGENT_LIST
        case CostBasis.HARDWARE_DERIVED:
            return Way.BLENDED
        case CostBasis.NOTIONAL:
            return Way.NOTIONAL
        case CostBasis.NONE:
            return Way.NONE


def dated(cost: Cost, day: date | None) -> Cost:
    """A bill, a credit count and an agent's own price hold for the day of the run, unless they say more."""
    if cost.price_as_of is not None or day is None:
        return cost
    return cost.model_copy(update={"price_as_of": day})


def _rated(cost: Cost, price: CreditPrice | None) -> Cost:
    """Credits at the asked price of a credit, from the credits and not from dollars; others as they are."""
    if cost.basis is not CostBasis.CREDITS or price is None:
        return cost
    amount = None if price.usd is None else credits_cost(cost.credits_used, price.usd)
    missing = price.says if price.usd is None else "how many credits were used is not known"
    asked = (
        "credits x the price of a plan" if price.usd is None else f"credits x {price.usd:g} USD per credit"
    )
    return cost.model_copy(
        update={
            "amount_usd": amount,
            "source": f"{asked}, {price.says}",
            "price_as_of": price.day or cost.price_as_of,
            "missing_reason": None if amount is not None else missing,
        }
    )


def _unknown(basis: CostBasis, source: str, reason: str) -> Cost:
    return Cost(basis=basis, amount_usd=None, source=source, missing_reason=reason)
