"""pass@k, pass^k and the split of variance over tasks and trials."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.repeats import OverTasks, pass_at_k, pass_hat_k, pass_rates, variance_split


@given(st.integers(1, 7), st.data())
def test_both_rates_equal_every_choice_of_k_trials_counted(trials: int, data: st.DataObject) -> None:
    passed, k = data.draw(st.integers(0, trials)), data.draw(st.integers(1, trials))
    outcomes = [place < passed for place in range(trials)]
    choices = list(itertools.combinations(outcomes, k))
    assert pass_at_k(trials, passed, k) == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_hat_k(trials, passed, k) == pytest.approx(sum(map(all, choices)) / len(choices))


def test_more_trials_help_any_and_hurt_all() -> None:
    assert [pass_at_k(5, 2, k) for k in (1, 2, 3)] == pytest.approx([0.4, 0.7, 0.9])
    assert [pass_hat_k(5, 4, k) for k in (1, 2, 5)] == pytest.approx([0.8, 0.6, 0.0])


def test_trials_that_were_not_made_give_no_rate() -> None:
    assert pass_at_k(2, 1, 3) is None
    assert pass_hat_k(2, 2, 3) is None
    any_of, all_of = pass_rates([(3, 3), (3, 1), (1, 1)], 3)
    assert any_of == OverTasks(1.0, 2, 3)
    assert all_of == OverTasks(0.5, 2, 3)
    assert pass_rates([], 1)[0] == OverTasks(None, 0, 0)


@pytest.mark.parametrize(("trials", "passed", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_counts_that_do_not_fit_are_refused(trials: int, passed: int, k: int) -> None:
    for function in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="passes"):
            function(trials, passed, k)


def test_the_split_is_the_analysis_of_variance_worked_out_by_hand() -> None:
    # Means 2 and 6: MSB = 2 * 8 = 16, MSW = (2 + 2) / 2 = 2, k0 = 2.
    found = variance_split([[1.0, 3.0], [5.0, 7.0], [9.0]])
    assert found is not None
    assert (found.within_tasks, found.between_tasks) == (2.0, 7.0)
    assert (found.tasks, found.trials) == (2, 4)
    assert found.trial_share == pytest.approx(2 / 9)
    assert found.more_trials
    assert found.error_of_mean(5, 3) == pytest.approx(math.sqrt(7 / 5 + 2 / 15))


def test_it_finds_the_parts_that_made_the_data() -> None:
    generator = np.random.default_rng(2)
    tasks = 60 + 5 * generator.standard_normal((2000, 1)) + 3 * generator.standard_normal((2000, 3))
    found = variance_split(list(tasks))
    assert found is not None
    assert found.between_tasks == pytest.approx(25, rel=0.1)
    assert found.within_tasks == pytest.approx(9, rel=0.1)


def test_single_trials_tell_nothing_of_chance() -> None:
    assert variance_split([[1.0], [2.0], [3.0]]) is None
    assert variance_split([[1.0, 2.0], [3.0]]) is None


def test_tasks_that_always_score_alike_ask_for_no_more_trials() -> None:
    found = variance_split([[1.0, 1.0], [5.0, 5.0]])
    assert found is not None
    assert (found.trial_share, found.more_trials) == (0.0, False)
    flat = variance_split([[1.0, 1.0], [1.0, 1.0]])
    assert flat is not None
    assert (flat.trial_share, flat.more_trials) == (None, False)
