"""Prices: whether costs will be known, and whether a limit in dollars can be kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.engine.planning import Group
from runner.engine.preflight.question import Question
from runner.engine.settings import RunSettings
from runner.harnesses.base import Harness, ReportsDollars
from runner.providers.checks import Check, CheckState

PRICE = "price"
GIVE = "--price-input and --price-output, in dollars per million tokens"
CREDITS = "--kiro-dollars-per-credit"
KIRO = "kiro"
"""This provider says itself that the price of its credits is unknown."""


def price_questions(groups: Sequence[Group]) -> list[Question]:
    """One question for each group that something is billed for."""
    return [_question(group) for group in groups if not group.parts.provider.demonstration]


def _question(group: Group) -> Question:
    subject = f"{', '.join(group.settings.model)} at {group.parts.provider.name}"
    return Question(subject, lambda: price_checks(group))


def price_checks(group: Group) -> Iterator[Check]:
    """How the dollars of the group's trials become known."""
    settings, provider = group.settings, group.parts.provider.name
    prices = settings.prices()
    if prices is not None:
        found = f"${prices.input:g} in, ${prices.output:g} out per million tokens, as given"
        yield Check(PRICE, CheckState.PASS, found)
        return
    if settings.kiro_dollars_per_credit is not None:
        yield Check(PRICE, CheckState.PASS, f"${settings.kiro_dollars_per_credit:g} per credit, as given")
        return
    silent = [each.name for each in group.parts.harnesses.values() if not _tells(each, provider)]
    if not silent:
        yield Check(PRICE, CheckState.PASS, "the agent's own report holds dollars")
        return
    fix = CREDITS if provider == KIRO else GIVE
    limits = _dollar_limits(settings)
    if limits:
        found = f"{', '.join(limits)} cannot be kept: what {', '.join(silent)} costs here stays unknown"
        yield Check(PRICE, CheckState.FAIL, found, f"{fix}; or bound the run with --budget-tokens instead")
    elif provider != KIRO:
        yield Check(PRICE, CheckState.WARN, "not given: the costs of the trials will be unknown", fix)


def _tells(harness: Harness, provider: str) -> bool:
    return isinstance(harness, ReportsDollars) and provider in harness.reports_dollars_at


def _dollar_limits(settings: RunSettings) -> list[str]:
    given = {"--budget-usd": settings.budget_usd, "--cell-budget-usd": settings.cell_budget_usd}
    return [flag for flag, value in given.items() if value is not None]
