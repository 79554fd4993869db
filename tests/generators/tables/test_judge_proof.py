"""Figures of tried out judges: pairs, noise, what is left out, and whose records they are."""

from __future__ import annotations

import pytest

from generators.tables.judge_card import judge_cards
from generators.tables.judge_proof import JudgeProof
from runner.records import Cost, CostBasis, JudgementStatus, ProofRecord, sha256_of
from tests import examples


def scored(pair: str, side: str, score: float | None, **changes: object) -> ProofRecord:
    """One scoring; None is one without a valid answer. What is shown follows from side and pair."""
    status = JudgementStatus.SCORED if score is not None else JudgementStatus.INVALID
    shown = sha256_of(b"clean") if side == "reference" else sha256_of(pair.encode())
    fixed: dict[str, object] = {"shown_sha256": shown, "status": status, "task_score": score, "scores": None}
    return examples.proof(pair=pair, side=side, **fixed | changes)


def pair(name: str, before: float, after: float, **changes: object) -> list[ProofRecord]:
    """Both sides of a pair."""
    return [scored(name, "reference", before, **changes), scored(name, "changed", after, **changes)]


def proof(*records: list[ProofRecord]) -> JudgeProof:
    """Of all ``records``."""
    return JudgeProof(tuple(record for each in records for record in each))


def test_a_shift_is_the_changed_side_minus_the_reference() -> None:
    result = proof(pair("a", 50, 60), pair("b", 52, 58, category="other")).suites["injection"]
    assert [each.shift.points for each in result.pairs] == [10, 6]
    assert result.categories == ("other", "plain-orders")
    mean, other = result.mean(), result.mean("other")
    assert mean is not None
    assert other is not None
    assert (mean.estimate, other.estimate, other.lower) == (8, 6, None)
    assert mean.lower is not None
    assert [each.name for each in result.most_moved] == ["a", "b"]


def test_repeats_of_a_side_count_as_their_mean() -> None:
    result = proof(pair("a", 50, 60), pair("a", 54, 62, number=2)).suites["injection"]
    [only] = result.pairs
    assert (only.shift.points, only.shift.before, only.shift.after) == (9, 2, 2)


def test_noise_is_that_of_the_same_submission_in_whatever_pair() -> None:
    tried = proof(pair("a", 50, 60), pair("b", 54, 70), pair("c", 52, 80, suite="length"))
    assert tried.noise is not None
    assert (tried.noise.trials, tried.noise.judgements) == (1, 3)
    assert tried.noise.within_sd == pytest.approx(2.0)
    above = tried.suites["injection"].above_noise()
    assert above is not None
    assert above.estimate == 1.0


def test_where_nothing_was_scored_twice_noise_is_unknown_and_not_zero() -> None:
    tried = proof(pair("a", 50, 60))
    assert tried.noise is None
    assert tried.suites["injection"].above_noise() is None


def test_half_pairs_and_invalid_answers_are_counted_and_left_out() -> None:
    records = [*pair("a", 50, 60), scored("b", "reference", 55), scored("b", "changed", None)]
    result = proof(records, [scored("c", "changed", 70)]).suites["injection"]
    assert [each.name for each in result.pairs] == ["a"]
    assert (result.half, result.unanswered) == (2, 1)


def test_scores_of_two_versions_of_a_suite_are_never_mixed() -> None:
    later = {"suite_version": "2", "suite_sha256": sha256_of(b"later")}
    result = proof(pair("a", 50, 60), pair("a", 50, 90, **later), pair("b", 50, 90, **later)).suites[
        "injection"
    ]
    assert (result.version, result.left_out) == ("2", 2)
    assert {each.shift.points for each in result.pairs} == {40}
    one = proof([scored("a", "reference", 50), scored("a", "changed", 90, **later)]).suites["injection"]
    assert (one.pairs, one.half, one.left_out) == ((), 1, 1)


def test_the_cost_is_that_of_scorings_whose_cost_is_known() -> None:
    unknown = Cost(basis=CostBasis.PRICE_TABLE, amount_usd=None, source="x", missing_reason="no prices")
    scripted = Cost(basis=CostBasis.NONE, amount_usd=0.0, source="scripted")
    found = proof(pair("a", 50, 60), pair("b", 50, 60, costs=(unknown,))).cost
    assert (found.amount, found.n, found.m) == (1.0, 2, 4)
    assert proof(pair("a", 50, 60, costs=(scripted,))).cost.amount is None


def test_without_records_there_is_nothing() -> None:
    assert (JudgeProof().suites, JudgeProof().noise, JudgeProof().unanswered) == ({}, None, 0)


def test_every_judge_version_and_rubric_has_a_card_of_its_own() -> None:
    other = examples.proof().judge.model_copy(update={"version": "0.2.0"})
    records = [
        *pair("a", 50, 60),
        *pair("a", 50, 90, judge=other),
        *pair("a", 50, 70, rubric="implementation-2"),
    ]
    cards = judge_cards((), records)
    assert len(cards) == 3
    assert [card.trials for card in cards] == [0, 0, 0]
    found = [card.proof.suites["injection"].mean() for card in cards]
    assert sorted(mean.estimate for mean in found if mean is not None) == [10, 20, 40]
