"""Every way to know a cost: which there are, which of them is the headline, and at which prices."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import Commitment, HardwareRates, PriceBook, PriceRow, Pricing, RowPrices, costs_of
from runner.costs.bases import GIVEN, RULE, Way, day_of
from runner.records import CacheSemantics, Cost, CostBasis, Hosting, TrialRecord, Usage
from tests import examples
from tests.costs.test_hardware import PRICES, sweep
from tests.costs.test_headline import cost, trial

OLD, NEW = date(2026, 1, 31), date(2026, 6, 1)
RATES = HardwareRates([sweep("model-a")], PRICES)
USAGE = examples.usage()


def row(
    price: float,
    since: date,
    until: date | None = None,
    model: str = "vendor/model-a",
    **prices: float | None,
) -> PriceRow:
    """A row of model-a at the examples' provider: output five times the input."""
    classes = {"cache_read": price / 10, "cache_write": price * 1.25, **prices}
    return PriceRow(
        provider="endpoint",
        model=model,
        prices=RowPrices(input=price, output=5 * price, **classes),
        effective_from=since,
        effective_to=until,
        source="a list",
        checked_on=date(2026, 7, 1),
    )


def book(*rows: PriceRow) -> PriceBook:
    """Dollars 4 until May, 2 since June."""
    return PriceBook(rows or (row(4.0, date(2026, 1, 1), date(2026, 5, 31)), row(2.0, NEW)))


def pricing(at: date | None = None, prices: PriceBook | None = None, **more: float) -> Pricing:
    return Pricing(prices or book(), RATES, at, more.get("usd_per_credit"))


def billed(*costs: Cost, usage: Usage | None = USAGE) -> TrialRecord:
    """A cloud trial of the day that the examples have."""
    return trial(Hosting.CLOUD, *costs, usage=usage)


def amounts(record: TrialRecord, at: Pricing) -> dict[Way, float | None]:
    return {each.way: each.cost.amount_usd for each in costs_of(record, at).ways}


def test_the_row_of_the_day_of_the_run_prices_its_tokens() -> None:
    expected = round((4_006 * 4 + 166 * 20 + 12_000 * 0.4 + 1_200 * 5) / 1e6, 6)
    found = costs_of(billed(), pricing()).headline
    assert (found.basis, found.amount_usd, found.price_as_of) == (CostBasis.PRICE_TABLE, expected, OLD)
    assert "row endpoint vendor/model-a" in found.source


def test_the_bill_is_the_headline_and_the_price_book_stands_beside_it() -> None:
    found = costs_of(billed(cost(CostBasis.METERED, 0.5)), pricing())
    assert (found.headline.basis, found.headline.amount_usd) == (CostBasis.METERED, 0.5)
    assert [other.basis for other in found.others] == [CostBasis.PRICE_TABLE]
    assert found.rule == RULE


def test_a_bill_carries_the_day_of_the_run() -> None:
    assert costs_of(billed(cost(CostBasis.METERED)), pricing()).headline.price_as_of == OLD
    own = cost(CostBasis.METERED).model_copy(update={"price_as_of": NEW})
    assert costs_of(billed(own), pricing()).headline.price_as_of == NEW


def test_at_another_day_the_price_book_comes_before_a_bill_that_cannot_be_moved() -> None:
    record = billed(cost(CostBasis.METERED, 0.5))
    then, now = costs_of(record, pricing(OLD)), costs_of(record, pricing(NEW))
    assert (now.headline.basis, now.headline.price_as_of) == (CostBasis.PRICE_TABLE, NEW)
    assert now.headline.amount_usd == pytest.approx((then.headline.amount_usd or 0) / 2, abs=1e-6)
    assert now.rule != RULE
    unknown = billed(cost(CostBasis.METERED, 0.5), usage=None)
    assert costs_of(unknown, pricing(NEW)).headline.basis is CostBasis.METERED


def test_prices_given_for_the_run_come_before_the_book_and_the_book_before_an_agents_list() -> None:
    given_cost = Cost(basis=CostBasis.PRICE_TABLE, amount_usd=7.0, source=GIVEN)
    agents = Cost(basis=CostBasis.PRICE_TABLE, amount_usd=9.0, source="the agent's list")
    assert costs_of(billed(given_cost), pricing()).headline.amount_usd == 7.0
    assert costs_of(billed(agents), pricing()).headline.source.startswith("price book")
    assert costs_of(billed(agents, usage=None), pricing()).headline.amount_usd == 9.0


def test_a_corrected_row_replaces_what_the_book_said_at_the_time_of_the_run() -> None:
    stored = costs_of(billed(), pricing()).headline
    record = billed(stored)
    corrected = pricing(prices=book(row(40.0, date(2026, 1, 1))))
    assert costs_of(record, corrected).headline.amount_usd == pytest.approx(10 * (stored.amount_usd or 0))
    assert costs_of(record, corrected).others == ()
    # A row that lost its price leaves the cost unknown; a model that left the book keeps what was stored.
    holed = pricing(prices=book(row(4.0, date(2026, 1, 1), cache_read=None)))
    assert costs_of(record, holed).headline.amount_usd is None
    assert costs_of(record, pricing(prices=PriceBook())).headline == stored
    assert costs_of(record, pricing(date(2020, 1, 1))).headline.amount_usd is None


