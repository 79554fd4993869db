"""What the indexes say about outcomes and scores is what the committed records say."""

from __future__ import annotations

from collections import Counter

import pytest

from runner.records import (
    JudgementStatus,
    Outcome,
    Standing,
)
from tests.importers import figures
from tests.importers.lookup import (
    EFS,
    ENV,
    FAISS,
    KEYCLOAK,
    SSRF,
    judgement,
    record,
    stored,
    text,
    with_code,
)


class TestOutcomeAndJudgement:
    """Why it ended, and what it was worth: two different questions."""

    @pytest.mark.parametrize(
        ("harness", "skill", "slug", "task", "outcome"),
        [
            ("claude-code", "swe3", "glm-5.2", FAISS, Outcome.BUDGET),
            ("claude-code", "swe2", "nemotron-ultra-550b", FAISS, Outcome.BUDGET),
            ("pi", "swe3", "kimi-k2.7-code", ENV, Outcome.BUDGET),
            ("claude-code", "swe3", "claude-sonnet-5", FAISS, Outcome.MODEL_ERROR),
            ("claude-code", "swe2", "kimi-k2.7-code", KEYCLOAK, Outcome.MODEL_ERROR),
            ("claude-code", "swe2", "qwen3-coder-30b", SSRF, Outcome.INCOMPLETE),
            ("pi", "swe3", "qwen3.6-35b", ENV, Outcome.INCOMPLETE),
            ("claude-code", "swe2", "qwen3-coder-480b", SSRF, Outcome.COMPLETED),
            ("kiro-cli", "swe3", "claude-opus-5", FAISS, Outcome.COMPLETED),
        ],
    )
    def test_the_outcome_follows_from_how_the_agent_ended(
        self, harness: str, skill: str, slug: str, task: str, outcome: Outcome
    ) -> None:
        trial = record(harness, skill, slug, task)
        assert trial.outcome is outcome
        assert f"{trial.artifacts_produced} of 6 artifacts" in trial.outcome_reason

    def test_an_error_and_a_failure_are_kept_apart(self) -> None:
        pairs = Counter(
            (published.is_error, published.failed, found.judgements[0].status if found.judgements else None)
            for found in figures.committed()
            for published in [found.record.published]
            if published is not None and found.record.standing is Standing.COUNTED
        )
        assert pairs == {
            (False, False, JudgementStatus.SCORED): 382,
            (True, False, JudgementStatus.SCORED): 9,
            (False, True, JudgementStatus.ZERO_BY_MISSING_ARTIFACTS): 10,
            (True, True, JudgementStatus.ZERO_BY_MISSING_ARTIFACTS): 4,
            (False, True, None): 3,
            (True, True, None): 1,
        }
        assert len(with_code("error-but-scored")) == 9
        assert len(with_code("failed-without-error")) == 10

    def test_a_task_that_was_never_judged_is_unscored_and_has_no_judgement(self) -> None:
        found = stored("claude-code", "swe2", "qwen3-coder-480b", SSRF)
        assert found.judgements == ()
        assert found.record.artifacts_produced == 6
        assert "6 of 6 artifacts were produced" in text(found.record, "never-judged")
        assert len(with_code("never-judged")) == 4

    def test_a_zero_for_missing_artifacts_is_a_judgement_without_a_call(self) -> None:
        zero = judgement(stored("claude-code", "swe2", "qwen3-coder-30b", SSRF))
        assert (zero.status, zero.task_score) == (JudgementStatus.ZERO_BY_MISSING_ARTIFACTS, 0)
        assert zero.scores is not None
        lean = judgement(stored("claude-code", "swe2", "nemotron-ultra-550b", FAISS))
        assert (lean.status, lean.scores) == (JudgementStatus.ZERO_BY_MISSING_ARTIFACTS, None)

    def test_four_and_five_artifacts_are_different_rubrics(self) -> None:
        four = judgement(stored("claude-code", "swe2", "kimi-k2.7-code", SSRF))
        assert (four.rubric, four.task_score) == ("published-four-artifacts", 72.75)
        assert judgement(stored("pi", "swe3", "glm-5.2", FAISS)).rubric == "published-five-artifacts"
        lean = judgement(stored("claude-code", "swe2", "deepseek-v3.2", FAISS))
        assert (lean.rubric, lean.scores) == ("published-unknown-artifacts", None)
        assert {trial.identity.cell.model.slug for trial in with_code("shorter-contract")} == {
            "kimi-k2.7-code",
            "glm-5.2",
            "minimax-m2.5",
        }

    def test_artifacts_and_scores_that_disagree_are_named(self) -> None:
        trial = record("pi", "swe3", "qwen3-coder-30b", SSRF)
        assert text(trial, "artifacts-disagree-with-scores").startswith(
            "2 of 6 artifacts were produced, but 5"
        )
        assert {
            (item.identity.cell.model.slug, item.identity.task) for item in with_code("artifact-scored-zero")
        } == {("qwen3-coder-30b", EFS), ("minicpm5-2b", "registration-admission-control-gate")}

    def test_a_judge_block_of_a_task_with_nothing_to_judge_says_nothing_about_the_others(self) -> None:
        scored = judgement(stored("pi", "swe3", "qwen3-coder-30b", SSRF)).judge
        assert (scored.repository_grounded, scored.reasoning_effort) == (None, None)
        zero = judgement(stored("pi", "swe3", "qwen3-coder-30b", EFS)).judge
        assert zero.repository_grounded is False
        usual = judgement(stored("pi", "swe3", "glm-5.2", EFS)).judge
        assert (usual.repository_grounded, usual.reasoning_effort) == (True, "high")
        assert "one of its tasks" in (usual.taken_from or "")

    def test_a_doubtful_claim_of_the_judge_is_marked(self) -> None:
        assert {trial.identity.cell.model.slug for trial in with_code("grounding-doubtful")} == {
            "minicpm5-2b"
        }

    def test_a_score_that_replaced_another_is_marked(self) -> None:
        (trial,) = with_code("judged-again")
        assert trial == record("claude-code", "swe3", "qwen3-coder-480b", FAISS)

    def test_every_judgement_names_the_digest_of_the_record_it_judged(self) -> None:
        for found in figures.committed():
            for item in found.judgements:
                assert item.trial_sha256 == found.record.digest()
                assert item.judge.name == "openai.gpt-5.6-sol"
