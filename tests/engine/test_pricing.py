"""Prices that the user gives become a cost with its basis, and never a free run."""

from __future__ import annotations

import pytest

from runner.costs import TokenPrices
from runner.engine.pricing import with_given_prices
from runner.engine.settings import RunSettings, read_settings
from runner.errors import ConfigurationError
from runner.records import Cost, CostBasis
from tests import examples

PRICES = TokenPrices(input=4.0, output=20.0, cache_read=0.2, cache_write=5.0)
BILL = Cost(basis=CostBasis.METERED, amount_usd=0.5, source="gateway")
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
