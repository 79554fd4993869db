"""Reading gemini-cli: classes without overlap, silent answers, and the session files of a killed run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Reading, stderr_beside
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.gemini_cli import GeminiCli
from runner.harnesses.gemini_session import counts_of, read_sessions
from runner.harnesses.gemini_stream import read_run, trace_event
from runner.records import Limits
from tests.harnesses.samples import assignment, case, classes, lines

WHOLE = (5266, 16036, 0, 475, 35)
WITH_HELPER = (7943, 24119, 0, 660, 42)
"""What the server told of the run with a subagent, whose three answers are in it."""


def put_sessions(home: Path, wanted: str = "") -> None:
    """The recorded session files, in the folders where the agent leaves them."""
    for entry in map(json.loads, lines("gemini-cli-session.jsonl")):
        if wanted in entry["file"]:
            path = home / ".gemini" / entry["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(entry["line"]) + "\n")


def read(folder: Path, output: list[bytes], *, limits: Limits | None = None) -> Reading:
    (folder / "stdout").write_bytes(b"".join(output))
    return GeminiCli().read(
        folder / "stdout", assignment(folder, WireProtocol.GENERATE_CONTENT, limits=limits)
    )


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def result(status: str = "success", message: str | None = None, **stats: int) -> bytes:
    told = {"total_tokens": 0, "input_tokens": 0, "output_tokens": 0, "cached": 0, **stats}
    event: dict[str, object] = {"type": "result", "status": status, "stats": {"models": {"m": told}}}
    if message is not None:
        event["error"] = {"type": "unknown", "message": message}
    return json.dumps(event).encode() + b"\n"


SAID = b'{"type": "message", "role": "assistant", "content": "Done.", "delta": true}\n'


def test_the_last_line_is_taken_apart_into_classes_without_overlap(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("gemini-cli.jsonl"))
    assert classes(reading.usage) == WHOLE
    assert (reading.turns, reading.stop_reason, reading.is_error) == (4, "success", False)
    assert list(reading.usage_by_model) == ["ledger-1"]
    assert reading.usage_by_model["ledger-1"] == reading.usage
    assert (reading.warnings, reading.costs, reading.error) == ((), (), None)


def test_retries_are_told_on_standard_error_and_unknown_without_it(tmp_path: Path) -> None:
    assert read(tmp_path, lines("gemini-cli.jsonl")).retries is None
    errors = stderr_beside(tmp_path / "stdout")
    errors.write_text("Warning: Basic terminal detected.\n")
    assert read(tmp_path, lines("gemini-cli.jsonl")).retries == 0
    errors.write_text(
        "Attempt 1 failed with status 500. Retrying with backoff... _ApiError: {}\n    at x (y:1:1)\n"
        "Attempt 2 failed. Retrying with backoff... Error: fetch failed\n"
        "Attempt 3 failed: quota. Max attempts reached\n"
        "it says: Attempt 4 failed. Retrying with backoff...\n"
    )
    assert read(tmp_path, lines("gemini-cli.jsonl")).retries == 2


def test_subagents_are_in_the_sums_and_not_among_the_turns(tmp_path: Path) -> None:
    put_sessions(tmp_path / "home")
    reading = read(tmp_path, lines("gemini-cli-subagent.jsonl"))
    assert classes(reading.usage) == WITH_HELPER
    assert reading.turns == 3


def test_a_killed_run_yields_what_its_session_files_hold_subagents_included(tmp_path: Path) -> None:
    put_sessions(tmp_path / "home")
    reading = read(tmp_path, lines("gemini-cli-subagent.jsonl")[:-1])
    assert classes(reading.usage) == WITH_HELPER
    assert (reading.stop_reason, reading.is_error, reading.turns) == ("no-end", True, 3)
    assert "usage-is-lower-bound" in codes(reading)
    assert list(reading.usage_by_model) == ["ledger-1"]


def test_an_answer_that_is_written_twice_counts_once(tmp_path: Path) -> None:
    put_sessions(tmp_path)
    found = read_sessions(tmp_path / ".gemini")
    put_sessions(tmp_path)
    assert read_sessions(tmp_path / ".gemini") == found
    assert len(found.told) == 6


def test_a_killed_run_without_session_files_has_no_usage_and_says_so(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("gemini-cli.jsonl")[:-1])
    assert (reading.usage, reading.turns) == (None, 4)
    assert codes(reading) == {"usage-not-reported"}


def test_zeros_beside_answers_are_not_zero_tokens(tmp_path: Path) -> None:
    reading = read(tmp_path, case("gemini-cli-errors.jsonl", "no-usage"))
    assert (reading.usage, reading.usage_by_model, reading.is_error) == (None, {}, False)
    assert codes(reading) == {"usage-not-reported"}


def test_one_silent_answer_makes_the_sums_unknown(tmp_path: Path) -> None:
    put_sessions(tmp_path / "home")
    silent = {"id": "quiet", "type": "gemini", "content": "?", "tokens": None, "model": "m"}
    path = tmp_path / "home" / ".gemini" / "tmp" / "workspace" / "chats" / "main.jsonl"
    path.write_text(path.read_text() + json.dumps(silent) + "\n")
    reading = read(tmp_path, lines("gemini-cli-subagent.jsonl"))
    assert (reading.usage, reading.usage_by_model, reading.turns) == (None, {}, 4)
    assert codes(reading) == {"usage-not-reported"}


def test_a_refused_request_used_nothing(tmp_path: Path) -> None:
    reading = read(tmp_path, case("gemini-cli-errors.jsonl", "refused"))
    assert classes(reading.usage) == (0, 0, 0, 0, 0)
    assert (reading.is_error, reading.stop_reason, reading.turns) == (True, "error", 0)
    assert reading.error is not None
    assert "scripted error 400" in reading.error


def test_an_answer_that_broke_off_used_something_that_nobody_told(tmp_path: Path) -> None:
    reading = read(tmp_path, case("gemini-cli-errors.jsonl", "cut"))
    assert (reading.usage, reading.is_error) == (None, True)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_what_came_before_a_broken_answer_still_counts(tmp_path: Path) -> None:
    told = result(
        "error", "[API Error: terminated]", total_tokens=9, input_tokens=5, output_tokens=3, cached=2
    )
    reading = read(tmp_path, [SAID, told])
    assert classes(reading.usage) == (3, 2, 0, 4, 1)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_the_turn_limit_is_named(tmp_path: Path) -> None:
    reading = read(tmp_path, case("gemini-cli-errors.jsonl", "turn-limit"))
    assert (reading.limit_hit, reading.stop_reason, reading.is_error) == ("turns", "turn-limit", True)
    assert classes(reading.usage) == (4002, 12096, 0, 315, 18)
    assert codes(reading) == set()


def test_a_loop_that_ends_well_by_its_own_account_is_an_error(tmp_path: Path) -> None:
    output = case("gemini-cli-errors.jsonl", "loop")
    assert json.loads(output[-1])["status"] == "success"
    reading = read(tmp_path, output)
    assert (reading.is_error, reading.stop_reason) == (True, "loop")
    assert reading.error == "Loop detected, stopping execution"
    assert codes(reading) == {"usage-is-lower-bound"}


def test_a_run_without_any_answer_is_no_success(tmp_path: Path) -> None:
    reading = read(tmp_path, [result()])
    assert reading.is_error
    assert reading.error == "the run ended without an answer of the model"


def test_settings_of_the_repository_are_named_because_they_are_obeyed(tmp_path: Path) -> None:
    assert codes(read(tmp_path, lines("gemini-cli.jsonl"))) == set()
    (tmp_path / "workspace" / ".gemini").mkdir()
    (tmp_path / "workspace" / ".gemini" / "settings.json").write_text("{}")
    assert codes(read(tmp_path, lines("gemini-cli.jsonl"))) == {"workspace-settings"}


def test_limits_that_it_cannot_keep_are_named(tmp_path: Path) -> None:
    limits = Limits(max_turns=3, max_output_tokens=5, max_tokens=7, max_cost_usd=1.0)
    reading = read(tmp_path, lines("gemini-cli.jsonl"), limits=limits)
    assert [warning.code for warning in reading.warnings] == ["limit-not-enforced"] * 2


@pytest.mark.parametrize("cached", [-1, 6, None, "2", 1.0])
def test_a_cache_that_cannot_be_leaves_the_fresh_input_unknown(cached: object) -> None:
    assert counts_of(5, cached, 3, 1).fresh is None


@given(
    prompt=st.integers(0, 10**9),
    share=st.floats(0, 1),
    said=st.integers(0, 10**6),
    thought=st.integers(0, 99),
)
def test_classes_add_up_to_what_was_told(prompt: int, share: float, said: int, thought: int) -> None:
    cached = int(prompt * share)
    counts = counts_of(prompt, cached, said, thought)
    assert (counts.fresh or 0) + (counts.read or 0) == prompt
    assert counts.output == said + thought
    assert counts.reasoning == thought


@given(share=st.floats(0, 1), cut=st.integers(0, 300))
def test_any_beginning_of_a_run_reads_and_never_counts_more_than_the_whole(
    share: float, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "gemini-prefix"
    data = b"".join(lines("gemini-cli.jsonl"))
    path.write_bytes(data[: max(int(len(data) * share) - cut, 0)])
    reading = read_run(path, path.parent / "nothing")
    assert classes(reading.usage) in {None, WHOLE}
    assert (reading.turns or 0) <= 4


KEYS = (
    "type", "role", "status", "stats", "models", "error", "message", "id", "tokens", "input", "cached", "m",
    "input_tokens", "output_tokens", "total_tokens", "kind", "sessionId", "tool_name", "content",
)  # fmt: skip
WORDS = ("result", "message", "assistant", "gemini", "error", "success", "tool_use", "subagent", "m", "")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=10,
)


@given(events=st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6), max_size=5))
def test_no_event_of_any_shape_brings_the_reader_down(
    events: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "gemini-any-shape"
    for place in ("stdout", "tmp/p/chats/s.jsonl", "tmp/p/chats/1/h.jsonl"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    reading = read_run(folder / "stdout", folder)
    assert all(each is None or each >= 0 for each in classes(reading.usage) or ())
    assert reading.turns is None or reading.turns >= 0
    assert reading.stop_reason
    for event in events:
        shown = trace_event(json.dumps(event))
        assert shown is None or shown.isprintable()


@pytest.mark.parametrize("noise", [b"\xff\xfe\n", b"[1]\n", b"{" * 9_999 + b"\n", b"\n", b"\0"])
def test_noise_between_the_lines_changes_no_number(noise: bytes, tmp_path: Path) -> None:
    output = [noise + b"\n" + line for line in lines("gemini-cli.jsonl")]
    assert classes(read(tmp_path, output).usage) == WHOLE


def test_a_run_can_be_followed_from_answer_to_end() -> None:
    found = (trace_event(line.decode()) for line in lines("gemini-cli.jsonl"))
    shown = [line for line in found if line is not None]
    assert shown[0] == "answer: Step 0 of main."
    assert shown[1] == "  read_file <WORKDIR>/calc.py"
    assert shown[-1] == "end: success"
    assert len(shown) == 8
