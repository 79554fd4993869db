"""Reconciliation: every class is decided by its own numbers, and what nothing explains is called so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs.bases import costs_of, day_of
from runner.costs.comparison import Pair, agreement_of, cache_variants, explain_charge
from runner.costs.disagreement import AGREEMENT_WORDS, AGREES_WITHIN, CLASSES, UNIT_POWERS, Agreement, Reason
from runner.costs.price_lists import Charge
from runner.costs.price_row import RegionClass
from runner.costs.reconciliation import TrialReconciliation
from runner.records import CacheSemantics, CostBasis, DataWarning, Hosting, InvocationKind, PublishedFigures
from tests import examples
from tests.costs.charges import (
    BOOK,
    GLOBAL,
    OTHER,
    OTHER_ID,
    RAW_ID,
    REGIONAL,
    followed_by,
    priced,
    pricing,
    reconciled,
    row,
    tokens,
    trial,
    window,
)

USAGE = tokens()
HERE = priced(USAGE, REGIONAL)


def first_reason(found: TrialReconciliation) -> Reason | None:
    assert found.main is not None
    return found.reason


def test_every_class_and_agreement_is_explained_with_its_test() -> None:
    assert set(CLASSES) == set(Reason)
    assert set(AGREEMENT_WORDS) == set(Agreement)
    for each in CLASSES.values():
        assert each.title
        assert each.sentence.endswith(".")
        assert each.sentence.count(". ") == 0
        assert each.test.endswith(".")


@pytest.mark.parametrize(
    ("ratio", "agreement"),
    [
        (1.0, Agreement.AGREES),
        (1.05, Agreement.AGREES),
        (0.95, Agreement.AGREES),
        (1.0501, Agreement.BEYOND),
        (0.9499, Agreement.BEYOND),
        (None, Agreement.NOT_COMPARABLE),
    ],
)
def test_five_percent_is_inclusive(ratio: float | None, agreement: Agreement) -> None:
    assert agreement_of(ratio) is agreement


def test_dollars_of_the_row_of_the_day_agree_and_are_not_flagged() -> None:
    found = reconciled(trial(HERE, USAGE))
    assert found.agreement is Agreement.AGREES
    assert not found.beyond
    assert found.reasons == ()
    assert found.reason is None
    assert found.main is not None
    assert found.main.pair is Pair.BOOK
    assert found.main.second.price_as_of is not None


def test_a_bill_has_the_day_of_its_run_as_on_every_other_page() -> None:
    record = trial(HERE, USAGE)
    (recorded,) = record.costs
    assert recorded.price_as_of is None
    main = reconciled(record).main
    assert main is not None
    assert main.first.price_as_of == day_of(record) == costs_of(record, pricing()).headline.price_as_of
    assert main.first.price_as_of is not None


def test_the_global_list_for_a_regional_profile_is_named_as_another_list() -> None:
    record = trial(priced(USAGE, GLOBAL), USAGE)
    found = reconciled(record, followed_by(record))
    assert found.beyond
    assert first_reason(found) is Reason.OTHER_LIST
    assert found.main is not None
    assert found.main.ratio == pytest.approx(1 / 1.1, rel=1e-6)
    assert "global row" in found.main.explanation.text


def test_the_list_of_another_model_is_found_where_several_trials_share_it() -> None:
    several = [trial(priced(each, OTHER), each) for each in (USAGE, tokens(fresh=9), tokens(output=70_000))]
    followed = followed_by(*several)
    assert followed is not None
    assert "vendor.model-b" in followed.name
    assert first_reason(reconciled(several[0], followed)) is Reason.OTHER_LIST
    assert followed_by(several[0]) is None, "one charge alone may fit by chance"


def test_a_constant_ratio_is_a_list_that_the_book_does_not_have() -> None:
    several = [trial(1.3 * priced(each, REGIONAL), each) for each in (USAGE, tokens(fresh=9))]
    followed = followed_by(*several)
    assert followed is not None
    assert followed.factor == pytest.approx(1.3)
    assert first_reason(reconciled(several[1], followed)) is Reason.OTHER_LIST
    assert first_reason(reconciled(several[1])) is Reason.UNEXPLAINED


def test_the_agents_default_price_confirms_nothing() -> None:
    record = trial(5.0 * 0.04 + 25 * 0.009 + 0.5 * 0.8, tokens(write=None, semantics=CacheSemantics.UNKNOWN))
    found = reconciled(record, followed_by(record))
    assert found.agreement is Agreement.ONE_WAY
    assert found.reasons[0] is Reason.DEFAULT_PRICE
    assert Reason.CACHE_COUNTS_ABSENT in found.reasons


@pytest.mark.parametrize("power", UNIT_POWERS)
def test_a_power_of_ten_is_a_unit_error(power: int) -> None:
    assert first_reason(reconciled(trial(HERE * 10.0**power, USAGE))) is Reason.UNIT


def test_ten_times_and_a_bit_is_no_unit_error() -> None:
    assert first_reason(reconciled(trial(HERE * 10.5, USAGE))) is Reason.UNEXPLAINED


def test_a_unit_error_under_another_list_is_still_one() -> None:
    others = [trial(priced(each, GLOBAL), each) for each in (USAGE, tokens(fresh=9))]
    found = reconciled(trial(100 * priced(USAGE, GLOBAL), USAGE), followed_by(*others))
    assert first_reason(found) is Reason.UNIT


@pytest.mark.parametrize(
    "name", sorted(cache_variants(BOOK.rows[0].token_prices)), ids=lambda name: name.replace(" ", "-")
)
def test_cached_tokens_billed_otherwise_are_named(name: str) -> None:
    usage = tokens(fresh=10_000, read=777_000, write=450_000)
    own = row("vendor.model-a", GLOBAL, RegionClass.GLOBAL).token_prices
    changed = cache_variants(own)[name]
    billed = GLOBAL.model_copy(update={"cache_read": changed.cache_read, "cache_write": changed.cache_write})
    charge = Charge(usage, priced(usage, billed), priced(usage, GLOBAL))
    why = explain_charge(trial(1.0, usage), charge, own, None)
    assert why.reasons == (Reason.MISSING_CACHE_CLASS,)
    assert name in why.text


def test_a_partition_billed_twice_is_a_cache_class() -> None:
    usage = tokens(fresh=1_000_000, read=900_000, write=50_000, semantics=CacheSemantics.PARTITION)
    doubled = usage.model_copy(update={"cache_semantics": CacheSemantics.DISJOINT})
    found = reconciled(trial(priced(doubled, REGIONAL), usage))
    assert first_reason(found) is Reason.MISSING_CACHE_CLASS


def test_subagents_are_shown_by_the_usage_by_model() -> None:
    each = examples.invocation().model_copy(
        update={
            "server_window": None,
            "usage": USAGE,
            "usage_by_model": {RAW_ID: USAGE, OTHER_ID: tokens(9_000)},
        }
    )
    record = trial(1.8 * HERE, USAGE, invocations=[each])
    found = reconciled(record)
    # The price book prices every model that the agent tells of, so these dollars agree with it.
    book = next(way for way in found.comparisons if way.pair is Pair.BOOK)
    assert book.second.amount_usd == pytest.approx(HERE + priced(tokens(9_000), OTHER))
    charge = Charge(USAGE, 1.8 * HERE, HERE)
    why = explain_charge(record, charge, None, None)
    assert why.reasons == (Reason.SUBAGENTS,)
    assert not why.likely
    assert "1,727,000" in why.text


def test_a_delegating_skill_makes_subagents_likely_and_says_so() -> None:
    found = reconciled(trial(1.8 * HERE, USAGE, skill="swe2"))
    assert first_reason(found) is Reason.SUBAGENTS
    assert found.main is not None
    assert found.main.explanation.likely
    assert "a factor of 1.80" in found.main.explanation.text


def test_several_starts_make_sessions_likely() -> None:
    first = examples.invocation().model_copy(update={"server_window": None})
    again = first.model_copy(update={"number": 2, "kind": InvocationKind.TOP_UP})
    for changes in (
        {"invocations": [first, again]},
        {"published": PublishedFigures(agent_invocations=3)},
        {"warnings": (DataWarning(code="several-invocations", text="Started 2 times."),)},
    ):
        found = reconciled(trial(1.8 * HERE, USAGE, skill="swe2", **changes))
        assert first_reason(found) is Reason.SESSIONS


def test_an_excess_that_nothing_explains_is_called_unexplained() -> None:
    found = reconciled(trial(1.8 * HERE, USAGE))
    assert found.reasons == (Reason.UNEXPLAINED,)
    assert found.beyond


def test_dollars_below_the_tokens_are_unexplained() -> None:
    assert first_reason(reconciled(trial(0.3 * HERE, USAGE))) is Reason.UNEXPLAINED


def test_a_small_excess_agrees_and_is_named() -> None:
    found = reconciled(trial(1.03 * HERE, USAGE))
    assert found.agreement is Agreement.AGREES
    assert found.reasons == (Reason.SMALL_EXCESS,)


def test_a_notional_price_never_agrees_with_anything() -> None:
    usage = tokens(read=None, write=None, semantics=CacheSemantics.PARTITION)
    amount = (5 * 40_000 + 25 * 9_000) / 1e6
    record = trial(amount, usage, basis=CostBasis.NOTIONAL, hosting=Hosting.SELF_HOSTED, provider="endpoint")
    found = reconciled(record)
    assert found.agreement in {Agreement.BEYOND, Agreement.ONE_WAY}
    listed = next(each for each in found.comparisons if each.pair is Pair.LIST)
    assert listed.ratio == pytest.approx(1)
    assert listed.agreement is Agreement.ONE_WAY
    excess = trial(
        3 * amount,
        usage,
        basis=CostBasis.NOTIONAL,
        hosting=Hosting.SELF_HOSTED,
        provider="endpoint",
        skill="swe2",
    )
    assert Reason.SUBAGENTS in reconciled(excess).reasons


def test_credits_at_another_plans_rate() -> None:
    record = trial(
        0.2, None, basis=CostBasis.CREDITS, hosting=Hosting.VENDOR_MANAGED, provider="kiro", credits_used=5.0
    )
    assert first_reason(reconciled(record, at=pricing(usd_per_credit=0.02))) is Reason.CREDITS_PLAN
    same = reconciled(record, at=pricing(usd_per_credit=0.04))
    assert same.agreement is Agreement.AGREES
    alone = reconciled(record)
    assert alone.agreement is Agreement.ONE_WAY
    assert alone.reason is Reason.CREDITS_ONLY


@pytest.mark.parametrize(("prompt", "reason"), [(900_000, None), (2_700_000, Reason.SERVER_COUNTS)])
def test_an_unshared_server_is_a_second_count(prompt: int, reason: Reason | None) -> None:
    usage = tokens(read=860_000, write=0, fresh=890_000, semantics=CacheSemantics.PARTITION)
    each = examples.invocation().model_copy(update={"server_window": window(prompt, 9_000)})
    record = trial(
        None,
        usage,
        basis=CostBasis.METERED,
        hosting=Hosting.SELF_HOSTED,
        provider="endpoint",
        invocations=[each],
    )
    found = reconciled(record)
    counts = next(one for one in found.comparisons if one.pair is Pair.SERVER)
    assert counts.ratio == pytest.approx(899_000 / (prompt + 9_000))
    assert (counts.explanation.reasons or (None,))[0] is reason


@pytest.mark.parametrize("seen", [window(900_000, 9_000, shared=True), window(None, 9_000), None])
def test_a_shared_or_unknown_window_says_nothing(seen: object) -> None:
    each = examples.invocation().model_copy(update={"server_window": seen})
    found = reconciled(trial(HERE, USAGE, invocations=[each]))
    assert all(one.pair is not Pair.SERVER for one in found.comparisons)


def test_a_zero_is_unknown_and_named() -> None:
    for record in (
        trial(None, USAGE, published=PublishedFigures(total_cost_usd=0.0)),
        trial(0.0, USAGE),
    ):
        found = reconciled(record)
        assert Reason.ZERO_COST in found.reasons
        assert not found.beyond


def test_dollars_without_tokens_cannot_be_checked() -> None:
    found = reconciled(trial(0.003, None))
    assert found.agreement is Agreement.ONE_WAY
    assert found.reason is Reason.WITHOUT_TOKENS


def test_a_billed_model_without_a_cost_is_named() -> None:
    assert Reason.NOT_REPORTED in reconciled(trial(None, USAGE)).reasons


def test_a_model_that_the_book_does_not_know_is_named() -> None:
    record = trial(HERE, USAGE, provider="nowhere")
    assert Reason.NOT_IN_BOOK in reconciled(record).reasons


def test_absent_cache_counts_are_named_for_billed_models_only() -> None:
    usage = tokens(write=None, semantics=CacheSemantics.UNKNOWN)
    assert Reason.CACHE_COUNTS_ABSENT in reconciled(trial(HERE, usage)).reasons
    own = trial(None, usage, hosting=Hosting.SELF_HOSTED, provider="endpoint")
    assert Reason.CACHE_COUNTS_ABSENT not in reconciled(own).reasons


def test_counts_of_the_last_turn_are_doubtful_although_the_figures_agree() -> None:
    warning = DataWarning(code="last-turn-counters", text="Too few.")
    found = reconciled(trial(HERE, USAGE, warnings=(warning,)))
    assert found.agreement is Agreement.AGREES
    assert found.reasons == (Reason.LAST_TURN,)


def test_a_total_with_the_cache_twice_is_named_with_its_factor() -> None:
    usage = tokens(fresh=1_000_000, read=900_000, write=50_000, semantics=CacheSemantics.PARTITION)
    record = trial(None, usage, hosting=Hosting.SELF_HOSTED, provider="endpoint")
    record = record.model_copy(update={"published": PublishedFigures(total_tokens=1_959_000)})
    note = next(each for each in reconciled(record).notes if each.reason is Reason.CACHE_TWICE)
    assert note.ratio == pytest.approx(1_959_000 / 1_009_000)


def test_a_demonstration_is_free_by_design_and_disagrees_with_nothing() -> None:
    record = trial(0.0, USAGE, basis=CostBasis.NONE, hosting=Hosting.BUILT_IN, provider="replay")
    found = reconciled(record)
    assert found.agreement is Agreement.NO_AMOUNT
    assert found.reasons == (Reason.BY_DESIGN,)


@given(st.floats(0.01, 100), st.integers(1, 10**6), st.integers(0, 10**7))
def test_the_ratio_decides_and_every_beyond_has_a_reason(factor: float, output: int, read: int) -> None:
    usage = tokens(output=output, read=read)
    here = priced(usage, REGIONAL)
    found = reconciled(trial(max(factor * here, 1e-6), usage))
    assert found.main is not None
    ratio = found.main.ratio
    assert ratio is not None
    assert ratio == pytest.approx(max(factor * here, 1e-6) / here, rel=1e-6)
    assert found.beyond == (abs(ratio - 1) > AGREES_WITHIN + 1e-12)
    assert not found.beyond or found.reasons
