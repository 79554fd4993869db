"""Prices that the user gives become a cost with its basis, and never a free run."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from runner.costs import PriceBook, PriceRow, RowPrices, TokenPrices
from runner.costs.bases import GIVEN
from runner.engine.pricing import Listed, Reported, listed, load_book, with_given_prices, with_prices
from runner.engine.settings import RunSettings, read_settings
from runner.errors import ConfigurationError
from runner.records import Cost, CostBasis, Hosting, Usage
from tests import examples

PRICES = TokenPrices(input=4.0, output=20.0, cache_read=0.2, cache_write=5.0)
BILL = Cost(basis=CostBasis.METERED, amount_usd=0.5, source="gateway")
ROOT = Path(__file__).resolve().parents[2]
USAGE = examples.usage()
PRICED = round((4_006 * 4.0 + 166 * 20.0 + 12_000 * 0.2 + 1_200 * 5.0) / 1e6, 6)
LIST = Cost(basis=CostBasis.PRICE_TABLE, amount_usd=9.0, source="a list")


def test_tokens_times_prices_stand_beside_a_bill() -> None:
    bill, derived = with_given_prices((BILL,), examples.usage(), PRICES)
    assert bill == BILL
    assert derived.basis is CostBasis.PRICE_TABLE
    expected = (4_006 * 4.0 + 166 * 20.0 + 12_000 * 0.2 + 1_200 * 5.0) / 1e6
    assert derived.amount_usd == pytest.approx(expected, abs=1e-6)


def test_given_prices_win_over_a_list_price_of_the_harness() -> None:
    [derived] = with_given_prices((LIST,), examples.usage(), PRICES)
    assert derived.amount_usd != 9.0


def test_without_prices_nothing_is_added() -> None:
    assert with_given_prices((BILL,), examples.usage(), None) == (BILL,)


@pytest.mark.parametrize(
    ("known", "prices"),
    [(False, PRICES), (True, TokenPrices(input=4.0, output=20.0))],
    ids=["no usage", "no price for cached tokens"],
)
def test_what_cannot_be_priced_is_unknown_and_not_free(known: bool, prices: TokenPrices) -> None:
    [derived] = with_given_prices((), examples.usage() if known else None, prices)
    assert (derived.amount_usd, bool(derived.missing_reason)) == (None, True)


def test_one_price_alone_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="both price_input and price_output"):
        read_settings(None, {"price_input": "3"})
    assert RunSettings().prices() is None


def book(cache_read: float | None = 0.2) -> PriceBook:
    """A book with one row of model-a at anthropic."""
    row = PriceRow(
        provider="anthropic",
        model="model-a",
        prices=RowPrices(input=4.0, output=20.0, cache_read=cache_read, cache_write=5.0),
        effective_from=date(2026, 1, 1),
        source="a price list, 2026-01-01",
        checked_on=date(2026, 2, 1),
    )
    return PriceBook([row])


def reported(*costs: Cost, usage: Usage | None = USAGE, **by_model: Usage) -> Reported:
    return Reported(costs, usage, by_model, date(2026, 3, 1))


def test_without_given_prices_the_row_of_the_day_prices_the_tokens() -> None:
    [derived] = with_prices(reported(), None, Listed(book(), "anthropic", "model-a"))
    [given] = with_given_prices((), USAGE, PRICES)
    assert (derived.amount_usd, derived.price_as_of) == (given.amount_usd, date(2026, 3, 1))
    for part in ("price book: row anthropic model-a", "since 2026-01-01", "checked on 2026-02-01"):
        assert part in derived.source


def test_given_prices_win_over_the_book() -> None:
    dear = TokenPrices(input=400.0, output=2000.0, cache_read=20.0, cache_write=500.0)
    [found] = with_prices(reported(), dear, Listed(book(), "anthropic", "model-a"))
    assert found.source == GIVEN
    assert found.amount_usd == pytest.approx(100 * PRICED, abs=1e-4)


def test_the_book_stands_beside_a_bill_and_replaces_an_agents_own_list_price() -> None:
    found = with_prices(reported(BILL, LIST), None, Listed(book(), "anthropic", "model-a"))
    assert found[0] == BILL
    assert [cost.amount_usd for cost in found[1:]] == [PRICED]


def test_a_model_without_a_row_is_unknown_with_its_reason_and_never_free() -> None:
    [found] = with_prices(reported(), None, Listed(book(), "anthropic", "model-z"))
    assert found.amount_usd is None
    assert "no model-z at anthropic" in (found.missing_reason or "")
    # What is known otherwise stays as it was reported.
    assert with_prices(reported(BILL), None, Listed(book(), "anthropic", "model-z")) == (BILL,)


def test_cached_tokens_without_a_price_leave_the_cost_unknown() -> None:
    [found] = with_prices(reported(), None, Listed(book(cache_read=None), "anthropic", "model-a"))
    assert (found.amount_usd, "no price for a class" in (found.missing_reason or "")) == (None, True)


def test_the_tokens_of_a_subagent_are_priced_by_the_row_of_its_own_model() -> None:
    asked = Listed(book(), "anthropic", "model-a")
    [found] = with_prices(reported(**{"model-a": USAGE, "model-z": USAGE}), None, asked)
    assert found.amount_usd is None
    assert "no model-z" in (found.missing_reason or "")
    [twice] = with_prices(reported(**{"model-a": USAGE, "anthropic/model-a": USAGE}), None, asked)
    assert twice.amount_usd == pytest.approx(2 * PRICED)


@pytest.mark.parametrize("hosting", [Hosting.SELF_HOSTED, Hosting.BUILT_IN])
def test_where_nobody_bills_for_tokens_no_list_price_is_looked_up(hosting: Hosting, tmp_path: Path) -> None:
    assert listed(tmp_path, "anthropic", "model-a", hosting, free=False) is None
    assert listed(tmp_path, "anthropic", "model-a", Hosting.VENDOR_API, free=True) is None
    assert with_prices(reported(), None, None) == ()


def test_a_changed_file_of_the_book_is_read_again(tmp_path: Path) -> None:
    assert load_book(tmp_path).rows == ()
    shipped = ROOT / "datasets" / "prices" / "tokens" / "anthropic.yaml"
    (tmp_path / "anthropic.yaml").write_bytes(shipped.read_bytes())
    assert load_book(tmp_path).providers() == ("anthropic",)
    assert load_book(tmp_path) is load_book(tmp_path)
