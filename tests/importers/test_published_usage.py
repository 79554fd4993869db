"""What the indexes say about tokens, turns and times is what the committed records say."""

from __future__ import annotations

from collections import Counter

import pytest

from runner.costs import tokens_processed
from runner.records import (
    CacheSemantics,
    SemanticsDecision,
    Standing,
)
from tests.importers import figures
from tests.importers.figures import V1, V2
from tests.importers.lookup import (
    EFS,
    FAISS,
    KEYCLOAK,
    SSRF,
    codes,
    record,
    text,
    with_code,
)


class TestUsage:
    """Tokens and turns."""

    def test_kiro_reports_neither(self) -> None:
        for found in figures.committed():
            if found.record.identity.cell.provider == "kiro":
                assert (found.record.usage, found.record.turns) == (None, None)
                assert {"tokens-not-reported", "turns-not-reported"} <= codes(found.record)
                assert found.record.published is not None
                assert found.record.published.total_tokens == 0

    def test_a_row_of_zeros_is_unknown_and_not_zero(self) -> None:
        trial = record("claude-code", "swe2", "qwen3-coder-next", FAISS)
        assert trial.usage is None
        assert {"tokens-not-reported", "cost-without-tokens"} <= codes(trial)

    def test_who_decided_how_to_read_cached_tokens_is_recorded(self) -> None:
        decided = Counter(
            (usage.semantics_decided_by, usage.cache_semantics)
            for found in figures.committed()
            for usage in [found.record.usage]
            if usage is not None
        )
        assert decided == {
            (SemanticsDecision.RATIO_RULE, CacheSemantics.DISJOINT): 156,
            (SemanticsDecision.RATIO_RULE, CacheSemantics.PARTITION): 53,
            (SemanticsDecision.DECLARED, CacheSemantics.DISJOINT): 85,
            (SemanticsDecision.SOURCE_TOTAL, CacheSemantics.PARTITION): 91,
            (SemanticsDecision.NONE, CacheSemantics.UNKNOWN): 5,
        }

    def test_a_band_of_5_or_of_10_percent_decides_all_published_rows_alike(self) -> None:
        # The index names 10 %, the specification 5 %: no published row lies between 1.4 % and 10 %.
        ratios = [
            (usage.cache_read_tokens + usage.cache_write_tokens) / usage.input_tokens
            for found in figures.committed()
            for usage in [found.record.usage]
            if usage is not None
            and usage.semantics_decided_by is SemanticsDecision.RATIO_RULE
            and usage.input_tokens
            and usage.cache_read_tokens is not None
            and usage.cache_write_tokens is not None
        ]
        inside = [ratio for ratio in ratios if 0.95 <= ratio <= 1.05]
        assert len(inside) == 53
        assert all(0.999 < ratio < 1.014 for ratio in inside)
        assert not [ratio for ratio in ratios if 0.9 <= ratio <= 1.1 and ratio not in inside]

    def test_zeros_beside_a_hit_rate_are_unknown_cache_counts(self) -> None:
        trial = record("claude-code", "swe3", "glm-5.2", EFS)
        assert trial.usage is not None
        assert (trial.usage.cache_read_tokens, trial.usage.cache_write_tokens) == (None, None)
        assert trial.published is not None
        assert (trial.published.cache_read_tokens, trial.published.prefix_cache_hit_rate) == (0, 0.8785)
        assert "hit rate of 0.8785" in text(trial, "cache-counters-not-reported")
        assert tokens_processed(trial.usage) == 4_162_394
        assert {item.identity.cell.harness for item in with_code("cache-counters-not-reported")} == {
            "claude-code"
        }

    def test_lean_rows_without_cache_counts_keep_their_total(self) -> None:
        trial = record("claude-code", "swe2", "devstral-2-123b", SSRF)
        assert trial.usage is not None
        assert trial.usage.semantics_decided_by is SemanticsDecision.SOURCE_TOTAL
        assert tokens_processed(trial.usage) == 3_111_789
        assert "cache-counters-not-reported" not in codes(trial)

    def test_a_total_that_counts_cached_tokens_twice_says_both_totals(self) -> None:
        trial = record("pi", "swe3", "glm-5.2", EFS)
        assert text(trial, "total-counts-cache-twice") == (
            "The source's total is 7394820 tokens; counting each token once gives 3725671."
        )
        doubled = {item.identity.cell.model.slug for item in with_code("total-counts-cache-twice")}
        assert doubled == {
            "glm-5.2",
            "kimi-k2.7-code",
            "deepseek-v3.2",
            "qwen3.6-35b",
            "minimax-m2.5",
            "qwen3-coder-480b",
            "gemma-4-31b",
            "qwen3-coder-30b",
        }

    def test_an_unknown_cache_write_makes_the_total_unknown(self) -> None:
        trial = record("pi", "swe3", "grok-4.6", FAISS)
        assert trial.usage is not None
        assert (trial.usage.cache_read_tokens, trial.usage.cache_write_tokens) == (1024, None)
        assert tokens_processed(trial.usage) is None

    def test_a_run_that_mixes_both_ways_is_marked_on_all_its_tasks(self) -> None:
        marked = with_code("mixed-semantics")
        assert {trial.identity.cell.key for trial in marked} == {("qwen3.8-27b_endpoint", "pi", "swe3", V1)}
        assert len(marked) == 5
        assert text(marked[0], "mixed-semantics").endswith("2 disjoint, 3 partition.")

    def test_strands_is_disjoint_even_for_a_self_hosted_model(self) -> None:
        trial = record("strands", "swe3", "minicpm5-2b", "pass-ssrf-allowlist-env-to-registry-container", V2)
        assert trial.usage is not None
        assert trial.usage.semantics_decided_by is SemanticsDecision.DECLARED
        assert trial.usage.cache_write_tokens == 0
        assert tokens_processed(trial.usage) == 9_801_189


