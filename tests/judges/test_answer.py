"""Answers count when they are true to the last sum; every other one says what is wrong with it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judges.answer import ANSWER_KEYS, InvalidAnswer, Scores, answer_schema, read_answer
from runner.judges.rubric import mean_of_totals
from runner.records import CRITERIA
from tests.judges.made import SEALING, document, points

ONE = ("implementation",)
FOUR = ("github_issue", "lld", "review", "testing")
POINT = st.integers(min_value=0, max_value=25)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def read(text: str, artifacts: tuple[str, ...] = ONE) -> Scores:
    return read_answer(text, artifacts, task="quarter-hour-default", candidate=SEALING.candidate)


def faults(text: str, artifacts: tuple[str, ...] = ONE) -> tuple[str, ...]:
    with pytest.raises(InvalidAnswer) as caught:
        read(text, artifacts)
    return caught.value.faults


def valid() -> dict[str, Any]:
    return document({"implementation": points(19, 14, 22, 20)})


def test_four_criteria_of_75_are_a_total_of_75() -> None:
    found = read(json.dumps(valid()))
    assert found.scores["implementation"].total == 75
    assert found.task_score == 75.0
    assert found.notes == {"implementation": "Small."}
    assert found.verdict == "Sound."


def test_a_total_of_76_for_criteria_of_75_is_refused() -> None:
    text = json.dumps(document({"implementation": points(19, 14, 22, 20, total=76)}))
    assert faults(text) == ("scores.implementation.total is 76, its criteria add up to 75",)


def test_totals_of_75_76_83_and_60_are_a_task_score_of_73_5() -> None:
    totals = {"github_issue": 75, "lld": 76, "review": 83, "testing": 60}
    parts = {75: (19, 14, 22, 20), 76: (19, 19, 19, 19), 83: (21, 21, 21, 20), 60: (15, 15, 15, 15)}
    entries = {name: points(*parts[total]) for name, total in totals.items()}
    assert read(json.dumps(document(entries, 73.5)), FOUR).task_score == 73.5
    assert "the mean of the totals is 73.5" in faults(json.dumps(document(entries, 73.6)), FOUR)[0]


@pytest.mark.parametrize(
    ("claimed", "fine"), [(73.5, True), (73.501, True), (73.4991, True), (73.502, False)]
)
def test_a_task_score_may_differ_by_a_thousandth(claimed: float, fine: bool) -> None:
    entries = {"github_issue": points(19, 19, 19, 19), "lld": points(18, 18, 18, 17)}
    text = json.dumps(document(entries, claimed))
    if fine:
        assert read(text, FOUR[:2]).task_score == 73.5
    else:
        assert "task_score is 73.502" in faults(text, FOUR[:2])[0]


def test_a_mean_of_thirds_may_be_given_with_two_decimals() -> None:
    entries = {"a": points(25, 25, 25, 25), "b": points(25, 25, 25, 25), "c": points(0, 0, 0, 0)}
    assert read(json.dumps(document(entries, 66.67)), ("a", "b", "c")).task_score == 66.6667


@pytest.mark.parametrize(
    "fence", ["```json\n{}\n```", "```\n{}\n```", "  \n```JSON\n{}\n  ```\n", "\ufeff{}", "\n\n{}\n"]
)
def test_one_code_fence_and_blank_lines_around_the_object_are_fine(fence: str) -> None:
    assert read(fence.replace("{}", json.dumps(valid()))).task_score == 75.0


def _set(*path: str, value: object) -> Callable[[], str]:
    def made() -> str:
        whole: dict[str, Any] = valid()
        place: Any = whole
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return json.dumps(whole)

    return made


def _without(*path: str) -> Callable[[], str]:
    def made() -> str:
        whole: dict[str, Any] = valid()
        place: Any = whole
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        return json.dumps(whole)

    return made


SCORE = ("scores", "implementation")
MALFORMED: dict[str, tuple[Callable[[], str], str]] = {
    "nothing": (lambda: "", "the answer is empty"),
    "blank": (lambda: " \n\t", "the answer is empty"),
    "prose": (lambda: "I would give it 75 points.", "not one JSON object"),
    "text before": (lambda: "Here it is: " + json.dumps(valid()), "not one JSON object"),
    "text after": (lambda: json.dumps(valid()) + "\nI hope this helps.", "not one JSON object"),
    "text after a fence": (lambda: f"```json\n{json.dumps(valid())}\n```\nDone.", "not one JSON object"),
    "two objects": (lambda: json.dumps(valid()) * 2, "not one JSON object"),
    "two fences": (lambda: f"```json\n{json.dumps(valid())}\n```\n" * 2, "not one JSON object"),
    "cut": (lambda: json.dumps(valid())[:-20], "not one JSON object"),
    "a list": (lambda: json.dumps([valid()]), "no object"),
    "a number": (lambda: "75", "no object"),
    "null": (lambda: "null", "no object"),
    "single quotes": (lambda: str(valid()), "not one JSON object"),
    "a trailing comma": (lambda: json.dumps(valid())[:-1] + ",}", "not one JSON object"),
    "a comment": (lambda: "// fine\n" + json.dumps(valid()), "not one JSON object"),
    "a key twice": (lambda: json.dumps(valid())[:-1] + ', "verdict": "x"}', "given twice"),
    "NaN": (_set("task_score", value=float("nan")), "NaN is no JSON"),
    "infinity": (_set("task_score", value=float("inf")), "Infinity is no JSON"),
    "deep nesting": (lambda: "[" * 100_000, "nested too deeply"),
    "far too long": (lambda: " x" * 300_000, "longer than"),
    "a huge number": (lambda: json.dumps(valid()).replace("19", "9" * 6000), "not one JSON object"),
    "another task": (_set("task_id", value="fair-rounding"), "task_id must be 'quarter-hour-default'"),
    "another candidate": (_set("candidate_id", value="candidate-1"), "candidate_id must be"),
    "no candidate": (_without("candidate_id"), "lacks 'candidate_id'"),
    "no scores": (_without("scores"), "lacks 'scores'"),
    "no verdict": (_without("verdict"), "lacks 'verdict'"),
    "no task score": (_without("task_score"), "lacks 'task_score'"),
    "an unknown key": (_set("confidence", value=1), "unknown key 'confidence'"),
    "scores as a list": (_set("scores", value=[]), "scores is no object"),
    "scores null": (_set("scores", value=None), "scores is no object"),
    "an artifact missing": (_set("scores", value={}), "scores lacks 'implementation'"),
    "an artifact too many": (_set("scores", "lld", value=points(1, 1, 1, 1)), "unknown key 'lld'"),
    "an artifact that is no object": (_set(*SCORE, value=75), "scores.implementation is no object"),
    "a criterion missing": (_without(*SCORE, "correctness"), "lacks 'correctness'"),
    "a criterion too many": (_set(*SCORE, "beauty", value=3), "unknown key 'beauty'"),
    "26 points": (_set(*SCORE, "completeness", value=26), "is 26, not a whole number from 0 to 25"),
    "less than nothing": (_set(*SCORE, "completeness", value=-1), "is -1, not a whole number"),
    "25.0 as a float": (_set(*SCORE, "completeness", value=25.0), "is 25.0, not a whole number"),
    "points as text": (_set(*SCORE, "completeness", value="19"), 'is "19", not a whole number'),
    "points as a truth": (_set(*SCORE, "completeness", value=True), "is true, not a whole number"),
    "points null": (_set(*SCORE, "completeness", value=None), "is null, not a whole number"),
    "a total of 101": (_set(*SCORE, "total", value=101), "is 101, not a whole number from 0 to 100"),
    "a wrong total": (_set(*SCORE, "total", value=74), "total is 74, its criteria add up to 75"),
    "a wrong mean": (_set("task_score", value=80), "task_score is 80, the mean of the totals is 75"),
    "a mean as text": (_set("task_score", value="75"), 'task_score is "75", not a number'),
    "notes as a list": (_set(*SCORE, "notes", value=["fine"]), "notes is no text"),
    "empty notes": (_set(*SCORE, "notes", value=" "), "notes is empty"),
    "endless notes": (_set(*SCORE, "notes", value="x" * 4001), "longer than 4000"),
    "an empty verdict": (_set("verdict", value=""), "verdict is empty"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_answer_is_refused_with_its_fault(name: str) -> None:
    made, complaint = MALFORMED[name]
    assert complaint in "\n".join(faults(made()))


def test_there_are_more_than_thirty_kinds_of_malformed_answers() -> None:
    assert len(MALFORMED) > 30
    assert len({made() for made, _ in MALFORMED.values()}) == len(MALFORMED)


def test_all_faults_are_named_at_once() -> None:
    whole = valid()
    whole["scores"]["implementation"] |= {"completeness": 26, "specificity": 2.5, "notes": ""}
    whole["candidate_id"] = "someone"
    assert len(faults(json.dumps(whole))) == 4


def test_however_many_faults_there_are_few_are_told() -> None:
    whole = valid() | {f"key-{number}": 1 for number in range(500)}
    assert len(faults(json.dumps(whole))) == 12


@given(st.lists(st.tuples(POINT, POINT, POINT, POINT), min_size=1, max_size=5))
def test_whatever_the_points_their_sums_and_mean_are_right_or_refused(
    rows: list[tuple[int, int, int, int]],
) -> None:
    names = tuple(f"part_{number}" for number in range(len(rows)))
    entries = {name: points(*row) for name, row in zip(names, rows, strict=True)}
    found = read(json.dumps(document(entries)), names)
    totals = [sum(row) for row in rows]
    assert [found.scores[name].total for name in names] == totals
    assert found.task_score == mean_of_totals(totals)
    assert abs(found.task_score - sum(totals) / len(totals)) < 0.001
    assert min(totals) - 0.001 <= found.task_score <= max(totals) + 0.001


@given(st.tuples(POINT, POINT, POINT, POINT), st.sampled_from([*CRITERIA, "total"]), st.integers(-30, 30))
def test_no_number_of_a_score_can_be_changed_alone(
    row: tuple[int, int, int, int], key: str, shift: int
) -> None:
    entry: dict[str, Any] = points(*row)
    entry[key] += shift
    text = json.dumps(document({"implementation": entry}, sum(row)))
    if shift:
        assert faults(text)
    else:
        assert read(text).task_score == sum(row)


@given(JSON_VALUES)
def test_no_json_value_does_more_than_be_refused(value: object) -> None:
    assert faults(json.dumps(value))


@given(st.text(max_size=200))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    assert faults(text)


@given(JSON_VALUES, st.sampled_from([*ANSWER_KEYS, "entry"]))
def test_a_valid_answer_with_one_value_replaced_is_valid_or_refused(value: object, key: str) -> None:
    whole = valid()
    if key == "entry":
        whole["scores"]["implementation"] = value
    else:
        whole[key] = value
    found: Scores | None = None
    with contextlib.suppress(InvalidAnswer):
        found = read(json.dumps(whole))
    assert found is None or (found.task_score, list(found.scores)) == (75.0, ["implementation"])


def test_the_schema_is_closed_and_demands_everything() -> None:
    schema = answer_schema(FOUR, task="t", candidate="c")

    def check(part: Any) -> int:
        if part.get("type") != "object":
            return 0
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
        return 1 + sum(check(each) for each in part["properties"].values())

    assert check(schema) == 2 + len(FOUR)
    assert schema["properties"]["candidate_id"]["enum"] == ["c"]  # type: ignore[index]
