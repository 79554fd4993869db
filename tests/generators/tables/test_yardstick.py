"""Yardstick: which judgements stand behind a score, and what never shares a figure with them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.tables.facts import derive_facts
from generators.tables.scoring import ScoreState
from generators.tables.yardstick import Yardstick, counted_judgements, main_yardstick
from runner.records import ArtifactScore, JudgementRecord, JudgementStatus
from runner.store import StoredTrial
from tests import examples
from tests.generators.tables.memory import NO_PRICES, NOWHERE

SCORED, INVALID = JudgementStatus.SCORED, JudgementStatus.INVALID


def judged(
    number: int = 1,
    *,
    rubric: str = "a",
    status: JudgementStatus = SCORED,
    judge: str = "one",
    points: int = 75,
    version: str | None = None,
) -> JudgementRecord:
    """A judgement of the example trial."""
    record = examples.judgement()
    valid = status is SCORED
    first = min(points, 25)
    score = ArtifactScore(
        completeness=first,
        correctness=min(points - first, 25),
        specificity=min(max(points - first - 25, 0), 25),
        risk_awareness=max(points - first - 50, 0),
        total=points,
    )
    judged_by = record.judge.model_copy(update={"name": judge, "version": version})
    return record.model_copy(
        update={
            "number": number,
            "rubric": rubric,
            "status": status,
            "judge": judged_by,
            "scores": {"implementation": score} if valid else None,
            "task_score": float(points) if valid else None,
        }
    )


def trial(*judgements: JudgementRecord) -> StoredTrial:
    """A trial with these judgements."""
    return StoredTrial(examples.trial(), judgements, (), NOWHERE)


def yardstick(rubric: str = "a", judge: str = "one", version: str | None = None) -> Yardstick:
    return Yardstick(judge, "judge-model", version, rubric)


def test_every_valid_judgement_by_one_judge_and_rubric_counts_oldest_first() -> None:
    stored = trial(judged(3), judged(1), judged(2, status=INVALID), judged(9, rubric="b"))
    assert [each.number for each in counted_judgements(stored, yardstick())] == [1, 3]


def test_the_score_of_a_trial_is_the_mean_of_its_judgements() -> None:
    facts = derive_facts(trial(judged(1, points=70), judged(2, points=80)), NO_PRICES, yardstick(), None)
    assert (facts.score, facts.state, len(facts.judgements)) == (75.0, ScoreState.SCORED, 2)


@pytest.mark.parametrize(
    "other", [yardstick(rubric="b"), yardstick(judge="two"), yardstick(version="2.0"), None]
)
def test_another_judge_version_or_rubric_never_shares_a_score(other: Yardstick | None) -> None:
    facts = derive_facts(trial(judged()), NO_PRICES, other, None)
    assert (facts.score, facts.judgement, facts.state) == (None, None, ScoreState.UNSCORED)


def test_what_scored_most_trials_is_the_main_one_and_repeats_count_once() -> None:
    many = trial(*(judged(number, judge="x") for number in range(1, 6)))
    trials = [many, trial(judged(judge="y")), trial(judged(judge="y"))]
    assert main_yardstick(trials) == yardstick(judge="y")
    assert main_yardstick(reversed(trials)) == yardstick(judge="y")


def test_a_tie_goes_to_the_one_that_sorts_last_and_invalid_answers_have_no_say() -> None:
    assert main_yardstick([trial(judged(rubric="a")), trial(judged(rubric="b"))]) == yardstick("b")
    assert main_yardstick([trial(judged(judge="x")), trial(judged(judge="y"))]) == yardstick(judge="y")
    assert main_yardstick([trial(judged(rubric="b", status=INVALID)), trial(judged())]) == yardstick()
    assert main_yardstick([trial()]) is None


def test_the_choice_does_not_depend_on_the_order_of_judgements() -> None:
    pair = (judged(1, judge="x"), judged(1, judge="y"))
    found = {main_yardstick([trial(*order)]) for order in itertools.permutations(pair)}
    assert found == {yardstick(judge="y")}


def test_what_sets_a_yardstick_apart_is_said_in_words() -> None:
    main = yardstick()
    assert yardstick().other_than(main) == ""
    assert yardstick("b").other_than(main) == "judged under another rubric: b"
    assert yardstick(judge="two").other_than(main) == "judged by another judge: two (judge-model)"
    assert yardstick(version="2").other_than(main) == "judged by another judge: one (judge-model, 2)"


@given(st.lists(st.integers(0, 100), min_size=1, max_size=6))
def test_a_score_lies_between_its_judgements(points: list[int]) -> None:
    stored = trial(*(judged(number, points=each) for number, each in enumerate(points, 1)))
    score = derive_facts(stored, NO_PRICES, yardstick(), None).score
    assert score is not None
    assert min(points) <= score <= max(points)
