"""Totals of a trial: what one invocation does not know, the sum does not know."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runner.engine.folding import fold_costs, fold_usage, total
from runner.records import CacheSemantics, Cost, CostBasis, Invocation, SemanticsDecision, Usage
from tests import examples

COUNT = st.none() | st.integers(min_value=0, max_value=10**9)


def with_usage(usage: Usage | None) -> Invocation:
    return examples.invocation().model_copy(update={"usage": usage})


@given(st.lists(COUNT, max_size=6))
def test_a_total_is_the_sum_or_unknown_when_a_part_is(values: list[int | None]) -> None:
    known = [value for value in values if value is not None]
    assert total(values) == (sum(known) if values and len(known) == len(values) else None)


def test_usage_adds_up_class_by_class() -> None:
    folded = fold_usage([with_usage(examples.usage()), with_usage(examples.usage())])
    assert folded is not None
    assert (folded.input_tokens, folded.output_tokens) == (8_012, 332)
    assert (folded.cache_read_tokens, folded.cache_write_tokens, folded.reasoning_tokens) == (
        24_000,
        2_400,
        40,
    )


def test_an_invocation_without_usage_makes_the_usage_of_the_trial_unknown() -> None:
    assert fold_usage([with_usage(examples.usage()), with_usage(None)]) is None


def test_a_class_that_one_invocation_does_not_report_is_unknown_alone() -> None:
    partial = examples.usage().model_copy(update={"cache_write_tokens": None})
    folded = fold_usage([with_usage(examples.usage()), with_usage(partial)])
    assert folded is not None
    assert (folded.cache_write_tokens, folded.output_tokens) == (None, 332)


def test_different_cache_semantics_have_no_common_one() -> None:
    other = examples.usage().model_copy(update={"cache_semantics": CacheSemantics.PARTITION})
    folded = fold_usage([with_usage(examples.usage()), with_usage(other)])
    assert folded is not None
    assert (folded.cache_semantics, folded.semantics_decided_by) == (
        CacheSemantics.UNKNOWN,
        SemanticsDecision.NONE,
    )


def metered(amount: float | None) -> Cost:
    reason = None if amount is not None else "not reported"
    return Cost(basis=CostBasis.METERED, amount_usd=amount, source="gateway", missing_reason=reason)


def test_costs_of_one_basis_add_up() -> None:
    [cost] = fold_costs([[metered(0.25)], [metered(0.5)]])
    assert (cost.basis, cost.amount_usd) == (CostBasis.METERED, 0.75)


def test_an_unknown_cost_makes_the_sum_unknown_and_never_smaller() -> None:
    for parts in ([[metered(0.25)], [metered(None)]], [[metered(0.25)], []]):
        [cost] = fold_costs(parts)
        assert (cost.amount_usd, cost.missing_reason) == (None, "not every invocation reports it")


def in_credits(used: float | None, dollars: float | None) -> Cost:
    reason = None if dollars is not None else "no price"
    return Cost(
        basis=CostBasis.CREDITS,
        amount_usd=dollars,
        source="trailer",
        credits_used=used,
        missing_reason=reason,
    )


def test_credits_add_up_whether_or_not_their_price_is_known() -> None:
    [cost] = fold_costs([[in_credits(0.25, 0.01)], [in_credits(0.5, 0.02)]])
    assert (cost.credits_used, cost.amount_usd) == (0.75, 0.03)
    [cost] = fold_costs([[in_credits(0.25, None)], [in_credits(0.5, None)]])
    assert (cost.credits_used, cost.amount_usd, cost.missing_reason) == (0.75, None, "no price")


def test_credits_that_one_invocation_does_not_tell_make_the_sum_unknown() -> None:
    [cost] = fold_costs([[in_credits(0.25, 0.01)], [in_credits(None, None)]])
    assert (cost.credits_used, cost.amount_usd) == (None, None)
    [cost] = fold_costs([[in_credits(0.25, None)], []])
    assert cost.credits_used is None


def test_bases_are_never_added_to_each_other() -> None:
    credits_used = Cost(basis=CostBasis.CREDITS, amount_usd=1.0, source="vendor")
    assert {cost.basis: cost.amount_usd for cost in fold_costs([[metered(0.25), credits_used]])} == {
        CostBasis.METERED: 0.25,
        CostBasis.CREDITS: 1.0,
    }


def test_nothing_folds_to_nothing() -> None:
    assert (fold_usage([]), fold_costs([])) == (None, ())
