"""Launching gemini-cli: one model for every request, its window as a share, nothing that reaches out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Assignment, Launch
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.gemini_cli import GeminiCli
from runner.harnesses.gemini_settings import ASSUMED_WINDOW, threshold
from runner.harnesses.registry import harness
from runner.records import Limits
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import KEY, assignment

LIMITS = Limits(max_turns=12, max_output_tokens=9000, timeout_seconds=60)


def launched(folder: Path, limits: Limits = LIMITS) -> tuple[Launch, Assignment]:
    prepared = assignment(folder, WireProtocol.GENERATE_CONTENT, limits=limits)
    pretend_installed(harness("gemini-cli"), prepared.installed)
    return GeminiCli(search_path="/usr/bin").launch(prepared), prepared


def settings_of(launch: Launch) -> Any:
    return json.loads(launch.configuration[0].read_text())


def test_model_format_and_permissions_are_on_the_command_line_and_the_prompt_is_not(tmp_path: Path) -> None:
    launch, prepared = launched(tmp_path)
    command = " ".join(launch.command)
    assert "--model vendor/model:1" in command
    assert "--approval-mode yolo --output-format stream-json" in command
    assert prepared.prompt not in launch.command
    assert launch.stdin == prepared.prompt.encode()


def test_servers_and_extensions_of_the_repository_are_refused_where_nothing_overrules_it(
    tmp_path: Path,
) -> None:
    command = " ".join(launched(tmp_path)[0].command)
    assert "--extensions none --allowed-mcp-server-names none" in command


def test_every_request_goes_to_the_one_model_also_those_of_subagents(tmp_path: Path) -> None:
    settings = settings_of(launched(tmp_path)[0])
    overrides = settings["modelConfigs"]["customOverrides"]
    assert {each["modelConfig"]["model"] for each in overrides} == {"vendor/model:1"}
    scopes = {each["match"]["overrideScope"] for each in overrides}
    assert scopes == {"core", *settings["agents"]["overrides"]}
    assert all(
        each["modelConfig"]["generateContentConfig"] == {"maxOutputTokens": 9000} for each in overrides
    )


def test_limits_are_handed_over_only_where_they_were_asked_for(tmp_path: Path) -> None:
    assert settings_of(launched(tmp_path)[0])["model"]["maxSessionTurns"] == 12
    free = settings_of(launched(tmp_path, Limits())[0])
    assert "maxSessionTurns" not in free["model"]
    assert free["modelConfigs"]["customOverrides"][0]["modelConfig"]["generateContentConfig"] == {}


def test_the_artifacts_may_be_written_although_they_lie_outside_the_workspace(tmp_path: Path) -> None:
    launch, prepared = launched(tmp_path)
    assert settings_of(launch)["context"]["includeDirectories"] == [str(prepared.artifacts)]


def test_it_cannot_look_the_answer_up_or_report_about_the_run(tmp_path: Path) -> None:
    settings = settings_of(launched(tmp_path)[0])
    assert settings["tools"]["exclude"] == ["google_web_search", "web_fetch"]
    assert settings["privacy"]["usageStatisticsEnabled"] is False
    assert settings["telemetry"]["enabled"] is False
    assert settings["general"]["enableAutoUpdate"] is False


def test_no_settings_but_those_of_the_run_and_the_repository_are_read(tmp_path: Path) -> None:
    launch, prepared = launched(tmp_path)
    for name in ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "HOME"):
        assert Path(launch.environment[name]).is_relative_to(prepared.home)
    assert not Path(launch.environment["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]).exists()
    assert launch.configuration == (prepared.home / ".gemini" / "settings.json",)
    assert launch.environment["GEMINI_API_KEY"] == KEY
    assert launch.environment["GOOGLE_GEMINI_BASE_URL"] == prepared.endpoint.base_url


@pytest.mark.parametrize(
    ("model", "window", "output", "expected"),
    [
        ("m", 100_000, 9_000, 91_000 / ASSUMED_WINDOW),
        ("m", 40_000, None, 30_000 / ASSUMED_WINDOW),
        ("m", 1_048_576, None, (1_048_576 - 32_000) / ASSUMED_WINDOW),
        ("gemma-4-31b-it", 128_000, None, 0.375),
    ],
)
def test_the_window_is_a_share_of_what_the_agent_takes_it_for(
    model: str, window: int, output: int | None, expected: float
) -> None:
    endpoint = Endpoint("http://127.0.0.1:9", WireProtocol.GENERATE_CONTENT, model, KEY, window)
    assert threshold(endpoint, Limits(max_output_tokens=output)) == pytest.approx(expected, abs=1e-6)


@given(window=st.integers(1_000, 4_000_000), output=st.none() | st.integers(1, 200_000))
def test_it_summarises_before_an_answer_can_overflow_the_window(window: int, output: int | None) -> None:
    endpoint = Endpoint("http://127.0.0.1:9", WireProtocol.GENERATE_CONTENT, "m", KEY, window)
    begins = threshold(endpoint, Limits(max_output_tokens=output)) * ASSUMED_WINDOW
    assert 0 < begins <= window - min(output or 32_000, window // 4) + 1


def test_an_unknown_window_leaves_the_agent_its_own_threshold(tmp_path: Path) -> None:
    prepared = assignment(tmp_path, WireProtocol.GENERATE_CONTENT)
    prepared = replace(prepared, endpoint=replace(prepared.endpoint, context_window=None))
    pretend_installed(harness("gemini-cli"), prepared.installed)
    assert "compressionThreshold" not in settings_of(GeminiCli().launch(prepared))["model"]
