"""Budgets: what is known to be spent is counted, and nothing starts above them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.engine.places import Places
from runner.engine.spending import Account, Budget, Spent, spent_by, tokens_used
from runner.records import CacheSemantics, Cost, CostBasis
from runner.store import ResultsStore
from tests.engine.runs import run
from tests.engine.standin import run_script
from tests.examples import trial, usage

SPEND = "say(tokens=100, cost=1.0)\nchange(); note()\n"


def finished(places: Places) -> int:
    return len(list(ResultsStore(places.results).trials()))


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ({"budget_usd": 2}, 2),
        ({"budget_usd": 1.5}, 2),
        ({"budget_tokens": 300}, 3),
        ({"budget_seconds": 1e-9}, 1),
        ({"cell_budget_usd": 3}, 3),
        ({"cell_budget_tokens": 150}, 2),
        ({}, 4),
    ],
)
def test_nothing_starts_above_a_budget(places: Places, budget: dict[str, float], expected: int) -> None:
    given: dict[str, object] = {"trials": 4, "concurrency": 1, **budget}
    code, output = run_script(places, SPEND, flags=given)
    assert finished(places) == expected
    assert (code, "is used up" in output) == ((3, True) if budget else (0, False))


def test_a_larger_budget_on_resume_goes_on_and_counts_what_was_spent(places: Places) -> None:
    run_script(places, SPEND, trials=4, concurrency=1, budget_usd=1)
    assert finished(places) == 1
    assert run(places, {"budget_usd": 3}, resume=True, environment={})[0] == 3
    assert finished(places) == 3


def test_one_cell_above_its_budget_does_not_stop_another(places: Places) -> None:
    text = "say(tokens=100 if len(os.environ['KEY']) else 1, cost=1.0)\nchange(); note()\n"
    run_script(places, text, model="m,n", trials=3, concurrency=1, cell_budget_usd=2)
    cells = [stored.record.identity.cell.model.slug for stored in ResultsStore(places.results).trials()]
    assert sorted(cells) == ["m", "m", "n", "n"]


def test_tokens_are_counted_once_whatever_the_semantics() -> None:
    disjoint = usage().model_copy(update={"cache_semantics": CacheSemantics.DISJOINT})
    partition = usage().model_copy(update={"cache_semantics": CacheSemantics.PARTITION})
    known = [
        disjoint.input_tokens,
        disjoint.output_tokens,
        disjoint.cache_read_tokens,
        disjoint.cache_write_tokens,
    ]
    assert tokens_used(disjoint) == sum(each or 0 for each in known)
    assert tokens_used(partition) == (disjoint.input_tokens or 0) + (disjoint.output_tokens or 0)
    assert tokens_used(None) == 0


def test_tokens_of_known_invocations_count_although_the_sum_is_unknown() -> None:
    one = trial()
    unknown = one.model_copy(update={"usage": None})
    assert spent_by(unknown).tokens == sum(tokens_used(each.usage) for each in one.invocations) > 0


def test_money_that_was_not_billed_is_not_spent() -> None:
    notional = Cost(basis=CostBasis.NOTIONAL, amount_usd=9.0, source="list price")
    assert spent_by(trial().model_copy(update={"costs": (notional,)})).usd == 0


AMOUNTS = st.builds(Spent, st.floats(0, 1e6), st.integers(0, 10**9), st.floats(0, 1e6))


@given(AMOUNTS, AMOUNTS)
def test_spending_more_never_frees_a_budget(first: Spent, second: Spent) -> None:
    budget = Budget(usd=100.0, tokens=1000, seconds=50.0)
    if budget.used_up(first):
        assert budget.used_up(first + second)


def test_no_budget_is_never_used_up() -> None:
    account = Account(Budget(), {})
    account.add(trial())
    assert account.run_used_up() is None
    assert account.cell_used_up(trial().identity.cell.key) is None
