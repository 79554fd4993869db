"""The three words, the number that decided each, and what would decide it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.bounds import Bounds
from generators.statistics.paired import paired_t
from generators.statistics.verdict import Deciding, Kind, Pair, Word, gather, verdict, verdicts, weigh

BASE = [60.0, 72.0, 55.0, 81.0, 64.0, 70.0, 58.0, 77.0, 66.0, 62.0, 59.0, 74.0]
SHIFT = [6.0, 4.0, 7.0, 5.0, 3.0, 8.0, 6.0, 5.0, 4.0, 6.0, 7.0, 5.0]
BETTER = [base + shift for base, shift in zip(BASE, SHIFT, strict=True)]
SCORES = st.lists(st.floats(0, 100), min_size=0, max_size=30)


def test_a_clear_difference_is_better_with_its_p() -> None:
    found = verdict(Pair(BETTER, BASE))
    assert (found.word, found.favoured, found.deciding) == (Word.BETTER, "first", Deciding.P_VALUE)
    assert found.deciding_number == pytest.approx(2 / 2**12)
    assert found.limit == 0.05
    assert found.explanation == "5.5 points on 12 common tasks; p 0.000488 by sign-flip"
    assert found.plan is None


def test_turned_around_the_other_one_is_better() -> None:
    found = verdict(Pair(BASE, BETTER))
    assert (found.word, found.favoured) == (Word.BETTER, "second")


def test_five_tasks_never_claim_and_say_what_is_missing() -> None:
    found = verdict(Pair([99.0, 98.0, 97.0, 99.0, 96.0], [1.0, 2.0, 3.0, 1.0, 2.0]))
    assert (found.word, found.favoured) == (Word.NOT_ENOUGH, None)
    assert (found.deciding, found.deciding_number, found.limit) == (Deciding.TASKS, 5.0, 6.0)
    assert found.explanation.startswith("5 common tasks: with fewer than 6")
    assert "about 1 more common task " in found.what_would_decide


def test_close_cells_are_a_tie_and_the_cheaper_is_named() -> None:
    near = [base + step for base, step in zip(BASE, [1, -1] * 6, strict=True)]
    found = verdict(Pair(near, BASE, first_cost=3.0, second_cost=1.5))
    assert (found.word, found.favoured, found.deciding) == (Word.TIE, "second", Deciding.INTERVAL_END)
    assert found.deciding_number < found.limit == 5.0
    assert verdict(Pair(near, BASE, first_cost=1.0, second_cost=1.5)).favoured == "first"


@pytest.mark.parametrize("costs", [(None, 1.0), (1.0, None), (None, None), (2.0, 2.0)])
def test_a_tie_without_two_comparable_costs_names_nobody(costs: tuple[float | None, float | None]) -> None:
    near = [base + step for base, step in zip(BASE, [1, -1] * 6, strict=True)]
    found = verdict(Pair(near, BASE, first_cost=costs[0], second_cost=costs[1]))
    assert (found.word, found.favoured) == (Word.TIE, None)
    assert "costs are unknown" in found.what_would_decide


def test_wide_scatter_is_not_enough_and_the_next_run_has_a_price() -> None:
    noisy = [base + step for base, step in zip(BASE, [20, -15, 9, -12, 18, -3] * 2, strict=True)]
    found = verdict(Pair(noisy, BASE, first_cost=2.0, second_cost=1.0))
    assert (found.word, found.deciding) == (Word.NOT_ENOUGH, Deciding.P_VALUE)
    assert found.deciding_number > 0.05
    assert found.plan is not None
    assert found.plan.more is not None
    assert found.plan.cost_usd == pytest.approx(3.0 * found.plan.more)
    assert f"about {found.plan.more} more common tasks" in found.what_would_decide


def test_a_table_of_pairs_needs_more_than_a_single_one() -> None:
    weak = [base + step for base, step in zip(BASE, [6, 4, -3, 5, 3, 8, -2, 5, -1, 6, 2, 1], strict=True)]
    alone = verdict(Pair(weak, BASE))
    assert alone.word is Word.BETTER
    many = verdicts([Pair(weak, BASE)] + [Pair(BASE, BASE[::-1])] * 20)
    assert many[0].word is not Word.BETTER
    assert "adjusted for 21 pairs" in many[0].explanation
    assert many[0].deciding_number == pytest.approx(min(1.0, 21 * alone.deciding_number))


def test_pairs_that_can_claim_nothing_cost_the_others_nothing() -> None:
    few = Pair([1.0, 2.0], [3.0, 4.0])
    assert weigh([Pair(BETTER, BASE), few, few])[0].family == 1
    assert verdicts([Pair(BETTER, BASE), few])[0] == verdict(Pair(BETTER, BASE))


def test_passes_and_failures_are_decided_by_mcnemar() -> None:
    first, second = [100.0] * 12 + [0.0] * 9, [100.0] * 4 + [0.0] * 17
    found = verdict(Pair(first, second, Kind.CHECK))
    assert (found.word, found.evidence.test) == (Word.BETTER, "exact McNemar")
    assert found.deciding_number == pytest.approx(2 / 2**8)
    five = verdict(Pair([*first[:8], 0.0], [*second[:8], 0.0], Kind.CHECK))
    assert five.evidence.p_value == pytest.approx(0.125)
    assert five.word is Word.NOT_ENOUGH


def test_several_trials_a_task_are_decided_by_signs_over_tasks() -> None:
    first, second = [100.0, 66.7, 33.3, 100.0, 66.7, 100.0, 33.3], [0.0, 33.3, 0.0, 33.3, 0.0, 33.3, 0.0]
    found = verdict(Pair(first, second, Kind.CHECK))
    assert found.evidence.test == "sign-flip"
    assert found.deciding_number == pytest.approx(2 / 2**7)


def test_equal_outcomes_on_all_tasks_are_no_tie_yet() -> None:
    found = verdict(Pair([100.0] * 10, [100.0] * 10, Kind.CHECK))
    assert found.word is Word.NOT_ENOUGH
    assert "beyond the 5 of a tie" in found.explanation
    assert found.plan is not None


def test_missing_trials_that_could_undo_a_claim_are_named() -> None:
    shaky = verdict(Pair(BETTER, BASE, bounds=Bounds(-3.0, 9.0, 2)))
    firm = verdict(Pair(BETTER, BASE, bounds=Bounds(1.0, 9.0, 1)))
    assert shaky.what_would_decide == "2 missing trials could still undo it: run them"
    assert firm.what_would_decide == "decided whatever the 1 missing trial would give"


def test_tasks_of_one_repository_are_named() -> None:
    found = verdict(Pair(BETTER, BASE, clusters=["app"] * 12))
    assert found.word is Word.BETTER
    assert "all 12 tasks are of one repository" in found.what_would_decide


def test_few_clusters_weaken_a_claim() -> None:
    found = verdict(Pair(BETTER, BASE, clusters=["a" if step > 5 else "b" for step in SHIFT]))
    plain = verdict(Pair(BETTER, BASE))
    assert found.evidence.p_value is not None
    assert plain.evidence.p_value is not None
    assert found.evidence.p_value > plain.evidence.p_value
    assert found.evidence.test == "clustered t"


def test_cells_without_a_common_task_have_no_evidence() -> None:
    found = verdict(Pair([1.0, math.nan], [math.nan, 2.0]))
    assert (found.word, found.evidence.tasks, found.evidence.interval) == (Word.NOT_ENOUGH, 0, None)
    assert found.plan is not None
    assert found.plan.more == 6


def test_the_same_advantage_on_every_task_is_better_although_it_has_no_spread() -> None:
    found = verdict(Pair([value + 5 for value in BASE], BASE))
    assert (found.word, found.evidence.test) == (Word.BETTER, "sign-flip")


@given(SCORES, st.data())
def test_whatever_the_scores_one_word_comes_out_and_turns_with_the_pair(
    first: list[float], data: st.DataObject
) -> None:
    second = data.draw(st.lists(st.floats(0, 100), min_size=len(first), max_size=len(first)))
    one, two = verdict(Pair(first, second, first_cost=1.0, second_cost=2.0)), verdict(Pair(second, first))
    assert one.word is two.word
    assert one.deciding_number == pytest.approx(two.deciding_number)
    assert one.explanation
    assert one.what_would_decide
    if one.word is Word.BETTER:
        assert {one.favoured, two.favoured} == {"first", "second"}


@given(st.lists(st.floats(0, 100), min_size=1, max_size=5), st.sampled_from(list(Kind)))
def test_no_five_tasks_whatever_make_a_claim(scores: list[float], kind: Kind) -> None:
    assert verdict(Pair(scores, [0.0] * len(scores), kind)).word is Word.NOT_ENOUGH


def test_evidence_of_a_pair_is_its_interval_and_the_larger_p() -> None:
    found = gather(Pair(BETTER, BASE))
    assert found.interval is not None
    assert found.interval.estimate == pytest.approx(5.5)
    assert found.spread == pytest.approx(float(np.std(SHIFT, ddof=1)))
    assert found.p_value == pytest.approx(2 / 2**12)


def test_a_plan_among_many_pairs_asks_for_what_the_board_asks_for() -> None:
    generator = np.random.default_rng(11)
    base = generator.normal(60, 9, 21)
    noise = [Pair(base, base + generator.normal(0, 20, 21)) for _ in range(9)]
    asked = Pair(base + 9.0 + 27.0 * np.resize([1.0, -1.0, 0.0], 21), base)
    alone, among = verdict(asked), verdicts([asked, *noise])[0]
    assert alone.plan is not None
    assert among.plan is not None
    assert (alone.against, among.against > 5) == (1, True)
    assert "show a difference of 9.0 points" in among.what_would_decide
    assert (among.plan.more or 0) > (alone.plan.more or 0)
    size = 21 + (among.plan.more or 0)
    estimate, spread = among.evidence.interval, among.evidence.spread
    assert estimate is not None
    assert spread is not None
    drawn = (paired_t(generator.normal(estimate.estimate, spread, size)) for _ in range(800))
    shown = sum(each is not None and (each.p_value or 0.0) * among.against < 0.05 for each in drawn)
    assert 0.75 <= shown / 800 <= 0.88


def test_a_pair_of_five_tasks_joins_only_the_undecided_ones() -> None:
    few = Pair([60.0, 61.0, 70.0, 66.0, 50.0], [50.0, 58.0, 61.0, 60.0, 47.0])
    assert verdicts([few, few])[0].against == 1
    sure = Pair(np.linspace(70, 90, 21), np.linspace(50, 69, 21))
    same = Pair(np.linspace(50, 69, 21), np.linspace(50, 69, 21) + np.tile([9.0, -9.0, 0.0], 7))
    assert [each.against for each in verdicts([few, sure, same])] == [2, 2, 1]
