"""What dollars rest on: one basis, the days of the prices, and a mark where a day is not known."""

from __future__ import annotations

from datetime import date

import pytest

from generators.pages import words
from generators.tables.dollars import Priced
from generators.tables.judging_cost import judging_cost, judging_mean, judging_total
from runner.costs.scoring import priced_anew
from runner.records import Cost, CostBasis, JudgementRecord
from tests import examples
from tests.generators.tables import made

FIRST, LAST = date(2026, 1, 31), date(2026, 3, 1)


def cost(day: date | None = FIRST, basis: CostBasis = CostBasis.METERED, usd: float | None = 1.0) -> Cost:
    reason = None if usd is not None else "why"
    return Cost(basis=basis, amount_usd=usd, source="test", price_as_of=day, missing_reason=reason)


@pytest.mark.parametrize(
    ("days", "said"),
    [
        ([FIRST, FIRST], "metered, 2026-01-31"),
        ([LAST, FIRST], "metered, 2026-01-31 to 2026-03-01"),
        ([FIRST, None], "metered, 2026-01-31, some days not known"),
        ([None], "metered, day of the prices not known"),
    ],
)
def test_the_days_of_the_prices_are_told_with_the_basis(days: list[date | None], said: str) -> None:
    assert words.priced(Priced.of([cost(day) for day in days])) == said


def test_an_unknown_amount_adds_no_day_and_nothing_known_rests_on_nothing() -> None:
    assert Priced.of([cost(FIRST), cost(LAST, usd=None)]) == Priced(CostBasis.METERED, FIRST, FIRST)
    assert Priced.of([cost(usd=None)]) is None


def test_an_amount_on_two_bases_is_a_fault_of_its_maker() -> None:
    with pytest.raises(ValueError, match="several bases"):
        Priced.of([cost(), cost(basis=CostBasis.CREDITS)])


def judged(*costs: Cost) -> JudgementRecord:
    record = examples.judgement().model_copy(update={"costs": costs})
    return priced_anew(record, made.pricing())


def test_a_scoring_is_billed_on_its_own_day_and_a_scripted_one_costs_nothing() -> None:
    record = judged(cost(None, CostBasis.PRICE_TABLE), cost(None))
    found = judging_cost(record)
    assert found is not None
    assert record.judged_at is not None
    assert (found.basis, found.price_as_of) == (CostBasis.METERED, record.judged_at.date())
    assert judging_cost(judged(cost(basis=CostBasis.NONE, usd=0.0))) is None
    assert judging_cost(judged(cost(basis=CostBasis.NOTIONAL))) is None


def test_scorings_on_two_bases_are_not_added_up() -> None:
    records = [judged(cost(usd=2.0)), judged(cost(usd=4.0)), judged(cost(basis=CostBasis.CREDITS, usd=90.0))]
    for value, expected in ((judging_total(records), 6.0), (judging_mean(records), 3.0)):
        assert (value.amount, value.n, value.m) == (expected, 2, 3)
        assert value.priced == Priced(CostBasis.METERED, FIRST, FIRST)
    assert judging_total([]).amount is None
    assert judging_total([judged()]).reason
