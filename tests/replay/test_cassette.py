"""Cassettes are read strictly, and every fault of a file is named in one report with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError
from runner.replay import Tokens
from runner.replay.cassette import MAX_BYTES, Scene, load_cassette, parse_cassette
from runner.replay.library import open_library, recorded_models
from runner.replay.turns import Turn
from tests.replay.tapes import HEADER, THREE, USAGE, tape, text_of, turn


def faults_of(*lines: object) -> list[tuple[int, str]]:
    cassette, faults = parse_cassette(text_of(*lines))
    assert (cassette is None) == bool(faults)
    return faults


def test_a_cassette_finds_its_turns_by_the_number_of_results() -> None:
    cassette, faults = parse_cassette(text_of(HEADER, *THREE))
    assert faults == []
    assert cassette is not None
    found = {results: cassette.turn_after(Scene("t"), results) for results in range(5)}
    steps = {results: None if turn is None else turn.step for results, turn in found.items()}
    assert steps == {0: 0, 1: None, 2: 1, 3: 2, 4: None}
    assert cassette.turn_after(Scene("other"), 0) is None
    assert cassette.turn_after(Scene("t", "top-up"), 0) is None


def test_empty_lines_and_the_order_of_tasks_do_not_matter() -> None:
    other = [turn(0, {"do": "list"}, task="u"), turn(1, task="u")]
    mixed = text_of(HEADER, "", THREE[0], other[0], THREE[1], other[1], THREE[2], "")
    cassette, faults = parse_cassette(mixed)
    assert faults == []
    assert cassette is not None
    assert cassette.tasks() == ("t", "u")


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ((), 1, "the file is empty"),
        ((THREE[0],), 1, "header.kind"),
        (({**HEADER, "schema_version": 2}, *THREE), 1, "schema_version"),
        (({**HEADER, "surprise": 1}, *THREE), 1, "header.surprise"),
        ((HEADER, "{", *THREE), 2, "not a JSON object"),
        ((HEADER, "7", *THREE), 2, "turn"),
        ((HEADER, '{"task": "t", "task": "u"}'), 2, "key 'task' is given twice"),
        ((HEADER, turn(0, {"do": "fly"})), 2, "turn.actions.0"),
        ((HEADER, turn(0, {"do": "edit", "path": "a", "old": "", "new": "b"})), 2, "turn.actions.0.edit.old"),
        ((HEADER, turn(0, {"do": "read", "path": "a", "frist": 1})), 2, "turn.actions.0.read.frist"),
        ((HEADER, turn(0, usage={**USAGE, "output": 4})), 2, "reasoning (5) is a part of output (4)"),
        ((HEADER, turn(0, usage={**USAGE, "output": -1})), 2, "turn.usage.output"),
        ((HEADER, turn(0, usage={**USAGE, "output": "41"})), 2, "turn.usage.output"),
        ((HEADER, turn(0, say="")), 2, "say something or do something"),
        ((HEADER, turn(0, task="../up")), 2, "turn.task"),
        ((HEADER, THREE[0], THREE[2]), 3, "step 2 where step 1 is next"),
        ((HEADER, THREE[0], THREE[0], THREE[2]), 3, "step 0 where step 1 is next"),
        ((HEADER, turn(0), turn(1)), 2, "a turn without actions ends it"),
        ((HEADER, THREE[0]), 2, "the last turn must be one without actions"),
    ],
)
def test_a_fault_is_named_with_its_line(lines: tuple[object, ...], line: int, words: str) -> None:
    faults = faults_of(*lines)
    assert any(number == line and words in text for number, text in faults), faults


def test_all_faults_of_a_file_are_in_one_report(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text_of(HEADER, "{", turn(0, {"do": "fly"}), turn(1, usage={})), encoding="utf-8")
    path.write_text(text_of({**HEADER, "note": ""}, "{", turn(0, {"do": "fly"})), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        load_cassette(path)
    for place in ("x.jsonl:1: header.note", "x.jsonl:2:", "x.jsonl:3: turn.actions.0"):
        assert place in str(caught.value)
    assert "3 faults" in str(caught.value)


def test_a_file_that_cannot_be_read_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    for name in ("bytes", "large", "missing", "."):
        with pytest.raises(ConfigurationError):
            load_cassette(tmp_path / name)


def test_a_library_reports_the_faults_of_every_file(tmp_path: Path) -> None:
    tape(tmp_path, [turn(0, {"do": "fly"})])
    tape(tmp_path, [turn(1)], dataset="other")
    (tmp_path / "demo" / "renamed.jsonl").write_text(text_of(HEADER, *THREE), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        open_library(tmp_path)
    for words in ("m.jsonl:2: turn.actions.0", "step 1 where step 0 is next", "the path another"):
        assert words in str(caught.value)


def test_a_folder_without_cassettes_says_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"<dataset>/<model>\.jsonl"):
        open_library(tmp_path)


def test_models_are_listed_by_dataset(tmp_path: Path) -> None:
    tape(tmp_path)
    tape(tmp_path, model="n", dataset="other", context_window=99)
    tape(tmp_path, model="m", dataset="other", context_window=1000)
    assert recorded_models(tmp_path, "demo") == ("m",)
    assert recorded_models(tmp_path, "nothing") == ()
    assert open_library(tmp_path).models() == {"m": 1000, "n": 99}


@given(st.text(max_size=200) | st.lists(st.text(max_size=40), max_size=5).map("\n".join))
def test_no_text_brings_the_parser_down(text: str) -> None:
    cassette, faults = parse_cassette(text)
    assert cassette is None
    assert faults
    assert all(1 <= line <= text.count("\n") + 1 for line, _ in faults)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    line=st.integers(0, 3),
    key=st.sampled_from(["task", "step", "actions", "usage", "say", "new"]),
    value=JSON,
)
def test_a_changed_field_is_read_or_refused_but_never_a_traceback(line: int, key: str, value: object) -> None:
    lines = [dict(HEADER), *(dict(turn) for turn in THREE)]
    lines[line][key] = value
    cassette, faults = parse_cassette("".join(json.dumps(each) + "\n" for each in lines))
    assert (cassette is None) == bool(faults)


COUNTS = st.builds(
    lambda a, b, c, d, e: Tokens(uncached=a, cache_read=b, cache_write=c, output=d + e, reasoning=e),
    *[st.integers(0, 10**9)] * 5,
)


@given(COUNTS, COUNTS)
def test_token_classes_add_up_one_by_one(left: Tokens, right: Tokens) -> None:
    total = left + right
    assert total.prompt == left.prompt + right.prompt
    assert total.output == left.output + right.output
    assert total == right + left
    assert left + Tokens() == left


@given(COUNTS)
def test_a_turn_survives_being_written_and_read_again(usage: Tokens) -> None:
    before = Turn(task="t", step=3, say="ü\u2028", usage=usage)
    assert Turn.model_validate_json(before.model_dump_json()) == before


def test_turns_of_a_skill_answer_it_and_the_others_answer_all_the_rest() -> None:
    cassette, faults = parse_cassette(
        text_of(HEADER, turn(0, say="any"), turn(0, skill="swe3", say="mine"), turn(0, skill="x", thread="h"))
    )
    assert faults == []
    assert cassette is not None

    def said(**wanted: str) -> str | None:
        found = cassette.turn_after(Scene("t", **wanted), 0)
        return found.say if found else None

    assert (said(), said(skill="swe3"), said(skill="fix")) == ("any", "mine", "any")
    assert said(skill="x", thread="h") == "hello"
    assert said(skill="swe3", thread="h") is None
    assert said(invocation="top-up", skill="swe3") is None


def test_a_turn_for_ever_answers_whatever_was_done_since() -> None:
    shell = {"do": "shell", "command": "true"}
    cassette, faults = parse_cassette(text_of(HEADER, turn(0, shell), turn(1, shell, forever=True)))
    assert faults == []
    assert cassette is not None
    steps = [cassette.turn_after(Scene("t"), results) for results in (0, 1, 2, 50)]
    assert [step.step if step else None for step in steps] == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((turn(0, {"do": "shell", "command": "x"}, forever=True), turn(1)), "for ever, yet more follow"),
        ((turn(0, forever=True),), "must do something"),
        ((turn(0, {"do": "subagent", "thread": "A b", "prompt": "x"}), turn(1)), "thread"),
        ((turn(0, {"do": "sleep", "seconds": 0}), turn(1)), "seconds"),
        ((turn(0, {"do": "wait", "agent": 0}), turn(1)), "agent"),
        ((turn(0, skill="../x"),), "skill"),
    ],
)
def test_faults_of_the_newer_steps_are_named(lines: tuple[object, ...], words: str) -> None:
    cassette, faults = parse_cassette(text_of(HEADER, *lines))
    assert cassette is None
    assert any(words in fault for _, fault in faults), faults
