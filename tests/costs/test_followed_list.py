"""Followed list: which list an agent follows is found from dollars and tokens, and never guessed from one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runner.costs.price_book import PriceBook
from runner.costs.price_lists import AGENT_DEFAULT, Charge, dollars_at, fits, followed_list, known_lists
from runner.costs.price_row import RowPrices
from runner.costs.token_prices import token_cost
from runner.records import CacheSemantics
from tests.costs.charges import BOOK, GLOBAL, OTHER, RAW_ID, REGIONAL, priced, tokens

USAGE = tokens()


def test_lists_of_the_model_come_before_those_of_others() -> None:
    lists = known_lists(BOOK, "bedrock", RAW_ID)
    assert [each.own for each in lists] == [True, True, False]
    assert "vendor.model-b" in lists[2].name
    assert known_lists(PriceBook(), "bedrock", RAW_ID) == ()


def test_a_list_of_the_model_needs_one_charge() -> None:
    found = followed_list([Charge(USAGE, priced(USAGE, GLOBAL))], known_lists(BOOK, "bedrock", RAW_ID))
    assert found is not None
    assert "global" in found.name
    assert not found.default


def test_the_list_that_explains_most_charges_wins() -> None:
    usages = [tokens(output=output) for output in (1_000, 2_000, 3_000)]
    charges = [Charge(usages[0], priced(usages[0], REGIONAL))]
    charges += [Charge(usage, priced(usage, GLOBAL)) for usage in usages[1:]]
    found = followed_list(charges, known_lists(BOOK, "bedrock", RAW_ID))
    assert found is not None
    assert found.fits == 2
    assert "global" in found.name


def test_one_odd_charge_follows_nothing() -> None:
    assert followed_list([Charge(USAGE, 17.0, 3.0)], known_lists(BOOK, "bedrock", RAW_ID)) is None
    assert followed_list([], known_lists(BOOK, "bedrock", RAW_ID)) is None


def test_a_ratio_that_one_charge_shows_is_chance_and_two_are_a_list() -> None:
    usages = [tokens(output=output) for output in (1_000, 2_000)]
    charges = [Charge(usage, 1.4 * priced(usage, REGIONAL), priced(usage, REGIONAL)) for usage in usages]
    assert followed_list(charges[:1], ()) is None
    found = followed_list(charges, ())
    assert found is not None
    assert found.factor == 1.4
    assert found.explains(Charge(USAGE, 1.0)) is None, "without a row of the day there is nothing to scale"


def test_the_default_price_goes_before_a_list_of_another_model() -> None:
    usages = [tokens(write=None, output=output) for output in (1_000, 2_000)]
    charges = [Charge(usage, dollars_at(usage, AGENT_DEFAULT.prices) or 0.0) for usage in usages]
    found = followed_list(charges, known_lists(BOOK, "bedrock", RAW_ID))
    assert found is not None
    assert found.default


def test_an_unknown_cache_count_is_no_charge_for_an_agent_but_unknown_for_us() -> None:
    usage = tokens(write=None, semantics=CacheSemantics.UNKNOWN)
    lists = known_lists(BOOK, "bedrock", RAW_ID)
    prices = next(each.prices for each in lists if each.prices.input == REGIONAL.input)
    assert dollars_at(usage, prices) == priced(tokens(write=0), REGIONAL)
    assert token_cost(usage, prices) is None
    assert dollars_at(None, prices) is None
    assert dollars_at(usage, None) is None


def test_nothing_fits_an_unknown_amount() -> None:
    assert not fits(1.0, None)
    assert not fits(1.0, 0.0)
    assert fits(1.0, 1.00009)
    assert not fits(1.0, 1.0002)


@given(
    st.sampled_from([REGIONAL, GLOBAL, OTHER]),
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**5)), min_size=3, max_size=6, unique=True),
)
def test_a_list_is_found_again_from_what_it_charges(prices: RowPrices, counts: list[tuple[int, int]]) -> None:
    usages = [tokens(fresh=fresh, output=output) for fresh, output in counts]
    charges = [Charge(usage, priced(usage, prices), priced(usage, REGIONAL)) for usage in usages]
    found = followed_list(charges, known_lists(BOOK, "bedrock", RAW_ID))
    assert found is not None
    assert found.fits == len(charges)
    explained = found.explains(charges[0])
    assert explained is not None
    assert fits(charges[0].amount_usd, explained)
