"""Reading pi: every answer counts once, failures are no turns, and exit code 0 means nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.pi import Pi
from runner.harnesses.pi_stream import read_stream
from runner.records import CacheSemantics, Limits
from tests.harnesses.samples import assignment, case, classes, lines

SETTLED = b'{"type": "agent_settled", "aborted": false}\n'


def read(folder: Path, output: list[bytes], *, limits: Limits | None = None) -> Reading:
    (folder / "stdout").write_bytes(b"".join(output))
    given_limits = assignment(folder, WireProtocol.CHAT_COMPLETIONS, limits=limits)
    return Pi().read(folder / "stdout", given_limits)


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def answer(reason: str = "stop", error: str | None = None, **usage: int) -> bytes:
    message = {"role": "assistant", "model": "m", "stopReason": reason, "usage": usage}
    if error is not None:
        message["errorMessage"] = error
    return json.dumps({"type": "message_end", "message": message}).encode() + b"\n"


def test_an_answer_that_is_listed_three_times_counts_once(tmp_path: Path) -> None:
    output = lines("pi.jsonl")
    kinds = [json.loads(line)["type"] for line in output]
    assert kinds.count("turn_end") == 4
    reading = read(tmp_path, output)
    assert classes(reading.usage) == (5206, 12000, 0, 166, 20)
    assert reading.usage is not None
    assert reading.usage.cache_semantics is CacheSemantics.DISJOINT
    assert (reading.turns, reading.retries) == (4, 0)
    assert (reading.stop_reason, reading.is_error, reading.error) == ("stop", False, None)
    assert set(reading.usage_by_model) == {"mock-model"}
    assert reading.costs == ()


def test_usage_is_summed_over_the_whole_stream_also_where_the_agent_starts_anew(tmp_path: Path) -> None:
    once = lines("pi.jsonl")
    reading = read(tmp_path, [*once, *once[1:]])
    assert classes(reading.usage) == (10412, 24000, 0, 332, 40)
    assert reading.turns == 8


def test_a_refused_request_is_an_error_although_the_exit_code_is_zero(tmp_path: Path) -> None:
    reading = read(tmp_path, [*case("pi-errors.jsonl", "p_e400"), SETTLED])
    assert (reading.is_error, reading.stop_reason, reading.turns) == (True, "error", 0)
    assert reading.error is not None
    assert "mock fault 400" in reading.error
    assert classes(reading.usage) == (0, 0, 0, 0, 0)


def test_failed_attempts_are_retries_and_no_turns(tmp_path: Path) -> None:
    reading = read(tmp_path, [*case("pi-errors.jsonl", "p_e500"), SETTLED])
    assert (reading.retries, reading.turns, reading.is_error) == (3, 0, True)


def test_a_failure_that_was_recovered_leaves_the_run_and_its_sums_intact(tmp_path: Path) -> None:
    whole = lines("pi.jsonl")
    reading = read(tmp_path, [whole[0], *case("pi-errors.jsonl", "p_e500")[:2], *whole[1:]])
    assert (reading.turns, reading.retries, reading.is_error) == (4, 1, False)
    assert classes(reading.usage) == (5206, 12000, 0, 166, 20)
    assert "usage-is-lower-bound" not in codes(reading)


def test_an_answer_that_broke_off_marks_a_lower_bound(tmp_path: Path) -> None:
    broken = answer("error", "terminated: other side closed", input=0, output=0, cacheRead=0, cacheWrite=0)
    reading = read(tmp_path, [broken, *lines("pi.jsonl")])
    assert "usage-is-lower-bound" in codes(reading)
    assert classes(reading.usage) == (5206, 12000, 0, 166, 20)


def test_what_was_told_of_a_broken_answer_is_counted_but_it_is_no_turn(tmp_path: Path) -> None:
    broken = answer("error", "terminated", input=7, output=1, cacheRead=2, cacheWrite=3)
    reading = read(tmp_path, [broken, *lines("pi.jsonl")])
    assert classes(reading.usage) == (5213, 12002, 3, 167, 20)
    assert reading.turns == 4


def test_zeros_beside_an_answer_are_not_zero_tokens(tmp_path: Path) -> None:
    silent = answer(input=0, output=0, cacheRead=0, cacheWrite=0)
    reading = read(tmp_path, [silent, SETTLED])
    assert (reading.usage, reading.turns, reading.is_error) == (None, 1, False)
    assert "usage-not-reported" in codes(reading)


def test_one_silent_answer_makes_the_sums_unknown(tmp_path: Path) -> None:
    silent = answer(input=0, output=0, cacheRead=0, cacheWrite=0)
    reading = read(tmp_path, [silent, *lines("pi.jsonl")])
    assert (reading.usage, reading.usage_by_model) == (None, {})


def test_an_answer_cut_at_its_length_is_no_success(tmp_path: Path) -> None:
    reading = read(tmp_path, [answer("length", input=5, output=9, cacheRead=0, cacheWrite=0), SETTLED])
    assert (reading.is_error, reading.stop_reason) == (True, "length")
    assert reading.error is not None
    assert "length" in reading.error


def test_a_run_stopped_between_two_attempts_has_no_end(tmp_path: Path) -> None:
    end = b'{"type": "agent_end"}\n'
    failed, retry = case("pi-errors.jsonl", "p_e500")[:2]
    reading = read(tmp_path, [failed, end, retry])
    assert (reading.stop_reason, reading.is_error, reading.retries) == ("no-end", True, 1)


def test_a_stopped_run_yields_what_it_had_said(tmp_path: Path) -> None:
    output = lines("pi.jsonl")
    first_turn = [json.loads(line)["type"] for line in output].index("turn_end")
    reading = read(tmp_path, output[: first_turn + 1])
    assert classes(reading.usage) == (1300, 0, 0, 40, 5)
    assert (reading.stop_reason, reading.is_error, reading.turns) == ("no-end", True, 1)
    assert "usage-is-lower-bound" in codes(reading)


def test_limits_that_it_cannot_keep_are_named(tmp_path: Path) -> None:
    limits = Limits(max_turns=3, max_output_tokens=5, timeout_seconds=9)
    reading = read(tmp_path, lines("pi.jsonl"), limits=limits)
    assert [warning.code for warning in reading.warnings] == ["limit-not-enforced"]


@given(share=st.floats(0, 1), cut=st.integers(0, 400))
def test_any_beginning_of_a_run_reads_and_never_counts_more_than_the_whole(
    share: float, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "pi-prefix"
    data = b"".join(lines("pi.jsonl"))
    path.write_bytes(data[: max(int(len(data) * share) - cut, 0)])
    reading = read_stream(path)
    for count, most in zip(classes(reading.usage) or (), (5206, 12000, 0, 166, 20), strict=False):
        assert (count or 0) <= most
    assert (reading.turns or 0) <= 4
