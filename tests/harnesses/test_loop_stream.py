"""Reading the event stream: broken, cut and hostile output gives what is there and never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Reading
from runner.harnesses.loop_stream import read_stream
from runner.records import CacheSemantics

START = {"event": "start", "format": 1}
END = {"event": "end", "stop_reason": "finished", "is_error": False}


def answer(prompt: int | None, cached: int | None, completion: int | None, reasoning: int | None) -> object:
    usage = {"prompt": prompt, "cached": cached, "completion": completion, "reasoning": reasoning}
    return {"event": "turn", "usage": usage}


def read(folder: Path, *events: object, tail: bytes = b"") -> Reading:
    path = folder / "stdout"
    path.write_bytes(b"".join(json.dumps(event).encode() + b"\n" for event in events) + tail)
    return read_stream(path)


def test_cached_tokens_are_taken_out_of_the_prompt(tmp_path: Path) -> None:
    reading = read(tmp_path, START, answer(100, 0, 10, 3), answer(150, 100, 20, 4), END)
    usage = reading.usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (150, 100, 0)
    assert (usage.output_tokens, usage.reasoning_tokens) == (30, 7)
    assert usage.cache_semantics is CacheSemantics.DISJOINT
    assert set(usage.sources) == {
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
    }
    assert "not a class" in usage.sources["cache_write_tokens"]


def test_more_cached_than_prompted_is_not_believed(tmp_path: Path) -> None:
    usage = read(tmp_path, START, answer(100, 101, 10, 3), END).usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens) == (100, None)
    assert usage.cache_semantics is CacheSemantics.PARTITION


def test_an_unknown_part_makes_that_sum_unknown_and_no_other(tmp_path: Path) -> None:
    usage = read(tmp_path, START, answer(100, 10, None, 3), answer(100, 10, 5, None), END).usage
    assert usage is not None
    assert (usage.output_tokens, usage.reasoning_tokens, usage.input_tokens) == (None, None, 180)


def test_no_output_at_all_is_an_error_with_nothing_known(tmp_path: Path) -> None:
    for reading in (read(tmp_path), read_stream(tmp_path / "missing")):
        assert (reading.stop_reason, reading.is_error) == ("no-end", True)
        assert (reading.turns, reading.retries, reading.usage) == (None, None, None)


def test_a_stream_cut_in_the_middle_of_a_line_keeps_the_lines_before_it(tmp_path: Path) -> None:
    reading = read(tmp_path, START, answer(10, 0, 1, 0), tail=b'{"event": "turn", "usage": {"pro')
    assert (reading.turns, reading.is_error) == (1, True)
    assert reading.usage is not None


@pytest.mark.parametrize(
    "noise", [b"\xff\xfe\n", b"\x1b[31mred\n", b"[1, 2]\n", b"[" * 99_999 + b"\n", b"\n"]
)
def test_noise_between_the_lines_is_passed_over(tmp_path: Path, noise: bytes) -> None:
    path = tmp_path / "stdout"
    path.write_bytes(noise + json.dumps(START).encode() + b"\n" + noise + json.dumps(END).encode() + b"\n")
    assert read_stream(path).stop_reason == "finished"


def test_a_limit_of_an_unknown_name_is_not_passed_on(tmp_path: Path) -> None:
    assert read(tmp_path, START, {**END, "limit_hit": "moon"}).limit_hit is None
    assert read(tmp_path, START, {**END, "limit_hit": "turns"}).limit_hit == "turns"


def test_a_very_long_error_is_cut(tmp_path: Path) -> None:
    reading = read(tmp_path, START, {**END, "is_error": True, "error": "x" * 5000})
    assert len(str(reading.error)) == 1000


VALUES: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats() | st.just({}) | st.just([])
)
EVENTS = st.dictionaries(
    st.sampled_from(["event", "usage", "limit_hit", "error", "is_error", "usage_lost", "not_enforced"]),
    VALUES
    | st.sampled_from(["start", "turn", "retry", "request", "end", "lost"])
    | st.dictionaries(st.sampled_from(["prompt", "cached", "completion", "reasoning"]), VALUES),
)


@given(events=st.lists(EVENTS, max_size=6))
def test_no_event_of_any_shape_brings_the_reader_down(
    events: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-shape"
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    usage = read_stream(path).usage
    for count in (usage.input_tokens, usage.output_tokens) if usage else ():
        assert count is None or count >= 0
