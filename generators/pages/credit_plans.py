"""Credit plans: what a credit costs at vendors that bill by credits, as a table and as choices of a form."""

from __future__ import annotations

from dataclasses import dataclass

from generators.pages import words
from generators.pages.table import Column, Entry, Table, table
from runner.costs.credit_plans import CreditPlan, CreditPlans
from runner.records import CostBasis


@dataclass(frozen=True)
class PlanOption:
    """A choice of a form: its value, and what the reader sees of it."""

    value: str
    text: str


def plan_options(plans: CreditPlans | None) -> list[PlanOption]:
    """Every plan, within and beyond its credits, at its newest known price with the first day of that."""
    if plans is None:
        return []
    found = []
    for choice in plans.choices():
        own = [plan for plan in plans.plans if (plan.provider, plan.plan) == (choice.provider, choice.plan)]
        plan = max(own, key=lambda each: each.effective_from)
        price = plan.price(overage=choice.overage)
        part = "beyond it" if choice.overage else "all used"
        amount = words.NOT_PRICED if price is None else f"{price:g} USD"
        text = f"{plan.plan} of {plan.provider}, {part}: {amount}, credits, {plan.days()}"
        found.append(PlanOption(choice.name, text))
    return found


def plans_table(plans: CreditPlans | None) -> Table | None:
    """Every plan with its prices, its days, who says so and when it was checked; None without plans."""
    if plans is None or not plans.plans:
        return None
    columns = [
        Column("Plan"),
        Column("USD a month", "number"),
        Column("Credits", "number", "that the plan holds for a month"),
        Column("USD a credit", "number", "where all credits of the plan are used"),
        Column("USD a credit beyond", "number", "for credits beyond those of the plan"),
        Column("Days", explanation="on which the plan is known to be sold so"),
        Column("Source", wide=True),
    ]
    label = f"Plans of vendors that bill by credits; basis {words.basis(CostBasis.CREDITS)}"
    return table(label, columns, [_row(plans, plan) for plan in plans.plans])


def _row(plans: CreditPlans, plan: CreditPlan) -> list[Entry]:
    note = f"Checked on {plan.checked_on.isoformat()}. {plan.note}".strip()
    return [
        Entry(plan.plan, note=plan.provider),
        Entry(f"{plan.usd_per_month:g}", plan.usd_per_month),
        Entry(f"{plan.credits:,}", float(plan.credits)),
        _price(plan.usd_per_credit),
        _price(plan.overage_usd_per_credit),
        Entry(plan.days()),
        Entry(plans.source_of(plan), note=note),
    ]


def _price(amount: float | None) -> Entry:
    return Entry("not known", None, unknown=True) if amount is None else Entry(f"{amount:g}", amount)
