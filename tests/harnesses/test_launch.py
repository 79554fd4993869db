"""Launching the real agents: command line, environment and configuration, as each of them wants it."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from runner.harnesses.base import Assignment, Launch
from runner.harnesses.claude_code import ClaudeCode
from runner.harnesses.codex import Codex
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.own_provider import KEY_VARIABLE
from runner.harnesses.pi import Pi
from runner.harnesses.registry import harness
from runner.records import Limits
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import KEY, assignment

LIMITS = Limits(max_turns=12, max_output_tokens=9000, max_cost_usd=2.5, timeout_seconds=60)
VENDOR = Endpoint("https://api.anthropic.com", WireProtocol.MESSAGES, "claude-x", KEY, 200_000)


def claude(folder: Path, *, endpoint: Endpoint | None = None) -> tuple[Launch, Assignment]:
    given = assignment(folder, WireProtocol.MESSAGES, limits=LIMITS)
    given = replace(given, endpoint=endpoint or given.endpoint)
    pretend_installed(harness("claude-code"), given.installed)
    return ClaudeCode(search_path="/usr/bin").launch(given), given


def test_claude_code_is_told_model_turns_and_format_and_never_the_prompt(tmp_path: Path) -> None:
    launch, given = claude(tmp_path)
    command = " ".join(launch.command[1:])
    assert "--model vendor/model:1" in command
    assert "--output-format stream-json --verbose" in command
    assert "--max-turns 12" in command
    assert given.prompt not in launch.command
    assert launch.stdin == given.prompt.encode()


def test_claude_code_settings_beat_those_of_the_workspace_and_hold_no_key(tmp_path: Path) -> None:
    launch, given = claude(tmp_path)
    settings = json.loads(launch.configuration[0].read_text())["env"]
    assert str(launch.configuration[0]) in launch.command
    assert settings["ANTHROPIC_BASE_URL"] == given.endpoint.base_url
    assert settings["CLAUDE_CODE_MAX_CONTEXT_TOKENS"] == "100000"
    assert settings["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] == "100000"
    assert settings["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "9000"
    assert settings["CLAUDE_CODE_SUBAGENT_MODEL"] == "vendor/model:1"
    assert settings.items() <= launch.environment.items()
    assert KEY not in json.dumps(settings)
    assert launch.environment["ANTHROPIC_API_KEY"] == KEY


def test_claude_code_has_its_home_and_temporary_files_below_the_given_home(tmp_path: Path) -> None:
    launch, given = claude(tmp_path)
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        assert Path(launch.environment[name]).is_relative_to(given.home)
    assert Path(launch.environment["TMPDIR"]).is_dir()


def test_claude_code_gets_the_cost_limit_only_where_its_prices_are_real(tmp_path: Path) -> None:
    assert "--max-budget-usd" not in claude(tmp_path)[0].command
    vendor, given = claude(tmp_path, endpoint=VENDOR)
    assert "--max-budget-usd 2.5" in " ".join(vendor.command)
    codes = [warning.text for warning in ClaudeCode().read(tmp_path / "none", given).warnings]
    assert not any("cost" in text for text in codes)


def test_claude_code_may_work_as_root_without_a_change_outside_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IS_SANDBOX", raising=False)
    launch, _ = claude(tmp_path)
    assert launch.environment.get("IS_SANDBOX") == ("1" if os.geteuid() == 0 else None)
    assert "IS_SANDBOX" not in os.environ


def test_claude_code_cannot_look_the_answer_up(tmp_path: Path) -> None:
    command = list(claude(tmp_path)[0].command)
    assert command[command.index("--disallowedTools") + 1] == "WebFetch,WebSearch"


def test_codex_settings_name_the_key_and_the_window_with_its_reserve(tmp_path: Path) -> None:
    given = assignment(tmp_path, WireProtocol.RESPONSES, limits=LIMITS)
    pretend_installed(harness("codex"), given.installed)
    launch = Codex().launch(given)
    settings = tomllib.loads(launch.configuration[0].read_text())
    provider = settings["model_providers"][settings["model_provider"]]
    assert provider["base_url"] == given.endpoint.base_url
    assert (provider["env_key"], provider["wire_api"]) == (KEY_VARIABLE, "responses")
    assert settings["model_context_window"] == 100_000
    assert settings["model_auto_compact_token_limit"] == 91_000
    assert settings["analytics"] == {"enabled": False}
    assert launch.environment[KEY_VARIABLE] == KEY
    assert launch.command[-1] == "-"
    assert launch.stdin == given.prompt.encode()


def test_codex_makes_every_retry_where_it_can_be_seen(tmp_path: Path) -> None:
    given = assignment(tmp_path, WireProtocol.RESPONSES)
    pretend_installed(harness("codex"), given.installed)
    settings = tomllib.loads(Codex().launch(given).configuration[0].read_text())
    provider = settings["model_providers"][settings["model_provider"]]
    assert provider["request_max_retries"] == 0
    assert provider["stream_max_retries"] > 0


def test_codex_keeps_the_key_from_the_commands_of_the_model_and_out_of_snapshots(tmp_path: Path) -> None:
    given = assignment(tmp_path, WireProtocol.RESPONSES)
    pretend_installed(harness("codex"), given.installed)
    settings = tomllib.loads(Codex().launch(given).configuration[0].read_text())
    assert KEY_VARIABLE in settings["shell_environment_policy"]["exclude"]
    assert settings["features"]["shell_snapshot"] is False


@pytest.mark.parametrize("model", ['say "hi"', "a\\b", "c\nd", "ä/é:1", "'x'"])
def test_codex_settings_hold_any_model_name(model: str, tmp_path: Path) -> None:
    given = assignment(tmp_path, WireProtocol.RESPONSES)
    given = replace(given, endpoint=replace(given.endpoint, model=model))
    pretend_installed(harness("codex"), given.installed)
    settings = tomllib.loads(Codex().launch(given).configuration[0].read_text())
    assert settings["model"] == model


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [
        (WireProtocol.CHAT_COMPLETIONS, "openai-completions"),
        (WireProtocol.RESPONSES, "openai-responses"),
        (WireProtocol.MESSAGES, "anthropic-messages"),
    ],
)
def test_pi_speaks_the_protocol_of_its_endpoint(protocol: WireProtocol, kind: str, tmp_path: Path) -> None:
    given = assignment(tmp_path, protocol, limits=LIMITS)
    pretend_installed(harness("pi"), given.installed)
    launch = Pi().launch(given)
    models, settings = (json.loads(path.read_text()) for path in launch.configuration)
    provider = models["providers"]["harnessmark"]
    model = provider["models"][0]
    assert (provider["api"], provider["baseUrl"]) == (kind, given.endpoint.base_url)
    assert provider["apiKey"] == f"${KEY_VARIABLE}"
    assert (model["contextWindow"], model["maxTokens"]) == (100_000, 9000)
    assert set(model["cost"].values()) == {0}
    assert settings["compaction"] == {"enabled": True, "reserveTokens": 9000 + 8192}
    assert ("supportsDeveloperRole" in provider["compat"]) is (protocol is WireProtocol.CHAT_COMPLETIONS)


def test_pi_never_asks_for_answers_that_fill_its_window(tmp_path: Path) -> None:
    given = assignment(tmp_path, WireProtocol.CHAT_COMPLETIONS)
    given = replace(given, endpoint=replace(given.endpoint, context_window=16_000))
    pretend_installed(harness("pi"), given.installed)
    models = json.loads(Pi().launch(given).configuration[0].read_text())
    assert models["providers"]["harnessmark"]["models"][0]["maxTokens"] == 8000
