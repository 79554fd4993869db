"""Credits command: the plans of vendors that bill by credits, as a table with the source of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from runner.costs import CreditPlan, load_credit_plans
from runner.engine.places import Places
from runner.engine.prices_command import FOUND, NOT_FOUND, UNKNOWN, read_day, show_table


def credits_command(
    places: Places, console: Console, say: Callable[[str], None], *, provider: str, on: str
) -> int:
    """List the credit plans of a provider or of all, on a day or on every day; 3 where there is none.

    Raises:
        UsageError: ``on`` is no day.
        ConfigurationError: the list of plans is missing or has faults.
    """
    known = load_credit_plans(places.credit_plans)
    day = read_day(on)
    shown = [
        plan
        for plan in known.plans
        if (not provider or plan.provider == provider) and (not on or plan.holds_on(day))
    ]
    show_table(console, plan_table(shown))
    for number, source in enumerate(dict.fromkeys(known.source_of(plan) for plan in shown), start=1):
        say(f"source {number}: {source}")
    for plan in shown:
        if plan.note:
            say(f"note on {plan.plan}: {plan.note}")
    say(f"{len(shown)} of {len(known.plans)} plans; costs at one of them: invoke publish --credit-plan NAME")
    return FOUND if shown else NOT_FOUND


def plan_table(plans: Sequence[CreditPlan]) -> Table:
    """``plans`` for the terminal, in US dollars; an unknown price is a dash."""
    table = Table(title="credit plans, US dollars", caption=f"{UNKNOWN} is unknown")
    for name in ("plan", "a month", "credits", "a credit within", "a credit beyond", "days", "checked on"):
        table.add_column(name, overflow="fold")
    for plan in plans:
        beyond = plan.overage_usd_per_credit
        cells = (
            f"{plan.provider} {plan.plan}",
            f"{plan.usd_per_month:g}",
            f"{plan.credits:,}",
            f"{plan.usd_per_credit:g}",
            UNKNOWN if beyond is None else f"{beyond:g}",
            plan.days(),
            plan.checked_on.isoformat(),
        )
        table.add_row(*map(escape, cells))
    return table
