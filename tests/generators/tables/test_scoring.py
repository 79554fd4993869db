"""Scoring: the state each trial gets from its judgements."""

from __future__ import annotations

import pytest

from generators.tables.scoring import ScoreState, score_state
from generators.tables.yardstick import counted_judgements
from runner.records import JudgementStatus, Outcome, Standing
from tests.generators.tables.made import Made
from tests.generators.tables.memory import stored, yardstick

ZERO = JudgementStatus.ZERO_BY_MISSING_ARTIFACTS


@pytest.mark.parametrize("standing", [Standing.SUPERSEDED, Standing.PROBE])
def test_a_trial_that_does_not_count_is_left_out_whatever_its_score(standing: Standing) -> None:
    made = Made(standing=standing)
    state, reason = score_state(made.record(), made.judgements())
    assert state is ScoreState.EXCLUDED
    assert reason == f"{standing.value}: replaced"


@pytest.mark.parametrize("outcome", list(Outcome))
def test_an_outcome_alone_makes_no_trial_a_failed_one_except_cheating(outcome: Outcome) -> None:
    state, reason = score_state(Made(points=None, outcome=outcome).record(), ())
    assert state is (ScoreState.FAILED if outcome is Outcome.CHEATING else ScoreState.UNSCORED)
    ours = outcome in {Outcome.INFRASTRUCTURE, Outcome.CANCELLED}
    assert ours == ("our side failed" in reason)


@pytest.mark.parametrize(
    "outcome", [Outcome.TIMEOUT, Outcome.INCOMPLETE, Outcome.BUDGET, Outcome.MODEL_ERROR]
)
def test_a_judged_trial_is_scored_however_it_ended(outcome: Outcome) -> None:
    made = Made(outcome=outcome)
    assert score_state(made.record(), made.judgements())[0] is ScoreState.SCORED


def test_missing_artifacts_make_a_failed_trial() -> None:
    made = Made(points=(0, 0, 0, 0), status=ZERO)
    state, reason = score_state(made.record(), made.judgements())
    assert state is ScoreState.FAILED
    assert "artifacts are missing" in reason


def test_a_cheat_is_failed_even_with_a_score() -> None:
    made = Made(outcome=Outcome.CHEATING)
    assert score_state(made.record(), made.judgements())[0] is ScoreState.FAILED


def test_every_state_comes_from_some_trial() -> None:
    trials = [
        Made(),
        Made(points=(0, 0, 0, 0), status=ZERO),
        Made(points=None),
        Made(standing=Standing.PROBE),
    ]
    states = set()
    for made in trials:
        states.add(score_state(made.record(), counted_judgements(stored(made), yardstick()))[0])
    assert states == set(ScoreState)