def test_a_run_without_a_day_is_priced_by_the_newest_rows_and_says_so() -> None:
    undated = billed(cost(CostBasis.METERED)).model_copy(update={"started_at": None, "ended_at": None})
    assert day_of(undated) is None
    found = costs_of(undated, pricing())
    assert found.headline.price_as_of is None
    assert found.others[0].price_as_of == date(2026, 7, 1)
    assert "day of the run is not known" in found.others[0].source


def test_a_self_hosted_model_is_known_at_both_rates_and_never_at_a_list_price() -> None:
    partition = USAGE.model_copy(
        update={
            "input_tokens": 8_000_000,
            "output_tokens": 50_000,
            "cache_semantics": CacheSemantics.PARTITION,
        }
    )
    found = amounts(trial(Hosting.SELF_HOSTED, usage=partition), pricing())
    assert set(found) == {Way.BLENDED, Way.SPLIT}
    assert found[Way.BLENDED] == pytest.approx(3.9064, abs=5e-5), "vector 17"
    assert found[Way.SPLIT] == pytest.approx(3.8420, abs=5e-5), "vector 17"


def test_a_scripted_trial_is_free_and_asks_no_price_list() -> None:
    record = trial(Hosting.CLOUD, cost(CostBasis.NONE, 0.0))
    assert amounts(record, pricing()) == {Way.NONE: 0.0}


@pytest.mark.parametrize(
    ("used", "rate", "usd"), [(0.21, 0.04, 0.0084), (0.21, 0.02, 0.0042), (4.62, 0.04, 0.1848)]
)
def test_credits_are_priced_anew_from_the_credits(used: float, rate: float, usd: float) -> None:
    recorded = cost(CostBasis.CREDITS, 99.0).model_copy(update={"credits_used": used})
    found = costs_of(billed(recorded, usage=None), pricing(usd_per_credit=rate)).headline
    assert found.amount_usd == pytest.approx(usd), "vector 20"


def test_credits_that_nobody_counted_have_no_amount_at_another_rate() -> None:
    found = costs_of(billed(cost(CostBasis.CREDITS, 9.0), usage=None), pricing(usd_per_credit=0.02)).headline
    assert found.amount_usd is None
    assert costs_of(billed(cost(CostBasis.CREDITS, 9.0), usage=None), pricing()).headline.amount_usd == 9.0


def test_tokens_of_a_subagent_are_priced_by_its_own_model_and_unknown_where_it_has_no_row() -> None:
    first = examples.trial().invocations[0]
    halves = {"vendor/model-a": USAGE, "model-b": USAGE}
    record = billed().model_copy(
        update={"invocations": (first.model_copy(update={"usage_by_model": halves}),)}
    )
    assert costs_of(record, pricing()).headline.amount_usd is None
    both = book(row(4.0, date(2026, 1, 1)), row(8.0, date(2026, 1, 1), model="model-b"))
    one = costs_of(billed(), pricing(prices=book(row(4.0, date(2026, 1, 1))))).headline.amount_usd or 0
    assert costs_of(record, pricing(prices=both)).headline.amount_usd == pytest.approx(3 * one, abs=2e-6)


COUNTS = st.one_of(st.none(), st.integers(0, 10**9))
USAGES = st.builds(
    Usage,
    input_tokens=COUNTS,
    output_tokens=COUNTS,
    cache_read_tokens=COUNTS,
    cache_write_tokens=COUNTS,
    cache_semantics=st.sampled_from(CacheSemantics),
    semantics_decided_by=st.just(USAGE.semantics_decided_by),
)


@given(USAGES, st.sampled_from(Hosting))
def test_null_is_sticky_and_every_unknown_amount_says_why(usage: Usage, hosting: Hosting) -> None:
    found = costs_of(trial(hosting, usage=usage), pricing())
    counts = [usage.input_tokens, usage.output_tokens]
    for each in (found.headline, *found.others):
        assert (each.amount_usd is None) == bool(each.missing_reason)
        if None in counts and each.basis is not CostBasis.NONE:
            assert each.amount_usd is None


@given(USAGES, st.lists(st.sampled_from([OLD, NEW, None]), min_size=1, max_size=4))
def test_pricing_twice_is_pricing_once(usage: Usage, days: list[date | None]) -> None:
    record = billed(usage=usage)
    for day in days:
        once = costs_of(record, pricing(day)).headline
        stored = record.model_copy(update={"costs": (once,)})
        assert costs_of(stored, pricing(day)).headline == once
        assert costs_of(record, pricing(days[-1])) == costs_of(record, pricing(days[-1]))


@given(st.sampled_from([c for c in Commitment if PRICES.hourly("big.48xlarge", c)]), st.integers(1, 10**9))
def test_another_commitment_is_worked_out_from_the_raw_rate(commitment: Commitment, tokens: int) -> None:
    usage = USAGE.model_copy(
        update={"input_tokens": tokens, "output_tokens": 0, "cache_semantics": CacheSemantics.PARTITION}
    )
    rates = HardwareRates([sweep("model-a")], PRICES, commitment)
    found = costs_of(trial(Hosting.SELF_HOSTED, usage=usage), Pricing(book(), rates)).headline
    hourly, level = PRICES.hourly("big.48xlarge", commitment) or 0.0, sweep("model-a").levels
    cheapest = max(
        (each.prompt_tokens_per_second or 0) + (each.output_tokens_per_second or 0) for each in level
    )
    assert found.amount_usd == pytest.approx(tokens * hourly / 3600 / cheapest)
    assert commitment.value in found.source
