"""The page of the price book has every row with its days, its source and its missing prices."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from generators.pages import prices
from generators.pages.rendering import Renderer
from generators.pages.world import World
from runner.costs.bases import Pricing
from runner.costs.price_book import PriceBook, PriceRow
from runner.costs.price_row import RowPrices, ServiceTier
from tests.generators.committed import committed_world
from tests.generators.pages.shown import Shown


@pytest.fixture(scope="module")
def world() -> World:
    return committed_world()


def page(world: World, *rows: PriceRow) -> Shown | None:
    """The page of a world whose price book has just these rows."""
    changed = replace(world, pricing=Pricing(PriceBook(rows), world.rates))
    found = [Shown(each, Renderer().render(each)) for each in prices.pages(changed)]
    return found[0] if found else None


def row(**changes: object) -> PriceRow:
    values = {
        "provider": "bedrock",
        "model": "m-1",
        "prices": RowPrices(input=1.0, output=5.5, cache_read=0.0625),
        "effective_from": date(2026, 1, 1),
        "source": "a list, release 3",
        "checked_on": date(2026, 11, 30),
    }
    return PriceRow.model_validate({**values, **changes})


def test_every_row_of_the_shipped_book_is_on_the_page(world: World) -> None:
    only = next(iter(prices.pages(world)))
    shown = Shown(only, Renderer().render(only))
    rows = [found for label, table in shown.tables() for found in table if label.startswith("Price table of")]
    assert len(rows) == len(world.pricing.book.rows) > 50
    assert all(found["Source"] and found["From"] for found in rows)
    assert shown.headings[1:] == list(world.pricing.book.providers())


def test_a_price_that_is_missing_is_no_price_and_never_zero(world: World) -> None:
    shown = page(world, row())
    assert shown is not None
    found = shown.table("Price table of bedrock, USD per million tokens")[0]
    assert (found["Input"], found["Output"], found["Cache read"]) == ("$1", "$5.5", "$0.0625")
    assert found["Cache write"] == found["Cache write, 1 h"] == "no price"
    assert found["To"] == "still holds"


def test_what_tells_two_rows_apart_is_said(world: World) -> None:
    shown = page(
        world,
        row(),
        row(
            service_tier=ServiceTier.BATCH, context_above=200_000, effective_to=date(2026, 2, 1), note="Seen."
        ),
        row(model="m-2", prices=RowPrices(input=0.0, output=0.0, per_request=0.01)),
    )
    assert shown is not None
    found = shown.table("Price table of bedrock, USD per million tokens")
    assert [each["Served"] for each in found] == [
        "everywhere, batch, prompts above 200,000 tokens",
        "everywhere",
        "everywhere, $0.01 more for each request",
    ]
    assert found[0]["To"] == "2026-02-01"
    assert found[0]["Source"] == "a list, release 3 Checked on 2026-11-30. Seen."


def test_an_empty_book_has_no_page(world: World) -> None:
    assert page(world) is None


def test_a_source_like_markup_stays_text(world: World) -> None:
    shown = page(world, row(source="<img src=x onerror=alert(1)>", note="</td><script>"))
    assert shown is not None
    assert shown.body.live() == []
    assert not {"img", "script"} & shown.body.names
