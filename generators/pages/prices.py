"""Price book: every price of tokens that costs are worked out with, its days, and who says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from generators.pages import links, words
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, table
from generators.pages.world import World
from runner.costs.price_book import PriceRow

REGION_WORDS = {"regional": "regional", "global": "global", "any": "everywhere"}


@dataclass(frozen=True)
class ProviderPrices:
    """The prices of one provider: how many models and rows, and the table of them."""

    provider: str
    models: int
    rows: int
    table: Table


def pages(world: World) -> Iterator[Page]:
    """The page of the price book; none where the book is empty."""
    rows, checked = world.pricing.book.rows, world.pricing.book.checked_on
    if world.demonstration or checked is None:
        return
    yield Page(
        path=links.PRICES,
        title="Price book",
        template="prices.md.j2",
        description="Prices of model tokens by provider, region, tier and day, each with its source.",
        context={
            "providers": [_of(name, list(found)) for name, found in groupby(rows, key=_provider)],
            "rows": len(rows),
            "sources": len({row.source for row in rows}),
            "checked": checked.isoformat(),
            "earliest": min(row.effective_from for row in rows).isoformat(),
            "digest": world.pricing.book.digest,
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Methodology", links.METHODOLOGY)),
    )


def _provider(row: PriceRow) -> str:
    return row.provider


def _of(provider: str, rows: Sequence[PriceRow]) -> ProviderPrices:
    columns = [
        Column("Model"),
        Column("Served"),
        Column("From", explanation="first day of the price, or the first on which it was seen: see the note"),
        Column("To", explanation="last day of the price"),
        Column("Input", "number", "USD per million fresh input tokens"),
        Column("Output", "number", "USD per million output tokens"),
        Column("Cache read", "number", "USD per million tokens read from a cache"),
        Column("Cache write", "number", "USD per million tokens written to a cache for five minutes"),
        Column("Cache write, 1 h", "number", "USD per million tokens written to a cache for one hour"),
        Column("Source", wide=True),
    ]
    return ProviderPrices(
        provider=provider,
        models=len({row.model for row in rows}),
        rows=len(rows),
        table=table(
            f"Price table of {provider}, USD per million tokens", columns, [_row(row) for row in rows]
        ),
    )


def _row(row: PriceRow) -> list[Entry]:
    prices = row.prices
    served = [REGION_WORDS[row.region_class.value]]
    if row.service_tier.value != "standard":
        served.append(row.service_tier.value)
    if row.context_above:
        served.append(f"prompts above {row.context_above:,} tokens")
    if prices.per_request is not None:
        served.append(f"{words.dollars(prices.per_request)} more for each request")
    until = row.effective_to.isoformat() if row.effective_to is not None else "still holds"
    notes = " ".join(part for part in (row.note, row.gap_note) if part)
    return [
        Entry(row.model, code=True),
        Entry(", ".join(served)),
        Entry(row.effective_from.isoformat()),
        Entry(until),
        *(
            _price(amount)
            for amount in (
                prices.input,
                prices.output,
                prices.cache_read,
                prices.cache_write,
                prices.cache_write_1h,
            )
        ),
        Entry(row.source, note=f"Checked on {row.checked_on.isoformat()}. {notes}".strip()),
    ]


def _price(amount: float | None) -> Entry:
    if amount is None:
        return Entry("no price", None, unknown=True)
    return Entry(f"${amount:,.6f}".rstrip("0").rstrip("."), amount)
