"""Launching qwen-code: the protocol of its endpoint, settings above those of the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.harnesses.base import Assignment, Launch
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.qwen_code import QwenCode
from runner.harnesses.registry import harness
from runner.records import Limits
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import KEY, assignment

LIMITS = Limits(max_turns=12, max_output_tokens=9000, timeout_seconds=60)
CHAT = WireProtocol.CHAT_COMPLETIONS


def launched(
    folder: Path, protocol: WireProtocol = CHAT, limits: Limits = LIMITS
) -> tuple[Launch, Assignment]:
    prepared = assignment(folder, protocol, limits=limits)
    pretend_installed(harness("qwen-code"), prepared.installed)
    return QwenCode(search_path="/usr/bin").launch(prepared), prepared


def settings_of(launch: Launch) -> Any:
    return json.loads(launch.configuration[0].read_text())


@pytest.mark.parametrize(
    ("protocol", "kind", "vendor"),
    [
        (CHAT, "openai", "OPENAI"),
        (WireProtocol.RESPONSES, "openai-responses", "OPENAI"),
        (WireProtocol.MESSAGES, "anthropic", "ANTHROPIC"),
    ],
)
def test_it_speaks_the_protocol_of_its_endpoint(
    protocol: WireProtocol, kind: str, vendor: str, tmp_path: Path
) -> None:
    launch, prepared = launched(tmp_path, protocol)
    assert launch.command[launch.command.index("--auth-type") + 1] == kind
    assert settings_of(launch)["security"]["auth"]["selectedType"] == kind
    assert launch.environment[f"{vendor}_BASE_URL"] == prepared.endpoint.base_url
    assert launch.environment[f"{vendor}_API_KEY"] == KEY
    assert [name for name in launch.environment if name.endswith("_API_KEY")] == [f"{vendor}_API_KEY"]


def test_the_prompt_is_on_its_stdin_and_the_artifacts_may_be_written(tmp_path: Path) -> None:
    launch, prepared = launched(tmp_path)
    assert launch.stdin == prepared.prompt.encode()
    assert prepared.prompt not in launch.command
    position = launch.command.index("--include-directories")
    assert launch.command[position + 1] == str(prepared.artifacts)


def test_its_settings_beat_those_of_the_repository(tmp_path: Path) -> None:
    launch, prepared = launched(tmp_path)
    assert launch.environment["QWEN_CODE_SYSTEM_SETTINGS_PATH"] == str(launch.configuration[0])
    assert Path(launch.environment["QWEN_HOME"]).is_relative_to(prepared.home)
    assert not Path(launch.environment["QWEN_CODE_SYSTEM_DEFAULTS_PATH"]).exists()


def test_window_and_limits_are_handed_over(tmp_path: Path) -> None:
    launch, _ = launched(tmp_path)
    model = settings_of(launch)["model"]
    assert model["generationConfig"]["contextWindowSize"] == 100_000
    assert model["maxSessionTurns"] == 12
    assert launch.environment["QWEN_CODE_MAX_OUTPUT_TOKENS"] == "9000"
    free, _ = launched(tmp_path, limits=Limits())
    assert "maxSessionTurns" not in settings_of(free)["model"]
    assert "QWEN_CODE_MAX_OUTPUT_TOKENS" not in free.environment


def test_every_retry_is_made_where_it_can_be_seen(tmp_path: Path) -> None:
    assert settings_of(launched(tmp_path)[0])["model"]["generationConfig"]["maxRetries"] == 0


def test_it_makes_no_requests_beside_the_task_and_cannot_look_the_answer_up(tmp_path: Path) -> None:
    launch, _ = launched(tmp_path)
    settings = settings_of(launch)
    assert launch.command[launch.command.index("--exclude-tools") + 1] == "web_fetch,web_search"
    assert set(settings["memory"].values()) == {False}
    assert settings["experimental"]["emitToolUseSummaries"] is False
    assert settings["ui"]["enableFollowupSuggestions"] is False
    assert settings["privacy"]["usageStatisticsEnabled"] is False
    assert settings["telemetry"]["enabled"] is False
    assert settings["general"]["enableAutoUpdate"] is False


def test_only_the_workspace_has_the_instructions_it_looks_for(tmp_path: Path) -> None:
    launch, prepared = launched(tmp_path)
    names = settings_of(launch)["context"]["fileName"]
    assert names == ["workspace/QWEN.md", "workspace/AGENTS.md"]
    assert {prepared.workspace.parent / name for name in names} == {
        prepared.workspace / "QWEN.md",
        prepared.workspace / "AGENTS.md",
    }


@pytest.mark.parametrize(("limits", "budget"), [(LIMITS, 4500), (Limits(), 16_000)])
def test_over_messages_it_asks_for_less_thinking_than_an_answer_may_have(
    limits: Limits, budget: int, tmp_path: Path
) -> None:
    generation = settings_of(launched(tmp_path, WireProtocol.MESSAGES, limits)[0])["model"][
        "generationConfig"
    ]
    assert generation["reasoning"] == {"budget_tokens": budget}
    assert "reasoning" not in settings_of(launched(tmp_path)[0])["model"]["generationConfig"]
