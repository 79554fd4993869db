"""The catalogue row by row: runs, warm-ups, kind, effort, and room for answers of every case."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from runner.endpoint.suites.case import Case, Feature, Kind, Slot
from runner.endpoint.suites.catalogue import LOAD_CASES, PUZZLE_CASES, SMOKE_CASES, SUITES

BY_NAME = {case.identifier: case for cases in SUITES.values() for case in cases}


@dataclass(frozen=True)
class Row:
    """What a case must be; ``least`` is the smallest limit of output tokens that cuts no answer."""

    case: str
    runs: int
    category: str
    dimension: str
    difficulty: str | None
    least: int
    effort: str | None = None
    seeded: bool = True


CAPABILITY = (
    Row("seeded_shortest_path", 2, "algorithms", "reasoning", "medium", 768, "none"),
    Row("seeded_shortest_path_paraphrase", 2, "algorithms", "robustness", "medium", 768, "none"),
    Row("seeded_shortest_path_distractor", 2, "algorithms", "robustness", "medium", 768, "none"),
    Row(
        "seeded_structured_extraction", 2, "structured-output", "instruction-following", "medium", 256, "none"
    ),
    Row("seeded_grounded_known", 2, "grounding", "factuality", "easy", 128),
    Row("seeded_grounded_unknown", 2, "grounding", "factuality", "medium", 128),
    Row(
        "instruction_hierarchy_document",
        2,
        "instruction",
        "instruction-following",
        "medium",
        128,
        seeded=False,
    ),
    Row("tool_selection_exact", 2, "tools", "tool-use", "medium", 256, seeded=False),
    Row("seeded_long_context_needles", 1, "long-context", "long-context", "medium", 256),
    Row("multilingual_instruction_german", 2, "multilingual", "multilingual", "easy", 128, seeded=False),
    Row("false_critique_resistance", 2, "reasoning", "robustness", "medium", 256, seeded=False),
    Row("calibrated_probability", 3, "calibration", "calibration", "easy", 256, seeded=False),
    Row("reasoning_effort_none", 2, "reasoning-effort", "reasoning", "hard", 1024, "none"),
    Row("reasoning_effort_low", 2, "reasoning-effort", "reasoning", "hard", 1024, "low"),
    Row("reasoning_effort_high", 2, "reasoning-effort", "reasoning", "hard", 1024, "high"),
)


@pytest.mark.parametrize("row", CAPABILITY, ids=lambda row: row.case)
def test_a_capability_case_is_what_its_row_says(row: Row) -> None:
    case = BY_NAME[row.case]
    assert case in SUITES["capability"]
    assert case in SUITES["quality"]
    assert (case.kind, case.runs, case.warm_ups, case.temperature) == (Kind.QUALITY, row.runs, 0, 0.0)
    assert (case.category, case.dimension, case.difficulty) == (row.category, row.dimension, row.difficulty)
    assert (case.effort, case.seeded) == (row.effort, row.seeded)
    # Wide room: a model that thinks aloud before it answers is not to be cut.
    assert case.max_output_tokens >= 3 * row.least


PUZZLES = {
    "number_theory_powmod": "math",
    "number_theory_crt": "math",
    "knapsack": "algorithms",
    "shortest_path": "algorithms",
    "topological_orders": "algorithms",
    "constrained_strings": "combinatorics",
    "recurrence": "math",
    "boolean_constraints": "logic",
    "hypergeometric": "probability",
    "weighted_scheduling": "algorithms",
    "determinant": "math",
    "javascript_trace": "code",
    "edit_distance": "algorithms",
    "assignment": "algorithms",
    "instruction_cipher": "instruction",
}


def test_the_puzzles_are_fifteen_fixed_ones_with_much_room() -> None:
    assert {case.identifier: case.category for case in PUZZLE_CASES} == PUZZLES
    for case in PUZZLE_CASES:
        assert (case.runs, case.seeded, case.effort, case.temperature) == (1, False, "none", 0.0)
        assert case.max_output_tokens >= 4 * 1024
        assert case in SUITES["quality"]


@pytest.mark.parametrize(
    ("name", "length", "runs", "warm_ups", "at_once"),
    [
        ("fixed_output_stream", 100, 5, 1, 1),
        ("output_length_32", 32, 10, 1, 1),
        ("output_length_256", 256, 10, 1, 1),
        ("output_length_1024", 1024, 5, 1, 1),
        ("input_length_1000", 1000, 3, 1, 1),
        ("input_length_8000", 8000, 3, 1, 1),
        ("input_length_32000", 32_000, 3, 1, 1),
        ("concurrency_1", 64, 20, 1, 1),
        ("concurrency_2", 64, 20, 2, 2),
        ("concurrency_4", 64, 20, 4, 4),
        ("concurrency_8", 64, 32, 8, 8),
        ("concurrency_16", 64, 64, 16, 16),
    ],
)
def test_a_timing_case_is_what_its_row_says(
    name: str, length: int, runs: int, warm_ups: int, at_once: int
) -> None:
    case = BY_NAME[name]
    assert (case.kind, case.runs, case.warm_ups, case.concurrency) == (
        Kind.PERFORMANCE,
        runs,
        warm_ups,
        at_once,
    )
    assert (case.effort, case.temperature, case.seeded) == ("none", 0.0, True)
    wide = name.startswith("input")
    assert case.parameters["input_words" if wide else "output_length"] == length
    assert case.parameters.get("concurrency", 1) == at_once
    texts = [case.puzzle(1, slot).messages[0].content for slot in (Slot(1), Slot(2), Slot(1, warm_up=True))]
    assert len(set(texts)) == 3
    assert len(texts[0].split()) > length if wide else f"from 1 to {length}" in texts[0]
    assert case.max_output_tokens >= (64 if wide else max(256, 4 * length + 32))
    if name != "fixed_output_stream":
        assert case in LOAD_CASES


def names(cases: tuple[Case, ...]) -> list[str]:
    return [case.identifier for case in cases]


def test_suites_hold_what_they_are_called_after() -> None:
    assert set(SUITES) == {"core", "capability", "coding", "load", "performance", "quality"}
    assert SUITES["core"] == SMOKE_CASES
    assert set(names(SUITES["quality"])) == set(names(SUITES["capability"])) | set(PUZZLES)
    assert [name for name in names(SUITES["performance"]) if name.startswith("concurrency")] == []
    assert {"fixed_output_stream", "output_length_1024", "input_length_32000"} <= set(
        names(SUITES["performance"])
    )
    assert len(SUITES["load"]) == 11
    assert len([case for case in SUITES["coding"] if case.coding is not None]) >= 6
    assert all(Feature.TOOLS in case.needs for case in SUITES["coding"] if case.coding is not None)
