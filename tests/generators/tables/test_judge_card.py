"""The judge card: what repeats, other judges and checks show of a judge, and what nobody measured."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from generators.tables.facts import TrialFacts, derive_facts
from generators.tables.judge_card import JudgeCard, judge_cards
from generators.tables.yardstick import Yardstick
from runner.records import (
    CheckStatus,
    Cost,
    CostBasis,
    JudgementAttempt,
    JudgementRecord,
    JudgementStatus,
    SeenPart,
)
from runner.store import StoredTrial
from tests import examples
from tests.generators.tables.made import Made
from tests.generators.tables.memory import NO_PRICES, NOWHERE
from tests.generators.tables.test_yardstick import judged

PASSED, FAILED = CheckStatus.PASSED, CheckStatus.FAILED


def trial(
    task: str, judgements: Sequence[JudgementRecord], checks: tuple[CheckStatus, ...] = ()
) -> TrialFacts:
    """A trial of this task with these judgements and checks."""
    made = Made(task=task, points=None, checks=checks)
    stored = StoredTrial(made.record(), tuple(judgements), made.check_records(), NOWHERE)
    return derive_facts(stored, NO_PRICES, None, None)


def only(trials: Sequence[TrialFacts]) -> JudgeCard:
    (card,) = judge_cards(trials)
    return card


def test_repeats_show_how_far_a_judge_agrees_with_itself() -> None:
    card = only(
        [
            trial("a", [judged(1, points=70), judged(2, points=74)]),
            trial("b", [judged(1, points=40), judged(2, points=44)]),
            trial("c", [judged(1, points=90)]),
        ]
    )
    assert card.repeats is not None
    assert card.repeats.within_sd == pytest.approx(8**0.5)
    assert (card.repeats.trials, card.repeats.judgements, card.trials) == (2, 4, 3)
    assert card.repeats.icc is not None
    assert card.repeats.icc.estimate > 0.98


def test_a_judge_that_judged_each_trial_once_has_no_repeatability() -> None:
    assert only([trial("a", [judged(1)]), trial("b", [judged(1)])]).repeats is None


def test_judges_are_compared_on_the_trials_that_both_scored() -> None:
    trials = [
        trial("a", [judged(1, judge="x", points=70), judged(1, judge="y", points=60)]),
        trial("b", [judged(1, judge="x", points=50), judged(1, judge="y", points=44)]),
        trial("c", [judged(1, judge="x", points=90)]),
    ]
    cards = {card.yardstick.judge: card for card in judge_cards(trials)}
    (pairing,) = cards["x"].pairings
    assert (pairing.other.judge, pairing.trials) == ("y", 2)
    assert pairing.limits is not None
    assert pairing.limits.bias.estimate == 8.0
    (back,) = cards["y"].pairings
    assert back.limits is not None
    assert back.limits.bias.estimate == -8.0
    assert pairing.kappa == pytest.approx(back.kappa)
    assert pairing.kappa is not None
    assert pairing.kappa < 1


def test_judges_by_different_rubrics_are_not_compared() -> None:
    trials = [trial("a", [judged(1, judge="x", rubric="r-1"), judged(1, judge="y", rubric="r-2")])]
    assert all(card.pairings == () for card in judge_cards(trials))


def test_another_version_of_a_judge_is_another_judge() -> None:
    trials = [trial("a", [judged(1, version="1"), judged(2, version="2")])]
    assert [card.yardstick.version for card in judge_cards(trials)] == ["1", "2"]


def test_scores_are_set_against_what_the_checks_said() -> None:
    trials = [
        trial("a", [judged(1, points=90)], (PASSED, PASSED)),
        trial("b", [judged(1, points=30)], (PASSED, FAILED)),
        trial("c", [judged(1, points=85)], (FAILED,)),
        trial("d", [judged(1, points=95)], (PASSED,)),
        trial("e", [judged(1, points=10)]),
    ]
    card = only(trials)
    assert card.area is not None
    assert (card.area.estimate, card.area.count) == (1.0, 4)
    shares = {each.lowest: (each.passed.estimate, each.passed.count) for each in card.calibration}
    assert shares == {20: (0.0, 1), 80: (pytest.approx(2 / 3), 3)}


def test_without_checks_nothing_is_said_about_tests() -> None:
    card = only([trial("a", [judged(1)])])
    assert card.area is None
    assert card.calibration == []


def test_invalid_answers_are_counted_and_enter_no_figure() -> None:
    invalid = judged(2, status=JudgementStatus.INVALID)
    card = only([trial("a", [judged(1, points=70), invalid])])
    assert card.statuses[JudgementStatus.INVALID] == 1
    assert (len(card.judged), card.trials, card.repeats) == (2, 1, None)


def seen(number: int, points: int, characters: int) -> JudgementRecord:
    part = SeenPart(name="implementation.md", sha256="a" * 64, characters=characters)
    return judged(number, points=points).model_copy(update={"seen": (part,)})


def test_longer_work_with_higher_scores_shows_as_a_correlation() -> None:
    card = only([trial(str(n), [seen(1, 30 + n, 100 * n)]) for n in range(1, 13)])
    assert card.length_bias is not None
    assert card.length_bias.estimate == pytest.approx(1.0)
    blank = judged(1).model_copy(update={"seen": ()})
    assert only([trial("a", [blank])]).length_bias is None


def test_each_artifact_has_its_mean_and_spread_with_each_trial_counting_once() -> None:
    card = only(
        [trial("a", [judged(1, points=60), judged(2, points=80)]), trial("b", [judged(1, points=90)])]
    )
    (spread,) = card.artifacts
    assert (spread.artifact, spread.mean, spread.trials) == ("implementation", 80.0, 2)
    assert spread.deviation == pytest.approx(200**0.5)


def test_the_correlation_of_criteria_needs_variation() -> None:
    card = only([trial(str(n), [judged(1, points=points)]) for n, points in enumerate([10, 30, 60, 99])])
    found = card.criteria["completeness", "correctness"]
    assert found is not None
    assert 0 < found.estimate <= 1
    assert len(card.criteria) == 6
    assert only([trial("a", [judged(1)])]).criteria["completeness", "correctness"] is None


def priced(number: int, amount: float | None, basis: CostBasis = CostBasis.METERED) -> JudgementRecord:
    why = None if amount is not None else "no price"
    cost = Cost(basis=basis, amount_usd=amount, source="gateway", missing_reason=why)
    attempt = JudgementAttempt(number=1, started_at=examples.NOON, prompt_sha256="b" * 64)
    return judged(number).model_copy(
        update={"costs": (cost,), "duration_seconds": 4.0, "attempts": (attempt, attempt)}
    )


def test_cost_and_time_are_means_over_what_is_known_and_scripted_judgements_are_not_free() -> None:
    unpriced = judged(4).model_copy(update={"costs": (), "duration_seconds": None, "attempts": ()})
    card = only([trial("a", [priced(1, 0.1), priced(2, None), priced(3, 0.0, CostBasis.NONE), unpriced])])
    assert (card.cost.amount, card.cost.n, card.cost.m) == (0.1, 1, 4)
    assert (card.seconds.amount, card.seconds.n, card.seconds.m) == (4.0, 3, 4)
    assert card.asked_again == 3
    unknown = only([trial("a", [unpriced])]).cost
    assert (unknown.amount, unknown.reason) == (None, "what judging cost is not recorded")
    free = only([trial("a", [priced(1, 0.0, CostBasis.NONE)])]).cost
    assert (free.amount, free.reason) == (None, "scripted answers, which nobody bills for")


def test_cards_with_most_judgements_come_first() -> None:
    trials = [trial("a", [judged(1, judge="x"), judged(1, judge="y"), judged(2, judge="y")])]
    assert [card.yardstick.judge for card in judge_cards(trials)] == ["y", "x"]
    assert judge_cards([]) == ()


def test_a_scripted_answer_says_nothing_about_a_real_trial() -> None:
    scripted = judged(1).model_copy(update={"demonstration": True})
    assert judge_cards([trial("a", [scripted])]) == ()
    made = Made(task="a", points=None, changes={"demonstration": True})
    stored = StoredTrial(made.record(), (scripted,), (), NOWHERE)
    assert len(judge_cards([derive_facts(stored, NO_PRICES, None, None)])) == 1
    real = StoredTrial(Made(task="a", points=None).record(), (scripted,), (), NOWHERE)
    assert derive_facts(real, NO_PRICES, Yardstick.of(scripted), None).score is None