class TestPlausibility:
    """Figures that cannot be right."""

    def test_too_little_output_a_turn_is_named_with_its_numbers(self) -> None:
        assert len(with_code("low-output-per-turn")) == 15
        trial = record("pi", "swe2", "qwen3.6-35b", FAISS)
        assert text(trial, "low-output-per-turn").startswith("257 output tokens in 125 turns are 2.1 a turn")

    def test_runs_that_counted_the_last_turn_only_are_marked_as_a_whole(self) -> None:
        assert {(trial.identity.cell.key, trial.standing) for trial in with_code("last-turn-counters")} == {
            (("gemma-4-31b_endpoint", "pi", "swe2", V1), Standing.COUNTED),
            (("qwen3.6-35b_endpoint", "pi", "swe2", V1), Standing.COUNTED),
            (("qwen3-coder-30b_endpoint", "pi", "swe2", V1), Standing.COUNTED),
            (("qwen3.6-35b_endpoint", "pi", "swe2", "hello-world-sanity"), Standing.COUNTED),
            (("claude-opus-5_bedrock", "pi", "swe3", V1), Standing.SUPERSEDED),
        }

    def test_12_turns_beside_8_million_tokens_fit_no_window(self) -> None:
        (trial,) = with_code("turns-do-not-fit-tokens")
        assert trial == record("claude-code", "swe3", "qwen3.6-35b", SSRF)
        assert "676610 a turn" in text(trial, "turns-do-not-fit-tokens")
        assert text(trial, "generation-rate-implausible").startswith("754.9 output tokens a second")

    def test_the_two_slow_tasks_of_a_fast_run_are_marked_alone(self) -> None:
        slow = [
            trial.identity.task
            for trial in with_code("generation-rate-implausible")
            if trial.identity.cell.key == ("qwen3.8-27b_endpoint", "pi", "swe3", V1)
        ]
        assert sorted(slow) == [FAISS, SSRF]

    def test_float_noise_is_kept_and_named(self) -> None:
        trial = record("pi", "swe3", "kimi-k2.7-code", FAISS)
        assert trial.duration_seconds == 826.5999999999999
        assert "826.5999999999999" in text(trial, "float-noise")
        assert len(with_code("float-noise")) == 2

    @pytest.mark.parametrize(
        ("skill", "slug", "task", "count"),
        [
            ("swe3", "claude-sonnet-5", FAISS, 2),
            ("swe3", "deepseek-v3.2", FAISS, 2),
            ("swe2", "claude-sonnet-5", FAISS, 3),
            ("swe2", "claude-opus-5", KEYCLOAK, 2),
        ],
    )
    def test_several_invocations_that_only_other_files_tell_of(
        self, skill: str, slug: str, task: str, count: int
    ) -> None:
        trial = record("claude-code", skill, slug, task)
        assert f"started {count} times" in text(trial, "several-invocations")
        assert trial.published is not None
        assert trial.published.agent_invocations is None

    def test_several_invocations_in_the_row(self) -> None:
        of_strands = [
            trial for trial in with_code("several-invocations") if trial.identity.cell.harness == "strands"
        ]
        assert len(of_strands) == 5
        assert len(with_code("several-invocations")) == 14
