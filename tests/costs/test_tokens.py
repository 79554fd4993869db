"""Tokens processed and the rule that reads imported cache counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import classify, tokens_processed
from runner.costs.tokens import token_classes
from runner.records import CacheSemantics, SemanticsDecision, Usage

counts = st.integers(min_value=0, max_value=10**9)
maybe = st.none() | counts


def usage(
    harness: str, counted: int | None, output: int | None, read: int | None, write: int | None
) -> Usage:
    """Usage of imported counts, read by the rule."""
    semantics, decided_by = classify(harness, counted, output, read, write)
    return Usage(
        input_tokens=counted,
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=write,
        cache_semantics=semantics,
        semantics_decided_by=decided_by,
    )


@pytest.mark.parametrize(
    ("harness", "counted", "output", "read", "write", "expected"),
    [
        pytest.param("omp", 314, 29_614, 3_811_741, 67_885, 3_909_554, id="disjoint"),
        pytest.param("claude-code", 100_000, 2_000, 95_000, 5_000, 102_000, id="partition, exact"),
        pytest.param("claude-code", 100_000, 2_000, 95_000, 0, 102_000, id="5 percent edge is inside"),
        pytest.param("claude-code", 100_000, 2_000, 94_000, 0, 196_000, id="6 percent is outside"),
        pytest.param("claude-code", 100_000, 2_000, 105_000, 0, 102_000, id="upper edge is inside"),
        pytest.param("claude-code", 100_000, 2_000, 105_001, 0, 207_001, id="above the upper edge"),
        pytest.param("claude-code", 100_000, 2_000, 47_500, 2_500, 152_000, id="half cached"),
        pytest.param("codex", 100_000, 2_000, 100_000, 0, 202_000, id="declared in spite of equality"),
        pytest.param("strands", 50_000, 1_000, 50_000, 0, 101_000, id="strands is declared too"),
        pytest.param("claude-code", 0, 10, 0, 0, 10, id="no input"),
        pytest.param("claude-code", 1_000, 10, 0, 0, 1_010, id="no cache"),
    ],
)
def test_the_vectors_of_the_specification(
    harness: str, counted: int, output: int, read: int, write: int, expected: int
) -> None:
    assert tokens_processed(usage(harness, counted, output, read, write)) == expected


def test_a_cell_is_the_sum_of_its_tasks_and_not_a_classification_of_its_sums() -> None:
    tasks = [(9_800_000 + n, 50_000, 9_700_000 + n, 100_000) for n in range(20)]
    tasks.append((479_697, 12_000, 47_795_047, 0))
    per_task = [tokens_processed(usage("omp", *task)) for task in tasks]
    assert None not in per_task
    total = sum(count for count in per_task if count is not None)
    assert per_task[-1] == 479_697 + 12_000 + 47_795_047
    assert per_task[:20] == [task[0] + task[1] for task in tasks[:20]]
    sums = [sum(column) for column in zip(*tasks, strict=True)]
    wrong = tokens_processed(usage("omp", *sums))
    assert wrong is not None
    assert wrong / total == pytest.approx(1.79, abs=0.05)


def test_the_doubled_cell_of_the_specification_was_priced_1_8_times_too_high() -> None:
    rate = 258.93 / 442_295_665
    assert 245_606_604 * rate == pytest.approx(143.78, abs=0.01)
    assert pytest.approx(1.80, abs=0.005) == 442_295_665 / 245_606_604


@given(counted=counts, output=counts, read=counts, write=counts)
def test_the_total_is_one_of_two_sums(counted: int, output: int, read: int, write: int) -> None:
    found = usage("pi", counted, output, read, write)
    total = tokens_processed(found)
    partition = found.cache_semantics is CacheSemantics.PARTITION
    assert total == counted + output + (0 if partition else read + write)
    close = counted > 0 and read + write > 0 and abs(read + write - counted) * 20 <= counted
    assert partition is close
    assert found.semantics_decided_by is SemanticsDecision.RATIO_RULE


@given(counted=maybe, output=maybe, read=maybe, write=maybe)
def test_a_missing_count_decides_nothing_and_is_never_zero(
    counted: int | None, output: int | None, read: int | None, write: int | None
) -> None:
    found = usage("pi", counted, output, read, write)
    if None in (counted, output, read, write):
        assert found.cache_semantics is CacheSemantics.UNKNOWN
        assert found.semantics_decided_by is SemanticsDecision.NONE
        assert tokens_processed(found) is None
    else:
        assert tokens_processed(found) is not None


@given(counted=maybe, output=maybe, read=maybe, write=maybe)
def test_a_partition_needs_no_cache_counts_and_a_disjoint_one_needs_all(
    counted: int | None, output: int | None, read: int | None, write: int | None
) -> None:
    for semantics, needed in (
        (CacheSemantics.PARTITION, (counted, output)),
        (CacheSemantics.DISJOINT, (counted, output, read, write)),
    ):
        found = Usage(
            input_tokens=counted,
            output_tokens=output,
            cache_read_tokens=read,
            cache_write_tokens=write,
            cache_semantics=semantics,
            semantics_decided_by=SemanticsDecision.ADAPTER,
        )
        known = [count for count in needed if count is not None]
        assert tokens_processed(found) == (sum(known) if len(known) == len(needed) else None)


def test_no_usage_is_no_total() -> None:
    assert tokens_processed(None) is None


def test_reasoning_tokens_are_part_of_the_output_and_not_added() -> None:
    found = Usage(
        input_tokens=10,
        output_tokens=7,
        cache_read_tokens=0,
        cache_write_tokens=0,
        reasoning_tokens=5,
        cache_semantics=CacheSemantics.DISJOINT,
        semantics_decided_by=SemanticsDecision.ADAPTER,
    )
    assert tokens_processed(found) == 17


@given(
    st.builds(
        Usage,
        input_tokens=maybe,
        output_tokens=maybe,
        cache_read_tokens=maybe,
        cache_write_tokens=maybe,
        cache_semantics=st.sampled_from(list(CacheSemantics)),
        semantics_decided_by=st.just(SemanticsDecision.ADAPTER),
    )
)
def test_billed_classes_add_up_to_the_tokens_processed_or_are_unknown(told: Usage) -> None:
    found = token_classes(told)
    if found.whole is None:
        given_counts = (
            told.input_tokens,
            told.output_tokens,
            told.cache_read_tokens,
            told.cache_write_tokens,
        )
        assert None in given_counts or told.cache_semantics is CacheSemantics.UNKNOWN
        return
    cached = found.whole[1] + found.whole[2]
    if told.cache_semantics is CacheSemantics.DISJOINT or cached <= (told.input_tokens or 0):
        assert sum(found.whole) == tokens_processed(told)
    assert min(found.whole) >= 0


def test_what_was_counted_of_a_run_is_known_though_its_cache_was_not() -> None:
    told = Usage(
        input_tokens=10,
        output_tokens=3,
        cache_read_tokens=4,
        cache_write_tokens=None,
        cache_semantics=CacheSemantics.PARTITION,
        semantics_decided_by=SemanticsDecision.ADAPTER,
    )
    assert token_classes(told) == (None, 4, None, 3)
    assert token_classes(told).whole is None
    assert set(token_classes(None)) == {None}
