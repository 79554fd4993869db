"""Prices: whether costs will be known, and whether a limit in dollars can be kept."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from runner.costs.bases import NOT_BILLED
from runner.costs.price_book import PriceAnswer
from runner.costs.token_prices import TokenPrices
from runner.engine.planning import Group
from runner.engine.preflight.question import Question
from runner.engine.pricing import Listed, load_book
from runner.engine.sessions import common_protocol
from runner.engine.settings import RunSettings
from runner.errors import ConfigurationError
from runner.harnesses.base import Harness, ReportsDollars
from runner.harnesses.endpoint import WireProtocol
from runner.providers.checks import Check, CheckState

PRICE = "price"
GIVE = "--price-input, --price-output and --price-cache-read, in dollars per million tokens"
BILLS_CACHE_WRITES = frozenset(
    {WireProtocol.MESSAGES, WireProtocol.BEDROCK_INVOKE, WireProtocol.BEDROCK_CONVERSE}
)
"""In the other protocols what is written to a cache is part of the fresh input."""
TOKENS = {
    "--budget-usd": "--budget-tokens",
    "--cell-budget-usd": "--budget-tokens",
    "--max-cost-usd": "--max-trial-tokens",
}
"""What bounds the same in tokens."""
CREDITS = "--kiro-dollars-per-credit"
KIRO = "kiro"
"""This provider says itself that the price of its credits is unknown."""


def price_questions(groups: Sequence[Group], book: Path) -> list[Question]:
    """One question for each group that something is billed for; ``book`` is the folder of the price book."""
    return [_question(group, book) for group in groups if not group.parts.provider.demonstration]


def _question(group: Group, book: Path) -> Question:
    subject = f"{', '.join(group.settings.model)} at {group.parts.provider.name}"
    return Question(subject, lambda: price_checks(group, book, datetime.now(UTC).date()))


def price_checks(group: Group, book: Path, day: date) -> Iterator[Check]:
    """How the dollars of the group's trials become known on ``day``."""
    settings, provider = group.settings, group.parts.provider.name
    prices = settings.prices()
    if prices is not None:
        yield _given(group, prices)
        return
    if settings.kiro_dollars_per_credit is not None:
        yield Check(PRICE, CheckState.PASS, f"${settings.kiro_dollars_per_credit:g} per credit, as given")
        return
    silent = [each.name for each in group.parts.harnesses.values() if not _tells(each, provider)]
    if not silent:
        yield Check(PRICE, CheckState.PASS, "the agent's own report holds dollars")
        return
    hosting, missing = settings.hosting or group.parts.provider.hosting, ""
    if provider != KIRO and hosting not in NOT_BILLED:
        prices_of = load_book(book)
        answers = [Listed(prices_of, provider, model).answer(day) for model in settings.model]
        missing = "; ".join(dict.fromkeys(each.missing_reason for each in answers if each.missing_reason))
        if not missing:
            yield from (_of_book(group, each) for each in answers if each.row is not None)
            return
    fix = CREDITS if provider == KIRO else GIVE
    limits = _dollar_limits(settings)
    because = f" ({missing})" if missing else ""
    if limits:
        found = f"{', '.join(limits)} cannot be kept: what {', '.join(silent)} costs here stays unknown"
        instead = [TOKENS[flag] for flag in limits]
        fix = f"{fix}; or bound the run with {' and '.join(dict.fromkeys(instead))} instead"
        yield Check(PRICE, CheckState.FAIL, found + because, fix)
    elif provider != KIRO:
        found = f"not given: the costs of the trials will be unknown{because}"
        yield Check(PRICE, CheckState.WARN, found, fix)


def _of_book(group: Group, answer: PriceAnswer) -> Check:
    """Which row of the price book will be used, and whether it prices every class of tokens."""
    row = answer.row
    if row is None:
        return Check(PRICE, CheckState.WARN, answer.missing_reason or "", GIVE)
    found = (
        f"price book: {row.model} ({row.region_class}) ${row.prices.input:g} in, ${row.prices.output:g} out "
        f"per million tokens, {row.days()}, checked on {row.checked_on.isoformat()}"
    )
    return _every_class(group, row.token_prices, found)


def _given(group: Group, prices: TokenPrices) -> Check:
    """Whether the given prices are those of every class of tokens that the agents will be billed for."""
    found = f"${prices.input:g} in, ${prices.output:g} out per million tokens, as given"
    return _every_class(group, prices, found)


def _every_class(group: Group, prices: TokenPrices, found: str) -> Check:
    missing = ["--price-cache-read"] if prices.cache_read is None else []
    if prices.cache_write is None and _protocols(group) & BILLS_CACHE_WRITES:
        missing.append("--price-cache-write")
    if not missing:
        return Check(PRICE, CheckState.PASS, found)
    found = f"{found}; what a trial with cached tokens costs stays unknown"
    limits = _dollar_limits(group.settings)
    if not limits:
        return Check(PRICE, CheckState.WARN, found, " ".join(missing))
    found = f"{found}, so {', '.join(limits)} cannot be kept"
    return Check(PRICE, CheckState.FAIL, found, " ".join(missing))


def _protocols(group: Group) -> set[WireProtocol]:
    """What the agents of the group will speak; one that cannot speak with the provider is told elsewhere."""
    found = set()
    for harness in group.parts.harnesses.values():
        for model in group.settings.model:
            with contextlib.suppress(ConfigurationError):
                found.add(common_protocol(harness, group.parts.provider, group.settings.protocol, model))
    return found


def _tells(harness: Harness, provider: str) -> bool:
    return isinstance(harness, ReportsDollars) and provider in harness.reports_dollars_at


def _dollar_limits(settings: RunSettings) -> list[str]:
    given = {
        "--budget-usd": settings.budget_usd,
        "--cell-budget-usd": settings.cell_budget_usd,
        "--max-cost-usd": settings.max_cost_usd,
    }
    return [flag for flag, value in given.items() if value is not None]
