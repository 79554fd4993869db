"""Reading claude-code: recorded output gives the exact numbers, and each known way to miscount stays shut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Reading
from runner.harnesses.claude_code import ClaudeCode
from runner.harnesses.claude_stream import read_run
from runner.harnesses.endpoint import WireProtocol
from runner.records import CacheSemantics, CostBasis, Limits
from tests.harnesses.samples import assignment, case, classes, lines, put_transcripts

HARNESS = ClaudeCode()
STREAMS = ("claude.jsonl", "claude-subagent-foreground.jsonl", "claude-subagent-background.jsonl")


def read(folder: Path, output: list[bytes], *, limits: Limits | None = None) -> Reading:
    (folder / "stdout").write_bytes(b"".join(output))
    return HARNESS.read(folder / "stdout", assignment(folder, WireProtocol.MESSAGES, limits=limits))


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def result(**changes: object) -> bytes:
    whole = json.loads(lines("claude.jsonl")[-1])
    return json.dumps(whole | changes).encode() + b"\n"


def test_a_plain_run_is_counted_to_the_token(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("claude.jsonl"))
    assert classes(reading.usage) == (4006, 12000, 1200, 166, None)
    assert reading.usage is not None
    assert reading.usage.cache_semantics is CacheSemantics.DISJOINT
    assert set(reading.usage_by_model) == {"claude-mock-1"}
    assert (reading.turns, reading.retries) == (4, 0)
    assert (reading.stop_reason, reading.is_error, reading.error) == ("completed", False, None)


def test_a_price_that_was_made_up_is_no_cost(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("claude.jsonl"))
    assert reading.costs == ()
    assert "agent-price-made-up" in codes(reading)


def test_a_known_list_price_is_a_cost_by_price_table_counted_once(tmp_path: Path) -> None:
    used = {"m": {"inputTokens": 5, "outputTokens": 6, "costBasis": "list", "costUSD": 0.25}}
    priced = result(total_cost_usd=0.25, modelUsage=used)
    reading = read(tmp_path, [priced, priced])
    assert [(cost.basis, cost.amount_usd) for cost in reading.costs] == [(CostBasis.PRICE_TABLE, 0.25)]
    assert "list prices" in reading.costs[0].source
    assert "agent-price-made-up" not in codes(reading)


def test_one_model_without_a_price_makes_the_whole_cost_unknown(tmp_path: Path) -> None:
    used = {
        "known": {"inputTokens": 5, "outputTokens": 6, "costBasis": "list"},
        "other": {"inputTokens": 7, "outputTokens": 8, "costBasis": "unknown"},
    }
    reading = read(tmp_path, [result(total_cost_usd=0.25, modelUsage=used)])
    assert reading.costs == ()
    assert any("other" in warning.text and "known," not in warning.text for warning in reading.warnings)
    assert {name: classes(usage) for name, usage in reading.usage_by_model.items()} == {
        "known": (5, None, None, 6, None),
        "other": (7, None, None, 8, None),
    }


def test_a_subagent_in_the_foreground_is_in_the_sum_although_usage_leaves_it_out(tmp_path: Path) -> None:
    output = lines("claude-subagent-foreground.jsonl")
    assert json.loads(output[-1])["usage"]["input_tokens"] == 2001
    reading = read(tmp_path, output)
    assert classes(reading.usage) == (4002, 4000, 1200, 162, None)
    assert reading.turns == 2


def test_two_result_lines_of_a_background_subagent_are_one_running_total(tmp_path: Path) -> None:
    output = lines("claude-subagent-background.jsonl")
    assert sum(json.loads(line)["type"] == "result" for line in output) == 2
    reading = read(tmp_path, output)
    assert classes(reading.usage) == (5003, 6000, 1500, 203, None)
    assert reading.turns == 3


def test_blocks_of_one_answer_are_one_turn(tmp_path: Path) -> None:
    output = [line for line in lines("claude.jsonl") if json.loads(line)["type"] != "result"]
    ids = [json.loads(line)["message"]["id"] for line in output if b'"type": "assistant"' in line]
    assert len(ids) > len(set(ids)) == 4
    assert read(tmp_path, output).turns == 4


def test_a_stopped_run_yields_what_its_transcripts_hold(tmp_path: Path) -> None:
    put_transcripts(tmp_path / "home" / ".claude")
    output = lines("claude-subagent-background.jsonl")[:6]
    reading = read(tmp_path, output)
    assert classes(reading.usage) == (5003, 6000, 1500, 203, None)
    assert set(reading.usage_by_model) == {"claude-mock-1"}
    assert (reading.stop_reason, reading.is_error) == ("no-end", True)
    assert reading.costs == ()
    assert "usage-is-lower-bound" in codes(reading)
    assert reading.usage is not None
    assert "transcripts" in reading.usage.sources["input_tokens"]


def test_a_stopped_run_without_transcripts_has_unknown_usage(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("claude.jsonl")[:-1])
    assert (reading.usage, reading.turns) == (None, 4)
    assert "usage-not-reported" in codes(reading)


@pytest.mark.parametrize("name", ["e400", "e401", "e429", "e500", "refused"])
def test_an_api_failure_is_an_error_although_it_says_success(name: str, tmp_path: Path) -> None:
    output = case("claude-errors.jsonl", name)
    assert json.loads(output[0])["subtype"] == "success"
    reading = read(tmp_path, output)
    assert (reading.is_error, reading.stop_reason, reading.turns) == (True, "api_error", 0)
    assert reading.error
    assert classes(reading.usage) == (0, 0, 0, 0, 0)
    assert reading.costs == ()


def test_a_request_that_timed_out_may_have_used_tokens(tmp_path: Path) -> None:
    reading = read(tmp_path, case("claude-errors.jsonl", "hang2"))
    assert reading.is_error
    assert reading.usage is None
    assert "usage-is-lower-bound" in codes(reading)


def test_a_late_failure_keeps_what_was_used_before_it(tmp_path: Path) -> None:
    reading = read(tmp_path, case("claude-errors.jsonl", "late500"))
    assert classes(reading.usage) == (1000, 0, 300, 40, None)
    assert (reading.is_error, reading.turns) == (True, 1)


def test_the_turn_limit_counts_a_turn_less_than_the_agent_says(tmp_path: Path) -> None:
    output = case("claude-errors.jsonl", "loop")
    assert json.loads(output[0])["num_turns"] == 4
    reading = read(tmp_path, output)
    assert (reading.turns, reading.limit_hit, reading.is_error) == (3, "turns", True)
    assert reading.stop_reason == "max_turns"
    assert classes(reading.usage) == (3003, 6000, 900, 123, None)


def test_the_last_answer_before_the_budget_limit_is_counted(tmp_path: Path) -> None:
    output = case("claude-errors.jsonl", "budget")
    assert json.loads(output[0])["usage"]["input_tokens"] == 1000
    reading = read(tmp_path, output)
    assert classes(reading.usage) == (2001, 2000, 600, 81, None)
    assert (reading.limit_hit, reading.turns) == ("cost", 2)


def test_a_refused_tool_on_a_successful_run_is_a_warning(tmp_path: Path) -> None:
    reading = read(tmp_path, case("claude-errors.jsonl", "deny"))
    assert not reading.is_error
    assert "permission-denied" in codes(reading)


def test_a_retry_is_seen(tmp_path: Path) -> None:
    retry = case("claude-errors.jsonl", "retry-event")
    reading = read(tmp_path, [*retry, *retry, *lines("claude.jsonl")])
    assert reading.retries == 2
    assert "usage-is-lower-bound" not in codes(reading)


def test_a_retry_without_a_status_broke_off_and_may_have_used_tokens(tmp_path: Path) -> None:
    retry = {"type": "system", "subtype": "api_retry", "error_status": None, "error": "unknown"}
    reading = read(tmp_path, [json.dumps(retry).encode() + b"\n", *lines("claude.jsonl")])
    assert reading.retries == 1
    assert "usage-is-lower-bound" in codes(reading)


def test_an_answer_that_broke_off_is_seen_in_the_transcript_of_a_finished_run(tmp_path: Path) -> None:
    put_transcripts(tmp_path / "home" / ".claude")
    path = next((tmp_path / "home").rglob("session-1.jsonl"))
    message = {"id": "cut", "model": "m", "stop_reason": None, "usage": {"input_tokens": 3}}
    line = {"type": "assistant", "requestRef": "r", "message": message}
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
    assert "usage-is-lower-bound" in codes(read(tmp_path, lines("claude.jsonl")))


def test_zeros_beside_an_answer_are_not_zero_tokens(tmp_path: Path) -> None:
    silent = {"m": {"inputTokens": 0, "outputTokens": 0, "cacheReadInputTokens": 0}}
    output = [*lines("claude.jsonl")[:-1], result(modelUsage=silent)]
    reading = read(tmp_path, output)
    assert reading.usage is None
    assert reading.usage_by_model == {}
    assert "usage-not-reported" in codes(reading)


def test_the_refusal_to_work_as_root_prints_nothing_and_is_an_error(tmp_path: Path) -> None:
    reading = read(tmp_path, [b"--dangerously-skip-permissions cannot be used with root\n"])
    assert (reading.is_error, reading.usage, reading.turns) == (True, None, None)


def test_limits_that_it_cannot_keep_are_named(tmp_path: Path) -> None:
    limits = Limits(max_turns=3, max_tokens=10, max_cost_usd=1.0, max_output_tokens=5)
    reading = read(tmp_path, lines("claude.jsonl"), limits=limits)
    named = [warning.text for warning in reading.warnings if warning.code == "limit-not-enforced"]
    assert len(named) == 2
    assert any("tokens limit" in text for text in named)
    assert any("cost limit" in text for text in named)


@given(name=st.sampled_from(STREAMS), share=st.floats(0, 1), cut=st.integers(0, 400))
def test_any_beginning_of_a_run_reads_and_never_counts_more_than_the_whole(
    name: str, share: float, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "claude-prefix"
    folder.mkdir(exist_ok=True)
    data = b"".join(lines(name))
    (folder / "whole").write_bytes(data)
    (folder / "part").write_bytes(data[: max(int(len(data) * share) - cut, 0)])
    whole, part = (read_run(folder / each, folder / "none") for each in ("whole", "part"))
    assert (part.turns or 0) <= (whole.turns or 0)
    for mine, all_of_it in zip(classes(part.usage) or (), classes(whole.usage) or (), strict=False):
        assert (mine or 0) <= (all_of_it or 0)
