"""Dollars of tokens at list prices, and of credits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import TokenPrices, credits_cost, token_cost
from runner.records import CacheSemantics, SemanticsDecision, Usage

GLOBAL = TokenPrices(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25)
REGIONAL = TokenPrices(input=1.1, output=5.5, cache_read=0.11, cache_write=1.375)
NO_CACHE = TokenPrices(input=0.1545, output=0.618)

counts = st.integers(min_value=0, max_value=10**9)


def usage(
    counted: int | None = 314,
    output: int | None = 29_614,
    read: int | None = 3_811_741,
    write: int | None = 67_885,
    semantics: CacheSemantics = CacheSemantics.DISJOINT,
) -> Usage:
    """The tokens of the first vector."""
    return Usage(
        input_tokens=counted,
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=write,
        cache_semantics=semantics,
        semantics_decided_by=SemanticsDecision.ADAPTER,
    )


@pytest.mark.parametrize(("prices", "expected"), [(GLOBAL, 0.614414), (REGIONAL, 0.675856)])
def test_the_vectors_of_the_specification(prices: TokenPrices, expected: float) -> None:
    assert token_cost(usage(), prices) == expected


def test_an_unknown_model_is_not_priced() -> None:
    assert token_cost(usage(), None) is None


def test_cached_tokens_without_a_rate_are_not_priced() -> None:
    assert token_cost(usage(), NO_CACHE) is None
    assert token_cost(usage(1_000_000, 1_000_000, 0, 0), NO_CACHE) == 0.7725


@pytest.mark.parametrize(
    "unknown", [usage(counted=None), usage(output=None), usage(read=None), usage(write=None)]
)
def test_an_unknown_count_is_not_priced(unknown: Usage) -> None:
    assert token_cost(unknown, GLOBAL) is None


def test_no_usage_and_unknown_semantics_are_not_priced() -> None:
    assert token_cost(None, GLOBAL) is None
    assert token_cost(usage(semantics=CacheSemantics.UNKNOWN), GLOBAL) is None


def test_the_cached_part_of_a_partition_is_paid_once() -> None:
    whole = usage(100_000, 2_000, 95_000, 5_000, CacheSemantics.PARTITION)
    assert token_cost(whole, GLOBAL) == token_cost(usage(0, 2_000, 95_000, 5_000), GLOBAL)
    beyond = usage(90_000, 2_000, 95_000, 5_000, CacheSemantics.PARTITION)
    assert token_cost(beyond, GLOBAL) == token_cost(whole, GLOBAL)


@given(counted=counts, output=counts, read=counts, write=counts)
def test_dollars_never_fall_when_tokens_are_added(counted: int, output: int, read: int, write: int) -> None:
    base = token_cost(usage(counted, output, read, write), GLOBAL)
    more = token_cost(usage(counted + 10, output + 10, read + 10, write + 10), GLOBAL)
    assert base is not None
    assert more is not None
    assert more > base >= 0


@pytest.mark.parametrize(
    ("credits_used", "rate", "dollars"), [(0.21, 0.04, 0.0084), (0.21, 0.02, 0.0042), (4.62, 0.04, 0.1848)]
)
def test_credits_cost_what_a_credit_costs(credits_used: float, rate: float, dollars: float) -> None:
    assert credits_cost(credits_used, rate) == pytest.approx(dollars, abs=1e-12)


def test_unknown_credits_cost_an_unknown_amount() -> None:
    assert credits_cost(None, 0.04) is None
