"""What scoring cost is worked out anew from its tokens, by the rule for trials, with basis and day."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from runner.costs import HardwareRates, PriceBook, PriceRow, Pricing, RowPrices, load_instance_prices
from runner.costs.bases import GIVEN
from runner.costs.scoring import priced_anew
from runner.records import Cost, CostBasis, JudgementRecord
from tests import examples

PRICES = Path(__file__).resolve().parents[2] / "datasets" / "prices" / "instances.yaml"
DAY, LATER = date(2026, 3, 1), date(2026, 9, 1)
OLD = Cost(basis=CostBasis.PRICE_TABLE, amount_usd=9.0, source="price book: row of the day", price_as_of=DAY)


def row(
    cost: float, begin: date, end: date | None = None, read: float | None = 0.4, provider: str = "openai"
) -> PriceRow:
    """A row of the judge's model."""
    return PriceRow(
        provider=provider,
        model="judge-model",
        prices=RowPrices(input=cost, output=20.0, cache_read=read, cache_write=5.0),
        effective_from=begin,
        effective_to=end,
        source="a list",
        checked_on=LATER,
    )


def pricing(*rows: PriceRow, on: date | None = None) -> Pricing:
    """A price book of these rows."""
    return Pricing(PriceBook(rows), HardwareRates([], load_instance_prices(PRICES)), on)


def judged(*costs: Cost, day: date | None = DAY, provider: str | None = "openai") -> JudgementRecord:
    """A judgement with known tokens, 13,200 of them cached."""
    made = examples.judgement()
    judge = made.judge.model_copy(update={"provider": provider})
    moment = None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC)
    return made.model_copy(
        update={"judge": judge, "costs": costs, "usage": examples.usage(), "judged_at": moment}
    )


def bill(basis: CostBasis = CostBasis.METERED, source: str = "bill") -> Cost:
    """A known amount of another kind."""
    return Cost(basis=basis, amount_usd=1.5, source=source)


AT_4 = round((4_006 * 4.0 + 166 * 20.0 + 12_000 * 0.4 + 1_200 * 5.0) / 1e6, 6)
AT_8 = round((4_006 * 8.0 + 166 * 20.0 + 12_000 * 0.4 + 1_200 * 5.0) / 1e6, 6)
TWO = (row(4.0, date(2026, 1, 1), date(2026, 5, 31)), row(8.0, date(2026, 6, 1)))


def test_a_corrected_row_corrects_what_was_recorded_at_run_time() -> None:
    for recorded in ((OLD,), ()):
        found = priced_anew(judged(*recorded), pricing(*TWO)).costs[0]
        assert (found.basis, found.amount_usd, found.price_as_of) == (
            CostBasis.PRICE_TABLE,
            AT_4,
            DAY,
        )
    asked = priced_anew(judged(OLD), pricing(*TWO, on=LATER)).costs[0]
    assert (asked.amount_usd, asked.price_as_of) == (AT_8, LATER)


def test_without_a_day_the_newest_prices_hold_and_the_source_says_so() -> None:
    found = priced_anew(judged(day=None), pricing(*TWO)).costs[0]
    assert (found.amount_usd, found.price_as_of) == (AT_8, LATER)
    assert "not known" in found.source


@pytest.mark.parametrize(
    "first", [bill(), bill(CostBasis.CREDITS, "credits"), bill(CostBasis.PRICE_TABLE, GIVEN)]
)
def test_what_is_billed_or_given_comes_before_the_book_unless_another_day_is_asked_for(first: Cost) -> None:
    found = priced_anew(judged(OLD, first), pricing(*TWO)).costs
    assert [cost.amount_usd for cost in found] == [1.5, AT_4]
    assert found[0].price_as_of == DAY
    moved = priced_anew(judged(OLD, first), pricing(*TWO, on=LATER)).costs
    assert [cost.amount_usd for cost in moved] == [AT_8, 1.5]


def test_a_cached_class_without_a_price_makes_the_cost_unknown_and_never_0() -> None:
    (found,) = priced_anew(judged(OLD), pricing(row(4.0, date(2026, 1, 1), read=None))).costs
    assert found.amount_usd is None
    assert "no price for a class" in (found.missing_reason or "")


def test_a_provider_that_is_not_in_the_book_keeps_what_was_recorded() -> None:
    (found,) = priced_anew(judged(OLD, provider="endpoint"), pricing(*TWO)).costs
    assert found == OLD


@pytest.mark.parametrize("changed", [{"demonstration": True}, {"usage": None, "costs": ()}])
def test_a_scripted_answer_and_one_of_which_nothing_is_known_stay_as_they_are(
    changed: dict[str, object],
) -> None:
    record = judged(OLD).model_copy(update=changed)
    assert priced_anew(record, pricing(*TWO)) == record


def test_a_scoring_that_cost_nothing_by_design_is_not_priced() -> None:
    free = Cost(basis=CostBasis.NONE, amount_usd=0.0, source="scripted")
    (found,) = priced_anew(judged(free), pricing(*TWO)).costs
    assert (found.basis, found.amount_usd) == (CostBasis.NONE, 0.0)
