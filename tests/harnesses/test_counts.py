"""Counts of single answers: added up by model, with what is unknown said and not guessed."""

from __future__ import annotations

import pytest

from runner.harnesses.counts import ZERO, Counts, gaps, nothing_used, totals, usages

ONE, TWO = Counts(1, 2, 3, 4, 5), Counts(10, 20, 30, 40, None)


def test_sums_are_by_model_in_the_order_of_the_first_answers_and_unknown_stays_unknown() -> None:
    sums = totals([("b", ONE), ("a", ONE), ("b", TWO)])
    assert list(sums.items()) == [("b", Counts(11, 22, 33, 44, None)), ("a", ONE)]
    records = usages(sums, {"input_tokens": "here", "reasoning_tokens": "there"})
    assert records["b"].reasoning_tokens is None
    assert records["b"].sources == {"input_tokens": "here"}
    assert records["a"].sources == {"input_tokens": "here", "reasoning_tokens": "there"}


def test_of_a_run_that_was_turned_away_only_those_counts_are_0_that_it_can_tell() -> None:
    used = nothing_used(["input_tokens"])
    assert (used.input_tokens, set(used.sources)) == (0, {"input_tokens"})


@pytest.mark.parametrize(
    ("answers", "lost", "codes"),
    [
        ([], 0, []),
        ([ONE], 0, []),
        ([ONE, TWO], 0, ["reasoning-not-reported"]),
        # Without any counts, that reasoning is among what is unknown says nothing more.
        ([TWO, ZERO], 0, ["usage-not-reported"]),
        ([ONE], 2, ["usage-is-lower-bound"]),
        ([ZERO], 1, ["usage-not-reported", "usage-is-lower-bound"]),
    ],
)
def test_what_answers_leave_unknown_is_told(answers: list[Counts], lost: int, codes: list[str]) -> None:
    assert [warning.code for warning in gaps(answers, lost)] == codes
