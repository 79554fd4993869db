"""Price lists: which list an agent's dollars follow, found from the tokens they were charged for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from runner.costs.disagreement import FITS_WITHIN, SHARED_BY
from runner.costs.price_book import PriceBook, PriceRow
from runner.costs.token_prices import TokenPrices, token_cost
from runner.records import CacheSemantics, Usage

RATIO_DIGITS = 4


@dataclass(frozen=True)
class PriceList:
    """A named list of token prices. ``own`` says that it is a list of this very model."""

    name: str
    prices: TokenPrices
    own: bool = True


AGENT_DEFAULT = PriceList(
    "the agent's default of 5 / 25 / 0.5 USD per million input / output / cached tokens",
    TokenPrices(input=5, output=25, cache_read=0.5),
    own=False,
)
"""What agents were seen to charge for a model that they know no price of."""


@dataclass(frozen=True)
class Charge:
    """What an agent charged for counted tokens; ``book_usd`` is their price by the row of the day."""

    usage: Usage
    amount_usd: float
    book_usd: float | None = None


@dataclass(frozen=True)
class Followed:
    """The list that an agent's dollars follow, and how many charges say so."""

    name: str
    prices: TokenPrices | None
    factor: float | None
    """The constant ratio to the row of the day, where no known list fits."""
    fits: int
    default: bool = False

    def explains(self, charge: Charge) -> float | None:
        """What the tokens of ``charge`` cost at this list, in US dollars."""
        if self.prices is not None:
            return dollars_at(charge.usage, self.prices)
        if self.factor is None or charge.book_usd is None:
            return None
        return self.factor * charge.book_usd


def dollars_at(usage: Usage | None, prices: TokenPrices | None) -> float | None:
    """US dollars as an agent computes them: a cache count that it does not know is no charge.

    Unlike ``token_cost`` this never stands as a cost; it only answers whether a list explains an amount.
    """
    if usage is None:
        return None
    unknown = usage.cache_semantics is CacheSemantics.UNKNOWN
    charged = usage.model_copy(
        update={
            "cache_read_tokens": usage.cache_read_tokens or 0,
            "cache_write_tokens": usage.cache_write_tokens or 0,
            "cache_semantics": CacheSemantics.DISJOINT if unknown else usage.cache_semantics,
        }
    )
    return token_cost(charged, prices)


def fits(amount_usd: float, explained_usd: float | None, within: float = FITS_WITHIN) -> bool:
    """Whether ``explained_usd`` is ``amount_usd`` up to the share ``within`` of it."""
    return bool(explained_usd) and abs(amount_usd - (explained_usd or 0)) <= within * (explained_usd or 0)


def followed_list(charges: Sequence[Charge], lists: Sequence[PriceList]) -> Followed | None:
    """The list that the charges of one agent for one model follow; None where none can be told.

    The list that explains most charges within ``FITS_WITHIN``; of equally many one of the model itself, then
    the agent's default, then one of another model, which needs ``SHARED_BY`` charges. Where no list fits, a
    ratio to the row of the day that ``SHARED_BY`` charges share is a list that the book does not have.
    """
    best: Followed | None = None
    own, others = [each for each in lists if each.own], [each for each in lists if not each.own]
    for each in (*own, AGENT_DEFAULT, *others):
        hits = sum(fits(charge.amount_usd, dollars_at(charge.usage, each.prices)) for charge in charges)
        enough = 1 if each.own or each is AGENT_DEFAULT else SHARED_BY
        if hits >= enough and (best is None or hits > best.fits):
            best = Followed(each.name, each.prices, None, hits, default=each is AGENT_DEFAULT)
    return best or _constant_ratio(charges)


def _constant_ratio(charges: Sequence[Charge]) -> Followed | None:
    ratios = Counter(
        round(charge.amount_usd / charge.book_usd, RATIO_DIGITS) for charge in charges if charge.book_usd
    )
    if not ratios:
        return None
    ratio, hits = max(ratios.items(), key=lambda pair: (pair[1], -pair[0]))
    if hits < SHARED_BY:
        return None
    return Followed(f"a list of {ratio:.4f} times the row of the day", None, ratio, hits)


def known_lists(book: PriceBook, provider: str, model: str) -> tuple[PriceList, ...]:
    """Every list of the book: rows of this model first, the newest of them first, then those of others.

    Args:
        book: the price book.
        provider: hosting path of the run.
        model: raw id as sent.
    """
    own = book.history(provider, model)[::-1]
    found: dict[TokenPrices, PriceList] = {}
    for row in own:
        found.setdefault(row.token_prices, PriceList(_named(row), row.token_prices))
    for row in book.rows:
        found.setdefault(row.token_prices, PriceList(_named(row), row.token_prices, own=False))
    return tuple(found.values())


def _named(row: PriceRow) -> str:
    prices = row.prices
    amounts = f"{prices.input:g} / {prices.output:g} USD per million input / output tokens"
    return f"the {row.region_class.value} row of {row.model} at {row.provider} {row.days()}, {amounts}"
