"""omp: what it is started with, and its stream and its subagents' transcripts read into one sum."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from runner.harnesses.base import Launch, Reading
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.isolation import agent_folder
from runner.harnesses.omp import Omp
from runner.harnesses.pi_settings import reserve_tokens
from runner.harnesses.registry import harness
from runner.records import Limits
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import assignment, case, classes, lines


def launched(folder: Path, protocol: WireProtocol, limits: Limits | None = None) -> tuple[Launch, Any, Any]:
    """The start of a run, its models file and its settings file."""
    pretend_installed(harness("omp"), folder / "installed")
    launch = Omp().launch(assignment(folder, protocol, limits=limits))
    models, settings = (yaml.safe_load(path.read_text()) for path in launch.configuration)
    return launch, models, settings


def read(folder: Path, output: list[bytes], transcripts: dict[str, list[bytes]] | None = None) -> Reading:
    given = assignment(folder, WireProtocol.CHAT_COMPLETIONS)
    (folder / "stdout").write_bytes(b"".join(output))
    for name, content in (transcripts or {}).items():
        path = agent_folder(given) / "sessions" / "--w--" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(content))
    return Omp().read(folder / "stdout", given)


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def test_a_run_is_the_sum_of_its_answers(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("omp.jsonl"))
    assert classes(reading.usage) == (5266, 16036, 0, 475, 35)
    assert (reading.turns, reading.stop_reason, reading.is_error) == (4, "stop", False)
    assert set(reading.usage_by_model) == {"ledger-1"}
    assert reading.warnings == ()


def test_repeated_requests_do_not_show_so_their_number_is_unknown(tmp_path: Path) -> None:
    assert read(tmp_path, lines("omp.jsonl")).retries is None


def test_what_a_subagent_used_is_in_the_sum_and_its_answers_are_no_turns(tmp_path: Path) -> None:
    own = lines("omp-subagent.jsonl")
    without = read(tmp_path, own)
    assert classes(without.usage) == (3961, 12047, 0, 335, 22)
    child = {"2026_id/JoyousSturgeon.jsonl": lines("omp-subagent-transcript.jsonl")}
    reading = read(tmp_path, own, child)
    assert classes(reading.usage) == (10601, 32169, 0, 880, 56)
    assert reading.turns == without.turns == 3
    assert reading.usage is not None
    assert "transcripts" in reading.usage.sources["input_tokens"]


def test_the_subagent_of_a_subagent_counts_and_the_main_agents_own_transcript_does_not(
    tmp_path: Path,
) -> None:
    child = lines("omp-subagent-transcript.jsonl")
    files = {"2026_id.jsonl": child, "2026_id/One.jsonl": child, "2026_id/One/Two.jsonl": child}
    reading = read(tmp_path, lines("omp-subagent.jsonl"), files)
    assert reading.usage is not None
    assert reading.usage.output_tokens == 335 + 2 * (880 - 335)


def test_a_subagent_without_counts_makes_the_sums_unknown(tmp_path: Path) -> None:
    message = {"role": "assistant", "model": "m", "stopReason": "stop", "usage": {"input": 0, "output": 0}}
    child = [json.dumps({"type": "message", "message": message}).encode() + b"\n"]
    reading = read(tmp_path, lines("omp-subagent.jsonl"), {"id/One.jsonl": child})
    assert (reading.usage, reading.usage_by_model) == (None, {})
    assert "usage-not-reported" in codes(reading)


def test_a_broken_transcript_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    child = [b"\x00\xff\n", b'{"type": "message"}\n', *lines("omp-subagent-transcript.jsonl")[:5], b'{"type']
    reading = read(tmp_path, lines("omp-subagent.jsonl"), {"id/One.jsonl": child})
    assert reading.usage is not None
    assert 335 <= (reading.usage.output_tokens or 0) < 880


def test_a_refused_request_used_nothing_and_failed(tmp_path: Path) -> None:
    reading = read(tmp_path, case("omp-errors.jsonl", "failure"))
    assert (reading.is_error, reading.stop_reason, reading.turns) == (True, "error", 0)
    assert "scripted error 400" in (reading.error or "")
    assert classes(reading.usage) == (0, 0, 0, 0, 0)


def test_a_stopped_run_yields_the_answers_it_had_and_says_that_there_may_be_more(tmp_path: Path) -> None:
    reading = read(tmp_path, case("omp-errors.jsonl", "timeout"))
    assert classes(reading.usage) == (1304, 4002, 0, 105, 6)
    assert (reading.is_error, reading.stop_reason) == (True, "no-end")
    assert codes(reading) == {"usage-is-lower-bound"}


def test_reasoning_that_is_not_told_apart_is_unknown_and_said_so(tmp_path: Path) -> None:
    usage = {"input": 5, "output": 9, "cacheRead": 0, "cacheWrite": 1}
    message = {"role": "assistant", "model": "m", "stopReason": "stop", "usage": usage}
    output = [json.dumps({"type": "message_end", "message": message}).encode(), b'\n{"type": "agent_end"}\n']
    reading = read(tmp_path, output)
    assert classes(reading.usage) == (5, 0, 1, 9, None)
    assert codes(reading) == {"reasoning-not-reported"}


@pytest.mark.parametrize(
    ("protocol", "api"),
    [
        (WireProtocol.CHAT_COMPLETIONS, "openai-completions"),
        (WireProtocol.RESPONSES, "openai-responses"),
        (WireProtocol.MESSAGES, "anthropic-messages"),
    ],
)
def test_the_endpoint_is_its_only_provider(tmp_path: Path, protocol: WireProtocol, api: str) -> None:
    launch, models, _ = launched(tmp_path, protocol)
    (provider,) = models["providers"].values()
    (model,) = provider["models"]
    assert (provider["api"], provider["baseUrl"]) == (api, "http://127.0.0.1:9/v1")
    assert launch.environment[provider["apiKey"]] == "sample-key-0123456789"
    assert (model["id"], model["contextWindow"], model["cost"]["input"]) == ("vendor/model:1", 100_000, 0)
    assert ("compat" in model) is (protocol is WireProtocol.CHAT_COMPLETIONS)
    assert "harnessmark/vendor/model:1" in launch.command


@pytest.mark.parametrize(("longest", "threshold"), [(None, 59_808), (8_000, 83_808), (200_000, 41_808)])
def test_it_summarises_before_the_longest_answer_could_overflow(
    tmp_path: Path, longest: int | None, threshold: int
) -> None:
    _, _, settings = launched(tmp_path, WireProtocol.RESPONSES, Limits(max_output_tokens=longest))
    assert settings["compaction"] == {"enabled": True, "thresholdTokens": threshold}


def test_a_small_window_leaves_room_to_work(tmp_path: Path) -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", WireProtocol.RESPONSES, "m", "k", 32_000)
    assert reserve_tokens(endpoint, Limits(max_output_tokens=16_000)) == 24_000
    large = Endpoint("http://127.0.0.1:9/v1", WireProtocol.RESPONSES, "m", "k", 200_000)
    assert reserve_tokens(large, Limits(max_output_tokens=16_000)) == 24_192


def test_it_is_kept_from_the_network_and_its_subagents_are_waited_for(tmp_path: Path) -> None:
    launch, _, settings = launched(tmp_path, WireProtocol.MESSAGES)
    for group in ("web_search", "fetch", "browser", "exa", "async", "magicKeywords"):
        assert settings[group] == {"enabled": False}
    assert settings["dev"] == {"autoqa": False}
    assert settings["startup"]["checkUpdate"] is False
    assert launch.stdin == b"Do it."


def test_only_the_instructions_of_the_workspace_itself_are_read(tmp_path: Path) -> None:
    launch, _, settings = launched(tmp_path, WireProtocol.MESSAGES)
    assert {"agents-md", "claude-md", "native", "claude"} <= set(settings["disabledProviders"])
    assert "--append-system-prompt" not in launch.command
    (tmp_path / "AGENTS.md").write_text("above")
    (tmp_path / "workspace" / "AGENTS.md").write_text("inside")
    launch, _, _ = launched(tmp_path, WireProtocol.MESSAGES)
    own = launch.command[launch.command.index("--append-system-prompt") + 1]
    assert Path(own) == tmp_path / "workspace" / "AGENTS.md"


def test_limits_that_it_cannot_keep_are_named(tmp_path: Path) -> None:
    given = assignment(tmp_path, WireProtocol.MESSAGES, limits=Limits(max_turns=3, timeout_seconds=60))
    reading = Omp().read(tmp_path / "nothing", given)
    assert [warning.code for warning in reading.warnings] == ["limit-not-enforced"]
