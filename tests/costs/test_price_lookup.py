"""Looking a price up: which row answers, why, and when there is no answer."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import (
    PriceAnswer,
    PriceBook,
    PriceQuestion,
    PriceRow,
    RegionClass,
    RowPrices,
    ServiceTier,
    token_cost,
)
from runner.records import CacheSemantics, SemanticsDecision, Usage
from tests.costs.price_examples import DAY, GLOBAL, HAIKU, REGIONAL, row

US = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
V1 = Usage(
    input_tokens=314,
    output_tokens=29_614,
    cache_read_tokens=3_811_741,
    cache_write_tokens=67_885,
    cache_semantics=CacheSemantics.DISJOINT,
    semantics_decided_by=SemanticsDecision.ADAPTER,
)
BOTH = PriceBook([row(), row(region_class=RegionClass.GLOBAL, prices=GLOBAL)])


def ask(book: PriceBook, model: str = US, **changes: Any) -> PriceAnswer:
    """The answer to a question on the first day of the example row."""
    values: dict[str, Any] = {"provider": "bedrock", "model": model, "on": DAY}
    return book.lookup(PriceQuestion(**{**values, **changes}))


@pytest.mark.parametrize(
    ("model", "dollars"),
    [("global.anthropic.claude-haiku-4-5-20251001-v1:0", 0.614414), (US, 0.675856)],
)
def test_the_prefix_decides_between_global_and_regional_prices(model: str, dollars: float) -> None:
    answer = ask(BOTH, model)
    assert token_cost(V1, answer.token_prices) == dollars


def test_an_unknown_model_has_no_price_and_no_cost() -> None:
    answer = ask(BOTH, "us.anthropic.claude-haiku-4-6")
    assert answer.row is None
    assert token_cost(V1, answer.token_prices) is None
    assert answer.missing_reason is not None
    assert "no anthropic.claude-haiku-4-6 at bedrock; the nearest is anthropic.claude-haiku-4-5" in (
        answer.missing_reason
    )
    assert answer.steps[-1] == answer.missing_reason


def test_a_cache_without_a_price_makes_the_cost_unknown() -> None:
    answer = ask(PriceBook([row(prices=RowPrices(input=0.1545, output=0.618))]))
    assert answer.token_prices is not None
    assert token_cost(V1, answer.token_prices) is None
    assert "tokens read from a cache have no price: with any of them the cost is unknown" in answer.steps


def test_a_global_id_takes_the_regional_row_where_there_is_no_global_one() -> None:
    answer = ask(PriceBook([row()]), "global.anthropic.claude-haiku-4-5")
    assert answer.row == row()
    assert "region class global (by the prefix of the id): the rows of class regional are taken" in (
        answer.steps
    )


def test_a_regional_id_never_takes_the_cheaper_global_row() -> None:
    answer = ask(PriceBook([row(region_class=RegionClass.GLOBAL, prices=GLOBAL)]))
    assert answer.row is None
    assert answer.missing_reason == "no price of region class regional; known: global"


def test_an_id_without_a_prefix_is_regional_on_a_cloud_and_what_was_asked_wins() -> None:
    bare = ask(BOTH, HAIKU)
    assert bare.row is not None
    assert bare.row.region_class is RegionClass.REGIONAL
    asked = ask(BOTH, US, region_class=RegionClass.GLOBAL)
    assert asked.row is not None
    assert asked.row.region_class is RegionClass.GLOBAL
    assert "region class global (as asked): the rows of class global are taken" in asked.steps


@pytest.mark.parametrize(
    ("prompt", "price"), [(None, 1.1), (0, 1.1), (200_000, 1.1), (200_001, 2.2), (500_001, 3.3)]
)
def test_the_length_of_the_prompt_decides_the_context_tier(prompt: int | None, price: float) -> None:
    book = PriceBook(
        [
            row(),
            row(context_above=200_000, prices=RowPrices(input=2.2, output=8.0)),
            row(context_above=500_000, prices=RowPrices(input=3.3, output=9.0)),
        ]
    )
    answer = ask(book, prompt_tokens=prompt)
    assert answer.row is not None
    assert answer.row.prices.input == price
    told = [step for step in answer.steps if "how long each prompt was is not known" in step]
    assert bool(told) == (prompt is None)


def test_a_price_for_long_prompts_alone_says_nothing_about_short_ones() -> None:
    answer = ask(PriceBook([row(context_above=200_000)]), prompt_tokens=10)
    assert answer.missing_reason == "only prompts of more than 200,000 tokens have a price"


def test_the_service_tier_must_be_the_one_that_was_used() -> None:
    book = PriceBook([row(service_tier=ServiceTier.BATCH)])
    assert ask(book).missing_reason == "no price of the service tier standard; known: batch"
    assert ask(book, service_tier=ServiceTier.BATCH).row == book.rows[0]


def test_both_days_of_a_row_are_included_and_no_other() -> None:
    last = date(2026, 7, 29)
    later = row(effective_from=date(2026, 7, 30), prices=GLOBAL)
    book = PriceBook([row(effective_to=last), later])
    for day, expected in [(DAY, REGIONAL), (last, REGIONAL), (last + timedelta(days=1), GLOBAL)]:
        answer = ask(book, on=day)
        assert answer.row is not None
        assert answer.row.prices == expected
    early = ask(book, on=DAY - timedelta(days=1))
    assert early.missing_reason == (
        "no price is known for 2026-05-31; known: 2026-06-01 to 2026-07-29; since 2026-07-30"
    )


def test_five_minutes_are_taken_for_a_cache_write_and_the_hour_is_told() -> None:
    answer = ask(BOTH)
    assert answer.token_prices is not None
    assert answer.token_prices.cache_write == 1.375
    assert any(
        "kept for five minutes ($1.375); kept for an hour they would cost $2.2" in s for s in answer.steps
    )
    same = row(prices=REGIONAL.model_copy(update={"cache_write_1h": 1.375}))
    assert not any("an hour" in step for step in ask(PriceBook([same])).steps)


def test_the_steps_name_the_source_the_note_and_a_price_of_each_request() -> None:
    prices = REGIONAL.model_copy(update={"per_request": 0.01})
    steps = "\n".join(ask(PriceBook([row(prices=prices, note="Seen once.")])).steps)
    assert "source: a price list of the test, checked on 2026-11-30" in steps
    assert "each request costs $0.01 beside its tokens; that is not added here" in steps
    assert "note: Seen once." in steps


def test_the_least_shortened_id_that_has_rows_wins_then_the_longest_pattern() -> None:
    dated = row(model="anthropic.claude-haiku-4-5-20251001", prices=GLOBAL)
    wide = row(model="anthropic.*", prices=RowPrices(input=9, output=9))
    near = row(model="anthropic.claude-haiku-*", prices=RowPrices(input=8, output=8))
    book = PriceBook([row(), dated, wide, near])
    assert ask(book).row == dated
    assert ask(book, "us.anthropic.claude-haiku-4-5-20240101-v1:0").row == row()
    assert ask(book, "us.anthropic.claude-haiku-9").row == near
    assert ask(book, "us.anthropic.claude-opus-9").row == wide


def test_an_unknown_provider_is_told_with_those_there_are() -> None:
    answer = ask(BOTH, provider="openai")
    assert answer.missing_reason == "the price book has no provider 'openai'; it knows bedrock"
    assert "it knows none" in str(ask(PriceBook()).missing_reason)


@st.composite
def rows(draw: st.DrawFn) -> list[PriceRow]:
    """Rows of a few keys that follow each other without overlap, in any order."""
    made: list[PriceRow] = []
    for region in draw(st.sets(st.sampled_from(RegionClass), min_size=1)):
        start = DAY
        for length in draw(st.lists(st.integers(1, 40), min_size=1, max_size=3)):
            end = start + timedelta(days=length - 1)
            made.append(row(region_class=region, effective_from=start, effective_to=end))
            start = end + timedelta(days=1)
    return list(draw(st.permutations(made)))


@given(rows(), st.integers(-5, 130), st.sampled_from([US, HAIKU, f"global.{HAIKU}"]))
def test_a_lookup_does_not_depend_on_the_order_of_the_rows(
    made: list[PriceRow], day: int, model: str
) -> None:
    on = DAY + timedelta(days=day)
    first = ask(PriceBook(made), model, on=on)
    again = ask(PriceBook(reversed(made)), model, on=on)
    assert first == again
    assert PriceBook(made).digest == PriceBook(reversed(made)).digest
    if first.row is not None:
        assert first.row.holds_on(on)
        assert first.token_prices == first.row.token_prices
    else:
        assert first.missing_reason
