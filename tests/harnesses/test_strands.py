"""Strands: what its driver is told, what the driver does, and what its lines mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses import strands_driver as driver
from runner.harnesses.base import Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import harness
from runner.harnesses.strands import Strands, settings_of
from runner.harnesses.strands_stream import counts_of, hear
from runner.records import Limits
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import assignment, case, classes, lines

CHAT, MESSAGES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES
CASES = "strands-cases.jsonl"
USAGE = {
    "inputTokens": 1000,
    "outputTokens": 9,
    "totalTokens": 1009,
    "cacheReadInputTokens": 600,
    "cacheWriteInputTokens": 300,
    "reasoningTokens": 4,
}
REQUEST: Mapping[str, object] = {"type": "request", "index": 0}
ANSWER: Mapping[str, object] = {"type": "model_call", "index": 0, "error": None, "usage": USAGE}
END: Mapping[str, object] = {
    "type": "result",
    "is_error": False,
    "stop_reason": "end_turn",
    "error": None,
    "cycle_count": 1,
}


def read(folder: Path, printed: bytes, protocol: WireProtocol = CHAT) -> Reading:
    (folder / "stdout").write_bytes(printed)
    return Strands().read(folder / "stdout", assignment(folder, protocol))


def printed(*events: Mapping[str, object]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def test_a_run_is_the_sum_of_its_requests_exact_and_in_classes(tmp_path: Path) -> None:
    reading = read(tmp_path, b"".join(lines("strands.jsonl")))
    assert classes(reading.usage) == (5266, 16036, 0, 475, 35)
    assert (reading.stop_reason, reading.is_error, reading.error) == ("end_turn", False, None)
    assert (reading.turns, reading.retries, reading.warnings) == (4, 0, ())
    assert reading.usage is not None
    assert reading.usage_by_model == {"vendor/model:1": reading.usage}


def test_over_messages_the_input_holds_no_cached_tokens(tmp_path: Path) -> None:
    reading = read(tmp_path, b"".join(case(CASES, "messages")), MESSAGES)
    assert classes(reading.usage) == (4021, 16036, 1245, 475, 35)


def test_a_refused_request_is_an_error_that_used_nothing(tmp_path: Path) -> None:
    reading = read(tmp_path, b"".join(case(CASES, "failure")))
    assert (reading.stop_reason, reading.is_error) == ("error", True)
    assert "scripted error 400" in (reading.error or "")
    assert classes(reading.usage) == (0, 0, 0, 0, 0)
    assert reading.usage_by_model == {}


def test_a_stopped_run_yields_what_it_had_and_may_have_used_more(tmp_path: Path) -> None:
    reading = read(tmp_path, b"".join(case(CASES, "stopped")))
    assert (reading.stop_reason, reading.is_error, reading.turns) == ("stopped", True, 1)
    assert classes(reading.usage) == (1304, 4002, 0, 105, 6)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_an_answer_that_broke_off_marks_a_lower_bound_and_a_retry(tmp_path: Path) -> None:
    reading = read(tmp_path, b"".join(case(CASES, "cut")))
    assert (reading.is_error, reading.retries, reading.turns) == (False, 1, 4)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_answers_without_counts_are_unknown_and_never_zero(tmp_path: Path) -> None:
    reading = read(tmp_path, b"".join(case(CASES, "no-usage")))
    assert (reading.usage, reading.usage_by_model, reading.is_error) == (None, {}, False)
    assert codes(reading) == {"usage-not-reported"}


def test_the_limit_of_turns_is_named(tmp_path: Path) -> None:
    ended = {**END, "is_error": True, "stop_reason": "limit_turns", "cycle_count": 3}
    reading = read(tmp_path, printed(REQUEST, ANSWER, ended))
    assert (reading.limit_hit, reading.is_error, reading.turns) == ("turns", True, 3)


@pytest.mark.parametrize("stop_reason", ["max_tokens", "content_filtered", "cancelled", "", None, 7])
def test_only_an_ended_turn_is_success(stop_reason: object, tmp_path: Path) -> None:
    reading = read(tmp_path, printed(REQUEST, ANSWER, {**END, "stop_reason": stop_reason}))
    assert reading.is_error
    assert reading.error


VALUES: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just({}) | st.floats()
)
KEYS = st.sampled_from(
    ["type", "index", "error", "usage", "is_error", "stop_reason", "cycle_count", "refused"]
)
EVENTS = st.sampled_from([REQUEST, ANSWER, END]) | st.dictionaries(KEYS, VALUES, max_size=5)


@given(events=st.lists(EVENTS, max_size=8), protocol=st.sampled_from([CHAT, MESSAGES]))
def test_no_events_of_any_shape_are_read_as_more_than_was_answered(
    events: list[Mapping[str, object]], protocol: WireProtocol, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "strands-stream"
    path.write_bytes(printed(*events))
    heard = hear(path, protocol)
    told = sum(event == ANSWER for event in events)
    found = classes(heard.usage)
    if found is not None and told:
        assert found == (
            told * (100 if protocol is CHAT else 1000),
            told * 600,
            told * 300,
            told * 9,
            told * 4,
        )
    assert heard.lost >= 0
    assert heard.turns is None or heard.turns >= 0
    assert heard.stop_reason
    assert heard.finished or heard.error


@given(usage=st.dictionaries(st.sampled_from(sorted(USAGE)), VALUES))
def test_no_count_is_negative_or_made_of_something_that_is_no_number(usage: dict[str, object]) -> None:
    for protocol in (CHAT, MESSAGES):
        counts = counts_of(usage, protocol)
        for each in (counts.fresh, counts.output, counts.read, counts.write, counts.reasoning):
            assert each is None or each >= 0


def test_the_driver_is_told_the_window_and_reads_the_prompt_from_its_input(tmp_path: Path) -> None:
    given_ = assignment(tmp_path, MESSAGES, limits=Limits(max_turns=7, max_output_tokens=500))
    assert settings_of(given_) == {
        "protocol": "messages",
        "base_url": "http://127.0.0.1:9/v1",
        "model": "vendor/model:1",
        "window": 100_000,
        "answer": 500,
        "fraction": 0.796,
        "max_turns": 7,
    }
    pretend_installed(harness("strands"), tmp_path / "installed")
    launch = Strands().launch(given_)
    assert launch.stdin == b"Do it."
    assert launch.environment[driver.KEY_VARIABLE] == given_.endpoint.api_key
    assert Path(launch.command[-2]) in launch.configuration
    assert Path(launch.command[-2]).read_text() == Path(driver.__file__).read_text()


def test_what_it_says_and_does_is_shown_and_nothing_else() -> None:
    shown = [Strands().trace(line.decode()) for line in lines("strands.jsonl")]
    assert [line[:36] for line in shown if line] == [
        "answer: Step 0 of main.",
        "  shell sed -n '1,$p' -- calc.py",
        "answer: Step 1 of main.",
        "  shell python3 -c 'import fcntl, sy",
        "answer: Step 2 of main.",
        "  shell cat calc.py | wc -l",
        "answer: Step 3 of main.",
    ]
    wrong = [Strands().trace(line.decode()) for line in case(CASES, "failure")]
    assert any(line and line.startswith("error: BadRequestError") for line in wrong)
