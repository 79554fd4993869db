"""Reading qwen-code: input with its cache in it, classes that are left out, runs without a result line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.qwen_code import QwenCode
from runner.harnesses.qwen_stream import read_run, trace_event
from runner.harnesses.qwen_transcript import read_transcripts
from runner.records import Limits
from tests.harnesses.samples import assignment, case, classes, lines

WHOLE = (5266, 16036, 0, 475, 35)
WITHOUT_THINKING = (5266, 16036, 0, 475, None)
WITH_HELPER = (7942, 24114, 0, 670, 44)
"""What the server told of the run with a subagent, whose two answers are in it."""
ERRORS = "qwen-code-errors.jsonl"


def put_transcript(home: Path, output: list[bytes]) -> None:
    """A transcript in the folder where the agent leaves it."""
    path = home / ".qwen" / "projects" / "-workspace" / "chats" / "1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(output))


def read(
    folder: Path,
    output: list[bytes],
    *,
    transcript: list[bytes] | None = None,
    protocol: WireProtocol = WireProtocol.CHAT_COMPLETIONS,
    limits: Limits | None = None,
) -> Reading:
    (folder / "stdout").write_bytes(b"".join(output))
    given_to_it = assignment(folder, protocol, limits=limits)
    put_transcript(given_to_it.home, transcript or [])
    return QwenCode().read(folder / "stdout", given_to_it)


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def answered(model: str = "m", **counts: int) -> bytes:
    told = {"event.name": "qwen-code.api_response", "model": model, **counts}
    line = {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": told}}
    return json.dumps(line).encode() + b"\n"


def test_the_input_has_its_cache_taken_out(tmp_path: Path) -> None:
    output = lines("qwen-code.jsonl")
    assert json.loads(output[-1])["usage"]["input_tokens"] == 5266 + 16036
    reading = read(tmp_path, output)
    assert classes(reading.usage) == WITHOUT_THINKING
    assert (reading.turns, reading.stop_reason, reading.is_error) == (4, "success", False)
    assert (reading.retries, reading.costs, reading.warnings) == (None, (), ())


def test_the_transcript_adds_thinking_and_models_and_retries(tmp_path: Path) -> None:
    reading = read(
        tmp_path, lines("qwen-code-subagent.jsonl"), transcript=lines("qwen-code-transcript.jsonl")
    )
    assert classes(reading.usage) == WITH_HELPER
    assert list(reading.usage_by_model) == ["ledger-1"]
    assert reading.usage_by_model["ledger-1"] == reading.usage
    assert (reading.turns, reading.retries) == (4, 0)


def test_a_transcript_that_tells_another_sum_does_not_overrule_the_result(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("qwen-code.jsonl"), transcript=lines("qwen-code-transcript.jsonl"))
    assert classes(reading.usage) == WITHOUT_THINKING
    assert reading.usage_by_model == {}


def test_a_killed_run_yields_what_its_transcript_holds_subagents_included(tmp_path: Path) -> None:
    reading = read(
        tmp_path, lines("qwen-code-subagent.jsonl")[:-1], transcript=lines("qwen-code-transcript.jsonl")
    )
    assert classes(reading.usage) == WITH_HELPER
    assert (reading.stop_reason, reading.is_error, reading.turns) == ("no-end", True, 4)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_a_killed_run_without_a_transcript_has_no_usage_and_says_so(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("qwen-code.jsonl")[:-1])
    assert (reading.usage, reading.turns) == (None, 4)
    assert codes(reading) == {"usage-not-reported"}


def test_over_messages_cache_writes_and_reasoning_are_unknown_and_that_is_said(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("qwen-code-messages.jsonl"), protocol=WireProtocol.MESSAGES)
    assert classes(reading.usage) == (5266, 16036, None, 475, None)
    assert codes(reading) == {"usage-classes-not-told"}
    assert reading.usage is not None
    assert "cache_write_tokens" not in reading.usage.sources


def test_the_turn_limit_ends_without_a_result_and_is_named(tmp_path: Path) -> None:
    output, transcript = case(ERRORS, "turn-limit"), case(ERRORS, "turn-limit-transcript")
    reading = read(tmp_path, output, transcript=transcript, limits=Limits(max_turns=3))
    assert (reading.limit_hit, reading.stop_reason, reading.is_error) == ("turns", "turn-limit", True)
    assert (reading.turns, classes(reading.usage)) == (3, (4002, 12096, 0, 315, 18))
    assert codes(reading) == set()


def test_a_run_that_was_killed_below_its_turn_limit_did_not_hit_it(tmp_path: Path) -> None:
    output, transcript = case(ERRORS, "turn-limit"), case(ERRORS, "turn-limit-transcript")
    reading = read(tmp_path, output, transcript=transcript, limits=Limits(max_turns=4))
    assert (reading.limit_hit, reading.stop_reason) == (None, "no-end")


def test_a_refused_request_used_nothing_and_its_message_is_no_answer(tmp_path: Path) -> None:
    reading = read(tmp_path, case(ERRORS, "refused"), transcript=case(ERRORS, "refused-transcript"))
    assert classes(reading.usage) == (0, 0, 0, 0, 0)
    assert (reading.is_error, reading.turns, reading.retries) == (True, 0, 0)
    assert reading.error == "[API Error: 400 scripted error 400]"


def test_a_loop_that_the_agent_stopped_counts_all_but_its_last_answer(tmp_path: Path) -> None:
    reading = read(tmp_path, case(ERRORS, "loop"), transcript=case(ERRORS, "loop-transcript"))
    assert (reading.stop_reason, reading.is_error, reading.turns) == ("loop", True, 4)
    assert classes(reading.usage) == (5340, 16076, 0, 560, 52)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_an_answer_that_broke_off_is_a_retry_and_marks_a_lower_bound(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("qwen-code.jsonl"), transcript=case(ERRORS, "cut-transcript"))
    assert classes(reading.usage) == WHOLE
    assert (reading.retries, reading.turns, reading.is_error) == (1, 4, False)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_zeros_beside_answers_are_not_zero_tokens(tmp_path: Path) -> None:
    reading = read(tmp_path, case(ERRORS, "no-usage"), transcript=case(ERRORS, "no-usage-transcript"))
    assert (reading.usage, reading.usage_by_model, reading.turns) == (None, {}, 4)
    assert codes(reading) == {"usage-not-reported"}


def test_one_silent_answer_makes_the_sums_unknown(tmp_path: Path) -> None:
    transcript = [
        *lines("qwen-code-transcript.jsonl"),
        answered(
            input_token_count=0, cached_content_token_count=0, output_token_count=0, thoughts_token_count=0
        ),
    ]
    for output in (lines("qwen-code-subagent.jsonl"), lines("qwen-code-subagent.jsonl")[:-1]):
        reading = read(tmp_path, output, transcript=transcript)
        assert (reading.usage, reading.usage_by_model) == (None, {})
        assert codes(reading) == {"usage-not-reported"}


def test_models_are_told_apart(tmp_path: Path) -> None:
    counts = {"cached_content_token_count": 1, "output_token_count": 2, "thoughts_token_count": 1}
    put_transcript(
        tmp_path,
        [answered("a", input_token_count=5, **counts), answered("b", input_token_count=7, **counts)],
    )
    by_model = read_transcripts(tmp_path / ".qwen").by_model()
    assert {name: counts.fresh for name, counts in by_model.items()} == {"a": 4, "b": 6}


def test_limits_that_it_cannot_keep_are_named(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("qwen-code.jsonl"), limits=Limits(max_turns=9, max_cost_usd=2.0))
    assert [warning.code for warning in reading.warnings] == ["limit-not-enforced"]


@given(share=st.floats(0, 1), cut=st.integers(0, 400))
def test_any_beginning_of_a_transcript_counts_no_more_than_the_whole(
    share: float, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "qwen-prefix"
    data = b"".join(lines("qwen-code-transcript.jsonl"))
    put_transcript(folder, [data[: max(int(len(data) * share) - cut, 0)]])
    reading = read_run(folder / "nothing", folder / ".qwen")
    for count, most in zip(classes(reading.usage) or (), WITH_HELPER, strict=False):
        assert (count or 0) <= most
    assert (reading.turns or 0) <= 4


KEYS = (
    "type", "subtype", "systemPayload", "uiEvent", "event.name", "usage", "input_tokens", "output_tokens",
    "cache_read_input_tokens", "message", "content", "error", "is_error", "result", "model", "name", "input",
    "input_token_count", "cached_content_token_count", "output_token_count", "parent_tool_use_id", "text",
)  # fmt: skip
WORDS = (
    "result", "assistant", "user", "system", "init", "ui_telemetry", "qwen-code.api_response",
    "qwen-code.api_error", "text", "tool_use", "\x1b[2J\u202e",
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=10,
)


@given(events=st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6), max_size=5))
def test_no_event_of_any_shape_brings_the_reader_down(
    events: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "qwen-any-shape"
    folder.mkdir(exist_ok=True)
    output = [json.dumps(event).encode() + b"\n" for event in events]
    put_transcript(folder, output)
    (folder / "stdout").write_bytes(b"".join(output))
    for tells in (True, False):
        reading = read_run(folder / "stdout", folder / ".qwen", max_turns=1, tells_writes=tells)
        assert all(each is None or each >= 0 for each in classes(reading.usage) or ())
        assert reading.turns is None or reading.turns >= 0
        assert reading.retries is None or reading.retries >= 0
        assert reading.stop_reason
    for line in output:
        shown = trace_event(line.decode())
        assert shown is None or shown.isprintable()


@pytest.mark.parametrize("noise", [b"\xff\xfe\n", b"[1]\n", b"{" * 9_999 + b"\n", b"\n", b"\0"])
def test_noise_between_the_lines_changes_no_number(noise: bytes, tmp_path: Path) -> None:
    output = [noise + b"\n" + line for line in lines("qwen-code.jsonl")]
    assert classes(read(tmp_path, output).usage) == WITHOUT_THINKING


def test_a_run_can_be_followed_from_answer_to_end() -> None:
    found = (trace_event(line.decode()) for line in lines("qwen-code.jsonl"))
    shown = [line for line in found if line is not None]
    assert shown[0] == "answer: Step 0 of main."
    assert shown[1] == "  read_file <WORKDIR>/calc.py"
    assert shown[-1] == "end: success"
    assert len(shown) == 8
