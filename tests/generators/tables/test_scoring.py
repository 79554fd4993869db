"""Scoring: which judgement counts, and the state each trial gets from it."""

from __future__ import annotations

import itertools

import pytest

from generators.tables.scoring import ScoreState, counted_judgement, main_rubric, score_state
from runner.records import JudgementRecord, JudgementStatus, Outcome, Standing
from runner.store import StoredTrial
from tests import examples
from tests.generators.tables.made import Made
from tests.generators.tables.memory import NOWHERE, stored

SCORED, ZERO, INVALID = (
    JudgementStatus.SCORED,
    JudgementStatus.ZERO_BY_MISSING_ARTIFACTS,
    JudgementStatus.INVALID,
)


def judged(number: int, rubric: str, status: JudgementStatus = SCORED, judge: str = "one") -> JudgementRecord:
    """A judgement of the example trial."""
    record = examples.judgement()
    return record.model_copy(
        update={
            "number": number,
            "rubric": rubric,
            "status": status,
            "judge": record.judge.model_copy(update={"name": judge}),
        }
    )


def with_judgements(*judgements: JudgementRecord) -> StoredTrial:
    """A trial with these judgements."""
    return StoredTrial(examples.trial(), judgements, (), NOWHERE)


def test_the_latest_judgement_by_the_rubric_counts() -> None:
    trial = with_judgements(judged(1, "a"), judged(3, "a"), judged(2, "a"), judged(9, "b"))
    found = counted_judgement(trial, "a")
    assert found is not None
    assert (found.number, found.rubric) == (3, "a")


def test_an_invalid_judgement_never_replaces_a_valid_one() -> None:
    found = counted_judgement(with_judgements(judged(1, "a"), judged(2, "a", INVALID)), "a")
    assert found is not None
    assert found.number == 1


def test_of_two_judges_with_one_number_the_choice_does_not_depend_on_their_order() -> None:
    pair = (judged(1, "a", judge="x"), judged(1, "a", judge="y"))
    names = set()
    for order in itertools.permutations(pair):
        found = counted_judgement(with_judgements(*order), "a")
        assert found is not None
        names.add(found.judge.name)
    assert names == {"y"}


def test_a_rubric_nobody_used_has_no_judgement() -> None:
    assert counted_judgement(with_judgements(judged(1, "a")), "b") is None
    assert counted_judgement(with_judgements(), None) is None


def test_the_rubric_of_most_judgements_is_the_main_one() -> None:
    trials = [
        with_judgements(judged(1, "a")),
        with_judgements(judged(1, "b")),
        with_judgements(judged(1, "b")),
    ]
    assert main_rubric(trials) == "b"
    assert main_rubric(reversed(trials)) == "b"


def test_a_tie_of_rubrics_goes_to_the_name_that_sorts_last_and_invalid_ones_have_no_say() -> None:
    trials = [with_judgements(judged(1, "a")), with_judgements(judged(1, "b"))]
    assert main_rubric(trials) == "b"
    trials = [with_judgements(judged(1, "a")), with_judgements(judged(1, "b", INVALID))]
    assert main_rubric(trials) == "a"
    assert main_rubric([with_judgements()]) is None


@pytest.mark.parametrize("standing", [Standing.SUPERSEDED, Standing.PROBE])
def test_a_trial_that_does_not_count_is_left_out_whatever_its_score(standing: Standing) -> None:
    made = Made(standing=standing)
    state, reason = score_state(made.record(), made.judgements()[0])
    assert state is ScoreState.EXCLUDED
    assert reason == f"{standing.value}: replaced"


@pytest.mark.parametrize("outcome", list(Outcome))
def test_an_outcome_alone_makes_no_trial_a_failed_one_except_cheating(outcome: Outcome) -> None:
    state, reason = score_state(Made(points=None, outcome=outcome).record(), None)
    assert state is (ScoreState.FAILED if outcome is Outcome.CHEATING else ScoreState.UNSCORED)
    ours = outcome in {Outcome.INFRASTRUCTURE, Outcome.CANCELLED}
    assert ours == ("our side failed" in reason)


@pytest.mark.parametrize(
    "outcome", [Outcome.TIMEOUT, Outcome.INCOMPLETE, Outcome.BUDGET, Outcome.MODEL_ERROR]
)
def test_a_judged_trial_is_scored_however_it_ended(outcome: Outcome) -> None:
    made = Made(outcome=outcome)
    assert score_state(made.record(), made.judgements()[0])[0] is ScoreState.SCORED


def test_missing_artifacts_make_a_failed_trial() -> None:
    made = Made(points=(0, 0, 0, 0), status=ZERO)
    state, reason = score_state(made.record(), made.judgements()[0])
    assert state is ScoreState.FAILED
    assert "artifacts are missing" in reason


def test_a_cheat_is_failed_even_with_a_score() -> None:
    made = Made(outcome=Outcome.CHEATING)
    assert score_state(made.record(), made.judgements()[0])[0] is ScoreState.FAILED


def test_every_state_comes_from_some_trial() -> None:
    trials = [
        Made(),
        Made(points=(0, 0, 0, 0), status=ZERO),
        Made(points=None),
        Made(standing=Standing.PROBE),
    ]
    states = set()
    for made in trials:
        judgement = counted_judgement(stored(made), "implementation-1")
        states.add(score_state(made.record(), judgement)[0])
    assert states == set(ScoreState)
