"""Every case: the right answer passes, a changed one does not, and instances depend on the seed alone."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.endpoint.ask import StreamResult
from runner.endpoint.suites import dialogue, grounding, language, reasoning, streaming, tool_use
from runner.endpoint.suites.case import Case, Kind, Puzzle, Slot
from runner.endpoint.suites.catalogue import (
    PROFILES,
    SUITES,
    narrowed,
    profile_of,
    require_unique_cases,
    suite_of,
)
from runner.endpoint.suites.score import Verdict
from runner.errors import UsageError
from tests.endpoint.suites.stage import call, said

EVERY: tuple[Case, ...] = tuple(
    {case.identifier: case for cases in SUITES.values() for case in cases}.values()
)
ASKED = tuple(case for case in EVERY if case.coding is None and case.make(1).examine is None)
SEEDS = st.integers(0, 2**32 - 1)


def right_answer(case: Case, puzzle: Puzzle) -> StreamResult:
    """What a perfect model would say last."""
    if case.identifier == "tool_selection_exact":
        return said(calls=[call("track_parcel", '{"parcel": "P-7730"}')])
    if case.identifier == "tool_parallel_calls":
        towns = puzzle.expected.split(", ")
        return said(calls=[call("read_temperature", json.dumps({"town": town})) for town in reversed(towns)])
    if case.category == "structured-output":
        return said(f"```json\n{puzzle.expected}\n```")
    if case.category in {"streaming", "load"}:
        length = case.parameters["output_length"]
        assert isinstance(length, int)
        return said("COUNT: " + " ".join(str(number) for number in range(1, length + 1)))
    if case.category == "prefill":
        return said(puzzle.expected)
    if case.category == "calibration":
        return said(f"FINAL: {puzzle.expected} | 0.9")
    return said(f"I thought about it.\nFINAL: {puzzle.expected}")


def wrong_answers(case: Case, puzzle: Puzzle) -> list[StreamResult]:
    """What a model says that is nearly right."""
    if case.identifier == "tool_selection_exact":
        return [
            said("It is on its way."),
            said(calls=[call("track_parcel", '{"parcel": "P-5521"}')]),
            said(calls=[call("return_parcel", '{"parcel": "P-7730"}')]),
            said(calls=[call("track_parcel", '{"parcel": "P-7730"}')] * 2),
            said(calls=[call("track_parcel", '{"parcel": "P-7730", "urgent": true}')]),
            said(calls=[call("track_parcel", '{"parcel": "P-77')]),
        ]
    if case.identifier == "tool_parallel_calls":
        towns = puzzle.expected.split(", ")
        some = [call("read_temperature", json.dumps({"town": town})) for town in towns]
        return [said(calls=some[:2]), said(calls=[*some[:2], some[0]]), said(calls=[*some, some[0]])]
    if case.category == "structured-output":
        changed = re.sub(r"\d+", lambda match: str(int(match[0]) + 1), puzzle.expected)
        return [said(changed), said(puzzle.expected[:-1]), said(f"[{puzzle.expected}]")]
    if case.category in {"streaming", "load"}:
        length = case.parameters["output_length"]
        assert isinstance(length, int)
        numbers = [str(number) for number in range(1, length + 1)]
        lines = (numbers[:-1], numbers[1:], [*numbers, str(length + 1)], [*numbers[:5], *numbers[6:]])
        return [said("COUNT: " + " ".join(line)) for line in lines] + [said(" ".join(numbers))]
    if case.category == "calibration":
        return [said(f"FINAL: {text}") for text in (puzzle.expected, "1/2 | 0.9", "5/12 | 90%", "5/12 | nan")]
    if case.category == "prefill":
        return [said(f"{puzzle.expected}x"), said("")]
    return [said(f"FINAL: {puzzle.expected}7"), said("FINAL: I cannot tell"), said("")]


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.identifier)
@settings(max_examples=8)
@given(seed=SEEDS)
def test_a_right_answer_passes(case: Case, seed: int) -> None:
    puzzle = case.make(seed)
    score = puzzle.judge(right_answer(case, puzzle))
    assert (score.verdict, score.value) == (Verdict.PASSED, 1.0), score.reason


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.identifier)
@settings(max_examples=4)
@given(seed=SEEDS)
def test_a_changed_answer_does_not_pass(case: Case, seed: int) -> None:
    puzzle = case.make(seed)
    for answer in wrong_answers(case, puzzle):
        score = puzzle.judge(answer)
        assert not score.passed, answer.text
        assert score.value == 0.0
        assert score.reason


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.identifier)
def test_the_same_seed_gives_the_same_instance(case: Case) -> None:
    once, again = case.make(4_066_245_115), case.make(4_066_245_115)
    assert (once.messages, once.system, once.tools) == (again.messages, again.system, again.tools)
    assert once.expected == again.expected


@pytest.mark.parametrize("case", [case for case in ASKED if case.seeded], ids=lambda case: case.identifier)
def test_another_run_is_another_instance(case: Case) -> None:
    texts = {case.puzzle(1, Slot(run)).messages for run in range(1, 5)}
    assert len(texts) == 4


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.identifier)
@settings(max_examples=10)
@given(text=st.text(max_size=200), arguments=st.text(max_size=60))
def test_no_answer_breaks_a_judge(case: Case, text: str, arguments: str) -> None:
    puzzle = case.make(1)
    for answer in (said(text), said(text, calls=[call("track_parcel", arguments)])):
        assert puzzle.judge(answer).verdict in {Verdict.PASSED, Verdict.FAILED, Verdict.INVALID_FORMAT}


@pytest.mark.parametrize(
    "case", [case for case in EVERY if not case.seeded], ids=lambda case: case.identifier
)
def test_all_runs_of_a_case_without_a_seed_are_one_instance(case: Case) -> None:
    slots = (Slot(1), Slot(2), Slot(1, 2), Slot(1, warm_up=True))
    assert len({case.seed(1, slot) for slot in slots}) == 1
    asked = [(each.messages, each.system, each.tools, each.expected) for each in map(case.make, range(4))]
    assert all(each == asked[0] for each in asked)
    assert len({case.nonce("salt", slot) for slot in slots}) == 4


def test_what_a_model_is_told_is_not_the_answer() -> None:
    for case in (grounding.NEEDLES, dialogue.GUEST_LIST, tool_use.ROUND_TRIP):
        puzzle = case.make(99)
        assert puzzle.expected not in re.findall(r"[\w,]+", puzzle.messages[0].content)


@pytest.mark.parametrize(
    ("name", "cases", "measured", "warm_ups"),
    [("smoke", 7, 17, 1), ("load", 11, 190, 37), ("coding", 7, 14, 0)],
)
def test_profiles_have_their_counts(name: str, cases: int, measured: int, warm_ups: int) -> None:
    profile = profile_of(name)
    assert len(profile.cases) == cases
    assert profile.planned == (measured, warm_ups)


def test_the_standard_profile_has_every_capability_and_puzzle() -> None:
    names = {case.identifier for case in PROFILES["standard"].cases}
    assert names == {case.identifier for case in SUITES["quality"]} | {"fixed_output_stream"}


def test_consistency_is_measured_on_repeats_of_the_same_instance() -> None:
    repeated = [case for case in PROFILES["standard"].cases if case.repeats > 1]
    assert repeated
    for case in repeated:
        again = [slot for slot in case.slots() if slot.run == 1 and not slot.warm_up]
        assert len({case.seed(1, slot) for slot in again}) == 1
        assert len({case.nonce("salt", slot) for slot in again}) == case.repeats


def test_smoke_asks_in_the_order_that_is_told() -> None:
    assert [case.identifier for case in suite_of("core")] == [
        "seeded_shortest_path",
        "seeded_shortest_path_paraphrase",
        "seeded_structured_extraction",
        "seeded_grounded_unknown",
        "instruction_hierarchy_document",
        "tool_selection_exact",
        "fixed_output_stream",
    ]


def test_every_suite_holds_each_case_once() -> None:
    for cases in SUITES.values():
        require_unique_cases(cases)
    with pytest.raises(UsageError, match="same id"):
        require_unique_cases([reasoning.SHORTEST_PATH] * 2)
    with pytest.raises(UsageError, match="no cases"):
        require_unique_cases([])


def test_all_variants_get_the_instances_of_their_case() -> None:
    for variant in (reasoning.PARAPHRASE, reasoning.DISTRACTOR):
        for run in (1, 2, 3):
            assert variant.seed(5, Slot(run)) == reasoning.SHORTEST_PATH.seed(5, Slot(run))


def test_slots_come_in_order_and_have_names_of_their_own() -> None:
    labels = [slot.label for slot in reasoning.SHORTEST_PATH.slots(runs=2, warm_ups=2, repeats=3)]
    assert labels == ["w1", "w2", "1", "2", "1.2", "1.3"]
    assert reasoning.SHORTEST_PATH.slots(runs=0, repeats=3) == ()


def test_caps_leave_room_for_every_tokenizer() -> None:
    for length in (32, 64, 100, 256, 1024):
        line = streaming.MARKER + " " + " ".join(str(number) for number in range(1, length + 1))
        digits_one_by_one = len(re.findall(r"\d|\s|[^\d\s]+", line))
        assert streaming.output_cap(length) >= digits_one_by_one + 32


def test_no_two_trials_send_the_same_long_input() -> None:
    case = streaming.INPUT_CASES[0]
    texts = [case.puzzle(1, slot).messages[0].content for slot in case.slots()]
    assert len({text[:200] for text in texts}) == len(texts) == 4


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(UsageError, match="did you mean smoke"):
        profile_of("smok")
    with pytest.raises(UsageError, match="did you mean coding"):
        suite_of("codin")
    with pytest.raises(UsageError, match="did you mean seeded_shortest_path"):
        narrowed(SUITES["core"], ["seeded_shortest_pat"])
    with pytest.raises(UsageError, match="given twice"):
        narrowed(SUITES["core"], ["tool_selection_exact", "tool_selection_exact"])
    assert narrowed(SUITES["core"], []) == SUITES["core"]


def test_kinds_and_dimensions_are_told_for_every_case() -> None:
    assert {case.kind for case in EVERY} == set(Kind)
    assert all(case.dimension and case.category and case.title and case.description for case in EVERY)
    assert {case.difficulty for case in EVERY if case.kind is not Kind.PERFORMANCE} == {
        "easy",
        "medium",
        "hard",
    }


def test_confidence_is_recorded_beside_the_verdict() -> None:
    judge = language.CALIBRATION.make(1).judge
    assert judge(said("FINAL: 5/12 | 0.85")).confidence == 0.85
    wrong = judge(said("FINAL: 1/2 | 1"))
    assert (wrong.verdict, wrong.confidence) == (Verdict.FAILED, 1.0)
    assert judge(said("FINAL: 5/12 | 1.2")).verdict is Verdict.INVALID_FORMAT


def test_an_invented_tool_is_counted() -> None:
    score = tool_use.SINGLE.make(1).judge(said(calls=[call("find_parcel", '{"parcel": "P-7730"}')]))
    assert score.metrics == {"tool_calls": 1.0, "hallucinated_calls": 1.0}


def test_how_far_a_count_was_right_is_told() -> None:
    score = streaming.FIXED_OUTPUT.make(1).judge(said("Sure!\nCOUNT: 1 2 3 5"))
    assert score.metrics["numbers_right"] == 3.0
    assert score.metrics["preface_characters"] == 5.0
