"""Rows, books and files of prices for the tests of the price book."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from runner.costs import PriceRow, RegionClass, RowPrices
from runner.costs.price_row import Price

GLOBAL = RowPrices(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25, cache_write_1h=2.0)
REGIONAL = RowPrices(input=1.1, output=5.5, cache_read=0.11, cache_write=1.375, cache_write_1h=2.2)
HAIKU = "anthropic.claude-haiku-4-5"
DAY = date(2026, 6, 1)


def row(**changes: Any) -> PriceRow:
    """A row of the regional price of one model on one cloud."""
    values: dict[str, Any] = {
        "provider": "bedrock",
        "model": HAIKU,
        "region_class": RegionClass.REGIONAL,
        "prices": REGIONAL,
        "effective_from": DAY,
        "source": "a price list of the test",
        "checked_on": date(2026, 11, 30),
    }
    return PriceRow(**{**values, **changes})


HEAD = """\
schema_version: 1
provider: bedrock
currency: USD

sources:
  list:
    title: A price list
    version: release 1
    license: MIT

# The rows follow.
rows:
"""
ROW = """\
  - model: anthropic.claude-haiku-4-5
    region_class: regional
    prices: {input: 1.1, output: 5.5, cache_read: 0.11, cache_write: 1.375}
    effective_from: 2026-06-01
    source: list
    entry: us.anthropic.claude-haiku-4-5
    checked_on: 2026-11-30
"""


def write_book(folder: Path, *rows: str, name: str = "bedrock.yaml", head: str = HEAD) -> Path:
    """A folder with one file of ``rows``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(head + "".join(rows or (ROW,)), encoding="utf-8")
    return folder


def changed(old: str, new: str, text: str = ROW) -> str:
    """``text`` with one part replaced, which must be there."""
    assert old in text
    return text.replace(old, new, 1)


def classes(prices: RowPrices) -> Sequence[Price | None]:
    """The five prices of tokens in order."""
    return (prices.input, prices.output, prices.cache_read, prices.cache_write, prices.cache_write_1h)
