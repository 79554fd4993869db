"""Pricing: what an invocation cost at the prices that were given, or else at those of the price book."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path

from runner.costs.bases import GIVEN, NOT_BILLED, ORDER
from runner.costs.price_book import PriceAnswer, PriceBook, PriceQuestion, load_price_book
from runner.costs.price_table import split_by_model, table_cost
from runner.costs.token_prices import TokenPrices, token_cost
from runner.engine.planning import Group
from runner.harnesses.endpoint import TokenPrices as LimitPrices
from runner.records import Cost, CostBasis, Hosting, Usage


@dataclass(frozen=True)
class Listed:
    """Where the price book is asked for the tokens of a model that somebody bills for."""

    book: PriceBook
    provider: str
    model: str

    def answer(self, day: date) -> PriceAnswer:
        """What the book says of the model on ``day``."""
        return self.book.lookup(PriceQuestion(provider=self.provider, model=self.model, on=day))


def load_book(folder: Path) -> PriceBook:
    """The price book in ``folder``; read again only when one of its files has changed.

    Raises:
        ConfigurationError: it has faults.
    """
    stats = [(path.name, path.stat()) for path in sorted(folder.glob("*.yaml"))]
    return _loaded(folder, tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats))


@lru_cache(maxsize=4)
def _loaded(folder: Path, _files: tuple[tuple[str, int, int], ...]) -> PriceBook:
    return load_price_book(folder)


def limit_prices(book: Path, group: Group, model: str, day: date) -> LimitPrices | None:
    """What a harness that keeps a limit in dollars by itself is told the model costs, from the book."""
    provider = group.parts.provider
    hosting = group.settings.hosting or provider.hosting
    where = listed(book, provider.name, model, hosting, free=provider.demonstration)
    found = None if where is None else where.answer(day).token_prices
    return None if found is None else LimitPrices(found.input, found.output, found.cache_read)


def listed(book: Path, provider: str, model: str, hosting: Hosting, *, free: bool) -> Listed | None:
    """Where to look prices up; None where nobody bills for tokens, so that no list price says anything.

    Raises:
        ConfigurationError: the price book in the folder ``book`` has faults.
    """
    return None if free or hosting in NOT_BILLED else Listed(load_book(book), provider, model)


@dataclass(frozen=True)
class Reported:
    """What is known of an invocation or an answer once it has ended."""

    costs: tuple[Cost, ...]
    usage: Usage | None
    by_model: Mapping[str, Usage]
    day: date


def with_prices(reported: Reported, given: TokenPrices | None, book: Listed | None) -> tuple[Cost, ...]:
    """The costs that were reported and, where prices are known, a price-table cost beside them.

    Prices that were given win over the book, and both over a list price that a harness knows; a bill stands
    beside them. Where the book cannot price the tokens, and nothing else is known, its reason is kept.
    """
    if given is not None:
        return with_given_prices(reported.costs, reported.usage, given)
    if book is None:
        return reported.costs
    shares = split_by_model(book.model, reported.usage, reported.by_model)
    table = table_cost(shares, book.provider, reported.day, book.book)
    others = tuple(cost for cost in reported.costs if cost.basis is not CostBasis.PRICE_TABLE)
    if table.cost.amount_usd is not None:
        return (*others, table.cost)
    if reported.costs and not table.found:
        return reported.costs
    known = any(cost.amount_usd is not None and cost.basis in ORDER for cost in reported.costs)
    return reported.costs if known else (*others, table.cost)


def with_given_prices(
    costs: tuple[Cost, ...], usage: Usage | None, prices: TokenPrices | None
) -> tuple[Cost, ...]:
    """``costs`` and, where prices were given, a price-table cost from them.

    The user's prices win over a list price that a harness knows, and stand beside a bill. Where the usage or
    a needed price is unknown, the amount is unknown and says so.
    """
    if prices is None:
        return costs
    amount = token_cost(usage, prices)
    reason = None if amount is not None else "tokens or the price of a class of them are not known"
    given = Cost(basis=CostBasis.PRICE_TABLE, amount_usd=amount, source=GIVEN, missing_reason=reason)
    return (*(cost for cost in costs if cost.basis is not CostBasis.PRICE_TABLE), given)
