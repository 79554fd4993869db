"""Reading copilot: tokens come from its event file, the end from the stream, and exit code 0 means little."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Reading
from runner.harnesses.copilot import Copilot
from runner.harnesses.copilot_events import counts_of, read_events
from runner.harnesses.copilot_stream import read_run
from runner.harnesses.endpoint import WireProtocol
from runner.records import CacheSemantics, Limits
from tests.harnesses.samples import assignment, case, classes, lines, rows

HARNESS = Copilot()
PLAIN = (5266, 16036, 0, 475, 35)
ALL = (6614, 20094, 0, 550, 35)


def put_events(home: Path, records: Iterable[bytes], session: str = "session-1") -> Path:
    path = home / ".copilot" / "session-state" / session / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(records))
    return path


def read(folder: Path, output: list[bytes], *, limits: Limits | None = None) -> Reading:
    (folder / "stdout").write_bytes(b"".join(output))
    return HARNESS.read(folder / "stdout", assignment(folder, WireProtocol.CHAT_COMPLETIONS, limits=limits))


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def events(*found: object) -> list[bytes]:
    return [json.dumps(event).encode() + b"\n" for event in found]


def test_cached_tokens_are_taken_out_of_the_input(tmp_path: Path) -> None:
    put_events(tmp_path / "home", lines("copilot-events.jsonl"))
    reading = read(tmp_path, lines("copilot.jsonl"))
    assert classes(reading.usage) == PLAIN
    assert reading.usage is not None
    assert reading.usage.cache_semantics is CacheSemantics.DISJOINT
    assert reading.usage_by_model == {"ledger-1": reading.usage}
    assert (reading.turns, reading.retries) == (4, 0)
    assert (reading.stop_reason, reading.is_error, reading.error) == ("stop", False, None)
    assert (reading.costs, reading.warnings) == ((), ())


def test_the_records_add_up_to_what_the_agent_says_at_its_end() -> None:
    shutdown = rows("copilot-subagent-events.jsonl")[-1]
    assert shutdown["type"] == "session.shutdown"
    whole = json.loads(json.dumps(shutdown))["data"]["modelMetrics"]["ledger-1"]["usage"]
    counts = counts_of(whole)
    assert (counts.fresh, counts.read, counts.write, counts.output, counts.reasoning) == ALL


def test_cached_and_written_tokens_are_both_taken_out() -> None:
    counts = counts_of(
        {"inputTokens": 900, "cacheReadTokens": 500, "cacheWriteTokens": 300, "outputTokens": 7}
    )
    assert (counts.fresh, counts.read, counts.write, counts.output, counts.reasoning) == (100, 500, 300, 7, 0)
    assert counts_of({"cacheReadTokens": 0, "cacheWriteTokens": 0}).fresh is None


def test_subagents_are_counted_and_their_answers_are_no_turns(tmp_path: Path) -> None:
    put_events(tmp_path / "home", lines("copilot-subagent-events.jsonl"))
    reading = read(tmp_path, lines("copilot-subagent.jsonl"))
    assert (classes(reading.usage), reading.turns, reading.is_error) == (ALL, 3, False)


def test_records_that_a_second_session_file_repeats_are_counted_once(tmp_path: Path) -> None:
    put_events(tmp_path / "home", lines("copilot-events.jsonl"))
    put_events(tmp_path / "home", lines("copilot-events.jsonl"), "session-2")
    assert classes(read(tmp_path, lines("copilot.jsonl")).usage) == PLAIN


def test_without_its_event_file_the_usage_is_unknown_and_that_is_said(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("copilot.jsonl"))
    assert (reading.usage, reading.usage_by_model, reading.turns) == (None, {}, 0)
    assert codes(reading) == {"usage-not-reported"}


def test_one_answer_without_a_record_makes_the_sums_unknown(tmp_path: Path) -> None:
    put_events(tmp_path / "home", lines("copilot-events.jsonl")[1:])
    reading = read(tmp_path, lines("copilot.jsonl"))
    assert (reading.usage, codes(reading)) == (None, {"usage-not-reported"})


def test_a_killed_run_keeps_what_its_event_file_holds(tmp_path: Path) -> None:
    put_events(tmp_path / "home", lines("copilot-events.jsonl")[:1])
    output = lines("copilot.jsonl")
    second = [number for number, line in enumerate(output) if b'"assistant.turn_end"' in line][1]
    reading = read(tmp_path, output[:second])
    assert classes(reading.usage) == (1304, 4002, 0, 105, 6)
    assert (reading.stop_reason, reading.is_error, reading.turns) == ("no-end", True, 1)
    assert codes(reading) == {"usage-is-lower-bound"}
    assert "1 answers broke off or left no record" in reading.warnings[0].text


def test_an_answer_whose_counts_the_server_kept_is_unknown(tmp_path: Path) -> None:
    put_events(tmp_path / "home", case("copilot-errors.jsonl", "no-usage, events"))
    reading = read(tmp_path, lines("copilot.jsonl"))
    assert (reading.usage, reading.turns, reading.is_error) == (None, 4, False)
    assert codes(reading) == {"usage-not-reported"}


def test_a_refused_request_is_an_error_that_used_nothing(tmp_path: Path) -> None:
    reading = read(tmp_path, case("copilot-errors.jsonl", "refused"))
    assert (reading.stop_reason, reading.is_error) == ("failed", True)
    assert reading.error == "400 scripted error 400"
    assert classes(reading.usage) == (0, 0, 0, 0, 0)
    assert (reading.turns, reading.retries, reading.warnings) == (0, 0, ())


def test_a_run_that_gave_up_shows_its_retries(tmp_path: Path) -> None:
    reading = read(tmp_path, case("copilot-errors.jsonl", "failed-always"))
    assert (reading.retries, reading.is_error) == (5, True)
    assert reading.error is not None
    assert "retried 5 times" in reading.error
    assert classes(reading.usage) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(("name", "marked"), [("broken-off", True), ("failed-once", False)])
def test_an_answer_that_broke_off_marks_a_lower_bound_and_a_refused_one_does_not(
    name: str, marked: bool, tmp_path: Path
) -> None:
    put_events(tmp_path / "home", lines("copilot-events.jsonl"))
    output = lines("copilot.jsonl")
    asked = next(number for number, line in enumerate(output) if b'"model.call_start"' in line)
    failed = case("copilot-errors.jsonl", name)
    reading = read(tmp_path, [*output[:asked], *failed[1:], *output[asked:]])
    assert (classes(reading.usage), reading.retries, reading.is_error) == (PLAIN, 1, False)
    assert ("usage-is-lower-bound" in codes(reading)) is marked


def test_a_stopped_run_is_no_success_and_keeps_its_tokens(tmp_path: Path) -> None:
    put_events(tmp_path / "home", case("copilot-errors.jsonl", "stopped, events"))
    reading = read(tmp_path, case("copilot-errors.jsonl", "stopped"))
    assert (reading.stop_reason, reading.is_error, reading.error) == (
        "stopped",
        True,
        "the agent was stopped",
    )
    assert classes(reading.usage) == (1304, 4002, 0, 105, 6)
    assert codes(reading) == {"usage-is-lower-bound"}


@pytest.mark.parametrize("aborts", [True, False])
def test_exit_code_zero_after_a_stop_between_two_attempts_is_no_success(aborts: bool, tmp_path: Path) -> None:
    output = [
        line
        for line in case("copilot-errors.jsonl", "stopped-between-attempts")
        if aborts or b'"abort"' not in line
    ]
    reading = read(tmp_path, [*output, *events({"type": "result", "exitCode": 0})])
    assert reading.is_error
    assert reading.stop_reason == ("stopped" if aborts else "failed")
    assert reading.usage is None


def test_an_answer_cut_at_its_length_is_no_success(tmp_path: Path) -> None:
    records = [line.replace(b'"stop"', b'"length"') for line in lines("copilot-events.jsonl")]
    put_events(tmp_path / "home", records)
    reading = read(tmp_path, lines("copilot.jsonl"))
    assert (reading.stop_reason, reading.is_error) == ("length", True)
    assert reading.error == "the last answer ended by length"


def test_limits_that_it_cannot_keep_are_named(tmp_path: Path) -> None:
    put_events(tmp_path / "home", lines("copilot-events.jsonl"))
    reading = read(tmp_path, lines("copilot.jsonl"), limits=Limits(max_turns=3, timeout_seconds=9))
    assert [warning.code for warning in reading.warnings] == ["limit-not-enforced"]


@given(share=st.floats(0, 1), cut=st.integers(0, 400))
def test_any_beginning_of_a_run_reads_and_never_counts_more_than_the_whole(
    share: float, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.getbasetemp() / "copilot-prefix"
    path = home / ".copilot" / "session-state" / "s" / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    for target, sample in ((path, "copilot-subagent-events.jsonl"), (home / "out", "copilot-subagent.jsonl")):
        data = b"".join(lines(sample))
        target.write_bytes(data[: max(int(len(data) * share) - cut, 0)])
    reading = read_run(home / "out", home / ".copilot", "m")
    for count, most in zip(classes(reading.usage) or (), ALL, strict=False):
        assert (count or 0) <= most
    assert (reading.turns or 0) <= 3


WORDS = (
    "type", "data", "usage", "accounting", "sourceSessionId", "sequence", "inputTokens", "outputTokens",
    "cacheReadTokens", "cacheWriteTokens", "outcome", "statusCode", "exitCode", "message", "id", "agentId",
)  # fmt: skip
KINDS = (
    "session.usage_record", "model.call_start", "model.call_finished", "model.call_failure", "result",
    "session.error", "assistant.turn_retry", "success", "error", "abort", "",
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(KINDS) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=12,
)


@given(found=st.lists(st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=6), max_size=6))
def test_no_event_of_any_shape_brings_the_reader_down(
    found: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.getbasetemp() / "copilot-any-shape"
    path = home / "session-state" / "s" / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(events(*found)))
    reading = read_run(path, home, "m")
    assert all(each is None or each >= 0 for each in classes(reading.usage) or ())
    assert reading.turns is None or reading.turns >= 0
    assert reading.stop_reason
    assert reading.error is None or len(reading.error) <= 1000
    assert len(read_events(home).answers) <= len(found)
