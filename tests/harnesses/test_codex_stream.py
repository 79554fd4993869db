"""Reading codex: tokens come from the rollout files, the end from the stream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Reading
from runner.harnesses.codex import Codex
from runner.harnesses.codex_rollout import counts_of
from runner.harnesses.codex_stream import read_run
from runner.harnesses.endpoint import WireProtocol
from runner.records import CacheSemantics
from tests.harnesses.samples import assignment, case, classes, lines, put_rollouts

HARNESS = Codex()


def read(folder: Path, output: list[bytes]) -> Reading:
    (folder / "stdout").write_bytes(b"".join(output))
    return HARNESS.read(folder / "stdout", assignment(folder, WireProtocol.RESPONSES))


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def events(*found: object) -> list[bytes]:
    return [json.dumps(event).encode() + b"\n" for event in found]


def test_cached_tokens_are_taken_out_of_the_input(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("codex.jsonl"))
    assert classes(reading.usage) == (5206, 12000, 0, 166, 20)
    assert reading.usage is not None
    assert reading.usage.cache_semantics is CacheSemantics.DISJOINT
    assert (reading.stop_reason, reading.is_error, reading.retries) == ("completed", False, 0)
    assert reading.costs == ()


def test_cached_and_written_tokens_are_both_taken_out() -> None:
    block = {"input_tokens": 50768, "cached_input_tokens": 36741, "cache_write_input_tokens": 13817}
    counts = counts_of(block)
    assert (counts.fresh, counts.read, counts.write) == (210, 36741, 13817)


def test_subagents_are_counted_from_the_rollout_files(tmp_path: Path) -> None:
    output = lines("codex-subagent.jsonl")
    assert json.loads(output[-1])["usage"]["input_tokens"] == 9903
    put_rollouts(tmp_path / "home" / ".codex")
    reading = read(tmp_path, output)
    assert classes(reading.usage) == (14504 - 8000, 8000, 0, 204, 25)
    assert reading.turns == 3
    assert set(reading.usage_by_model) == {"vendor/model:1"}


def test_without_rollout_files_a_run_with_a_subagent_is_a_lower_bound(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("codex-subagent.jsonl"))
    assert classes(reading.usage) == (3903, 6000, 0, 123, 15)
    assert "usage-is-lower-bound" in codes(reading)


def test_records_that_a_child_thread_repeats_are_counted_once(tmp_path: Path) -> None:
    main, child = put_rollouts(tmp_path / "home" / ".codex")
    child.write_bytes(child.read_bytes() + main.read_bytes())
    assert classes(read(tmp_path, lines("codex-subagent.jsonl")).usage) == (6504, 8000, 0, 204, 25)


def test_a_failed_turn_keeps_the_tokens_of_its_requests(tmp_path: Path) -> None:
    put_rollouts(tmp_path / "home" / ".codex")
    reading = read(tmp_path, [*lines("codex.jsonl")[:3], *case("codex-errors.jsonl", "late500")])
    assert (reading.is_error, reading.stop_reason) == (True, "failed")
    assert classes(reading.usage) == (6504, 8000, 0, 204, 25)


def test_a_stopped_run_keeps_the_tokens_of_its_requests(tmp_path: Path) -> None:
    put_rollouts(tmp_path / "home" / ".codex")
    reading = read(tmp_path, lines("codex-subagent.jsonl")[:5])
    assert (reading.is_error, reading.stop_reason) == (True, "no-end")
    assert classes(reading.usage) == (6504, 8000, 0, 204, 25)
    assert "usage-is-lower-bound" in codes(reading)


@pytest.mark.parametrize(
    ("name", "said"), [("e400", "mock fault 400"), ("e429", "429"), ("e500", "high demand")]
)
def test_a_run_whose_requests_were_all_turned_away_used_nothing(name: str, said: str, tmp_path: Path) -> None:
    reading = read(tmp_path, case("codex-errors.jsonl", name))
    assert (reading.is_error, reading.stop_reason) == (True, "failed")
    assert reading.error is not None
    assert said in reading.error
    assert classes(reading.usage) == (0, 0, 0, 0, 0)


def test_a_stream_that_broke_off_may_have_used_tokens(tmp_path: Path) -> None:
    reading = read(tmp_path, case("codex-errors.jsonl", "cut"))
    assert (reading.is_error, reading.usage) == (True, None)
    assert "usage-is-lower-bound" in codes(reading)


def test_an_endpoint_that_is_not_there_shows_in_the_error_of_the_stopped_run(tmp_path: Path) -> None:
    reading = read(tmp_path, case("codex-errors.jsonl", "refused"))
    assert reading.is_error
    assert reading.error is not None
    assert "waiting for network" in reading.error
    assert reading.usage is None


def test_reconnecting_is_a_retry_and_a_broken_stream_marks_a_lower_bound(tmp_path: Path) -> None:
    disconnect = {"type": "error", "message": "Reconnecting... 1/7 (stream disconnected before completion)"}
    refusal = {
        "type": "error",
        "message": "Reconnecting... 2/7 (exceeded retry limit, last status: 429 Too Many)",
    }
    whole = lines("codex.jsonl")
    for retry, marked in ((disconnect, True), (refusal, False)):
        reading = read(tmp_path, [whole[0], *events(retry), *whole[1:]])
        assert (reading.retries, reading.is_error) == (1, False)
        assert ("usage-is-lower-bound" in codes(reading)) is marked


def test_an_item_of_type_error_is_only_a_warning(tmp_path: Path) -> None:
    output = lines("codex.jsonl")
    assert any(json.loads(line).get("item", {}).get("type") == "error" for line in output)
    reading = read(tmp_path, output)
    assert (reading.is_error, reading.error, reading.retries) == (False, None, 0)


def test_an_answer_without_usage_makes_the_sums_unknown(tmp_path: Path) -> None:
    silent = {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "reasoning_output_tokens": 0}
    output = [*lines("codex.jsonl")[:-1], *events({"type": "turn.completed", "usage": silent})]
    reading = read(tmp_path, output)
    assert (reading.usage, reading.is_error) == (None, False)
    assert "usage-not-reported" in codes(reading)


def test_the_model_of_a_rollout_file_is_the_one_its_turn_names(tmp_path: Path) -> None:
    path = put_rollouts(tmp_path / "home" / ".codex")[1]
    context = json.dumps({"type": "turn_context", "payload": {"model": "small"}}).encode() + b"\n"
    path.write_bytes(context + path.read_bytes())
    reading = read(tmp_path, lines("codex-subagent.jsonl"))
    assert {name: classes(usage) for name, usage in reading.usage_by_model.items()} == {
        "vendor/model:1": (3903, 6000, 0, 123, 15),
        "small": (2601, 2000, 0, 81, 10),
    }


@given(share=st.floats(0, 1), child_share=st.floats(0, 1), cut=st.integers(0, 200))
def test_any_beginning_of_a_run_reads_and_never_counts_more_than_the_whole(
    share: float, child_share: float, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("codex-prefix")
    for path in put_rollouts(folder):
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * child_share)])
    data = b"".join(lines("codex-subagent.jsonl"))
    (folder / "part").write_bytes(data[: max(int(len(data) * share) - cut, 0)])
    reading = read_run(folder / "part", folder, "m")
    for count, most in zip(classes(reading.usage) or (), (6504, 8000, 0, 204, 25), strict=False):
        assert (count or 0) <= most
    assert (reading.turns or 0) <= 3
