"""Cell reconciliation: both sides are summed over the same trials, and one odd trial can flag a cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs.cell_reconciliation import failed_tasks, other_hourly_rate, reconcile_cell
from runner.costs.comparison import Pair
from runner.costs.disagreement import Agreement, Reason
from runner.records import CostBasis, Hosting
from tests.costs.charges import GLOBAL, REGIONAL, followed_by, priced, reconciled, tokens, trial

USAGES = [tokens(output=output) for output in (1_000, 20_000, 3_000)]


def test_sums_are_over_trials_that_have_both() -> None:
    found = reconcile_cell(
        [*(reconciled(trial(priced(u, REGIONAL), u)) for u in USAGES), reconciled(trial(9.0, None))]
    )
    (book,) = found.comparisons
    assert book.n == 3
    total = sum(priced(usage, REGIONAL) for usage in USAGES)
    assert book.first.amount_usd == pytest.approx(total)
    assert book.second.amount_usd == pytest.approx(total)
    assert found.agreement is Agreement.AGREES
    assert dict(found.reasons)[Reason.WITHOUT_TOKENS] == 1


def test_one_expensive_trial_flags_the_cell_and_names_its_class() -> None:
    records = [trial(priced(usage, REGIONAL), usage) for usage in USAGES]
    records.append(trial(30 * priced(USAGES[0], REGIONAL), USAGES[0], skill="swe2"))
    found = reconcile_cell([reconciled(record) for record in records])
    assert found.beyond
    assert found.reason is Reason.SUBAGENTS


def test_a_cheap_odd_trial_does_not_flag_the_cell() -> None:
    huge = tokens(fresh=90_000_000)
    small = tokens(fresh=1_000, read=0, write=0, output=10)
    records = [trial(priced(huge, REGIONAL), huge), trial(2 * priced(small, REGIONAL), small)]
    trials = [reconciled(record) for record in records]
    assert [each.beyond for each in trials] == [False, True]
    assert not reconcile_cell(trials).beyond


def test_opposite_errors_do_not_hide_in_a_trial() -> None:
    usage = USAGES[1]
    records = [trial(factor * priced(usage, REGIONAL), usage) for factor in (0.5, 1.5)]
    trials = [reconciled(record) for record in records]
    cell = reconcile_cell(trials)
    assert all(each.beyond for each in trials)
    assert cell.main is not None
    assert cell.main.ratio == pytest.approx(1)


def test_the_oldest_price_day_stands_beside_a_sum() -> None:
    records = [trial(priced(usage, GLOBAL), usage) for usage in USAGES]
    found = reconcile_cell([reconciled(record, followed_by(*records)) for record in records])
    days = [each.main.second.price_as_of for each in found.trials if each.main]
    assert found.main is not None
    assert found.main.second.price_as_of == min(day for day in days if day is not None)
    assert found.main.reasons == ((Reason.OTHER_LIST, 3),)


def test_a_cell_of_single_figures_says_so() -> None:
    alone = trial(
        0.2, None, basis=CostBasis.CREDITS, hosting=Hosting.VENDOR_MANAGED, provider="kiro", credits_used=None
    )
    found = reconcile_cell([reconciled(alone)] * 3)
    assert found.agreement is Agreement.ONE_WAY
    assert found.reason is Reason.CREDITS_ONLY
    assert found.main is None


def test_a_cell_without_trials_knows_no_amount() -> None:
    found = reconcile_cell([])
    assert found.agreement is Agreement.NO_AMOUNT
    assert found.reason is None
    assert found.reasons == ()


@pytest.mark.parametrize(
    ("spent", "graded", "named"),
    [(10.0, 8.0, True), (10.0, 9.9, False), (None, 8.0, False), (10.0, 0.0, False)],
)
def test_failed_tasks_are_named_where_they_weigh(
    spent: float | None, graded: float | None, *, named: bool
) -> None:
    note = failed_tasks(spent, graded)
    assert (note is not None) == named
    if note is not None:
        assert note.reason is Reason.FAILED_TASKS
        assert note.ratio == pytest.approx(1.25)


def test_another_hourly_rate_is_named_with_its_factor() -> None:
    note = other_hourly_rate(54.92, 27.72)
    assert note is not None
    assert note.ratio == pytest.approx(1.9812, abs=1e-4)
    assert other_hourly_rate(27.72, 27.72) is None
    assert other_hourly_rate(None, 27.72) is None


@given(st.lists(st.floats(0.2, 5.0), min_size=1, max_size=6))
def test_the_ratio_of_sums_lies_between_the_ratios_of_the_trials(factors: list[float]) -> None:
    trials = [
        reconciled(trial(factor * priced(USAGES[i % 3], REGIONAL), USAGES[i % 3]))
        for i, factor in enumerate(factors)
    ]
    (book,) = reconcile_cell(trials).comparisons
    assert book.pair is Pair.BOOK
    assert book.ratio is not None
    assert min(factors) * (1 - 1e-5) <= book.ratio <= max(factors) * (1 + 1e-5)
