"""Extraction of answers: the ways models dress them up, and hostile text."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.suites.extraction import (
    exact,
    final_answer,
    fraction,
    json_equal,
    json_value,
    normalised,
    same_json,
    whole_number,
)
from runner.endpoint.suites.score import Verdict


@pytest.mark.parametrize(
    "text",
    [
        "FINAL: 22",
        "final:22",
        "So the route is n0-n3-n7.\nFINAL: 22\n",
        "FINAL: 7\nNo, wait.\nFINAL: 22",
        "**FINAL:** 22",
        "**FINAL**: 22",
        "FINAL: **22**",
        "`FINAL: 22`",
        "FINAL: 22.",
        "FINAL: $22$",
        "FINAL: \\boxed{22}",
        "FINAL ANSWER: 22",
        "Final Answer: `22`",
        "FINAL\uff1a\uff12\uff12",
        "FINAL:\n\n22",
        "FINAL: 22 miles",
        "FINAL: 4 + 18 = 22",
        "FINAL: \u201c22\u201d",
        "the answer is\n22",
        "<think>FINAL: 9</think>FINAL: 22",
        "FINAL: 22\r\n",
    ],
)
def test_a_number_is_found_in_whatever_dress(text: str) -> None:
    assert whole_number(22)(text).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("FINAL: 23", Verdict.FAILED),
        ("FINAL: 22 or 23", Verdict.INVALID_FORMAT),
        ("FINAL: twenty-two", Verdict.INVALID_FORMAT),
        ("", Verdict.INVALID_FORMAT),
        ("   \n\t\n", Verdict.INVALID_FORMAT),
        ("<think>FINAL: 22", Verdict.PASSED),
        ("22 is what I first thought.\nFINAL: I do not know", Verdict.INVALID_FORMAT),
        ("FINAL: 22.5", Verdict.FAILED),
        ("FINAL: -22", Verdict.FAILED),
        ("SEMIFINAL: 22\n30", Verdict.FAILED),
        ("FINAL: " + "9" * 5000, Verdict.INVALID_FORMAT),
    ],
)
def test_other_answers_get_their_class(text: str, verdict: Verdict) -> None:
    assert whole_number(22)(text).verdict is verdict


@pytest.mark.parametrize("text", ["1,496", "1 496", "1_496", "1'496", "1496", "+1496"])
def test_thousands_may_be_set_apart(text: str) -> None:
    assert whole_number(1496)(f"FINAL: {text}").passed


def test_a_list_of_numbers_is_no_thousand() -> None:
    assert not whole_number(149_612)("FINAL: 1496, 12").passed


def test_without_a_marker_the_last_line_counts() -> None:
    assert final_answer("first\nsecond\n\n") == "second"


def test_strict_markers_are_capitals_and_have_no_substitute() -> None:
    strict = exact("RQMQLIkNxC", keep_case=True, strictly=True)
    assert strict("FINAL: RQMQLIkNxC").passed
    assert strict("final: RQMQLIkNxC").verdict is Verdict.INVALID_FORMAT
    assert strict("RQMQLIkNxC").verdict is Verdict.INVALID_FORMAT
    assert strict("FINAL: rqmqliknxc").verdict is Verdict.FAILED


def test_blanks_quotes_and_case_do_not_matter_elsewhere() -> None:
    assert exact("Ida,Noor,Luca")("FINAL: 'ida, noor,  LUCA'.").passed


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("FINAL: 5/12", Verdict.PASSED),
        ("FINAL: \\frac{5}{12}", Verdict.PASSED),
        ("FINAL: 5 / 12", Verdict.PASSED),
        ("FINAL: 10/24", Verdict.FAILED),
        ("FINAL: 0.4167", Verdict.INVALID_FORMAT),
    ],
)
def test_fractions_are_in_lowest_terms(text: str, verdict: Verdict) -> None:
    assert fraction(Fraction(5, 12))(text).verdict is verdict


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, 2], "b": true}',
        '```json\n{"b": true, "a": [1, 2]}\n```',
        'Here it is:\n```\n{"a":[1,2],"b":true}\n```\nDone.',
        '<think>{"a": 0}</think>\n{"a": [1, 2], "b": true}',
    ],
)
def test_json_is_found_bare_or_fenced_in_any_order_of_keys(text: str) -> None:
    assert json_equal({"a": [1, 2], "b": True})(text).passed


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"a": [2, 1], "b": true}', Verdict.FAILED),
        ('{"a": [1, 2], "b": 1}', Verdict.FAILED),
        ('{"a": [1, 2], "b": true, "c": 0}', Verdict.FAILED),
        ('{"a": [1, 2], "b": true', Verdict.INVALID_FORMAT),
        ('{"a": NaN}', Verdict.INVALID_FORMAT),
        ('{"a": 1, "a": 2}', Verdict.INVALID_FORMAT),
        ("{'a': 1}", Verdict.INVALID_FORMAT),
        ("[" * 100_000, Verdict.INVALID_FORMAT),
        ("1" * 10_000, Verdict.INVALID_FORMAT),
        ("", Verdict.INVALID_FORMAT),
    ],
)
def test_json_that_is_wrong_and_json_that_is_none(text: str, verdict: Verdict) -> None:
    assert json_equal({"a": [1, 2], "b": True})(text).verdict is verdict


@given(st.text(max_size=400))
def test_no_text_breaks_a_scorer(text: str) -> None:
    for scorer in (whole_number(22), exact("x"), fraction(Fraction(1, 3)), json_equal({"a": 1})):
        assert scorer(text).verdict in {Verdict.PASSED, Verdict.FAILED, Verdict.INVALID_FORMAT}


@given(st.text(max_size=200), st.integers(-(10**9), 10**9))
def test_an_answer_is_found_after_any_talk(talk: str, number: int) -> None:
    assert whole_number(number)(f"{talk}\nFINAL: {number}").passed


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_another_number_never_passes(number: int, off: int) -> None:
    assert not whole_number(number)(f"FINAL: {number + off}").passed


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_every_document_equals_itself_after_a_journey(value: object) -> None:
    found, back = json_value(json.dumps(value, indent=2))
    assert found
    assert same_json(back, value)


def test_floods_of_text_are_scored_in_time() -> None:
    for flood in ("FINAL" * 200_000, "FINAL: \n" * 100_000, "```json\n" * 100_000, "\\boxed{" * 100_000):
        whole_number(1)(flood)
        json_equal({})(flood)


def test_what_is_kept_of_an_answer_is_bounded() -> None:
    score = exact("x")("FINAL: " + "y" * 10_000)
    assert score.answer is not None
    assert len(score.answer) <= 300
    assert normalised("  'A b'. ") == "ab"
