"""Launching opencode and copilot: command line, environment and settings, as each of them wants it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.harnesses.base import Assignment, Launch
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import harness
from runner.records import Limits
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import KEY, assignment

LIMITS = Limits(max_output_tokens=9000, timeout_seconds=60)
CHAT = WireProtocol.CHAT_COMPLETIONS


def launched(name: str, folder: Path, protocol: WireProtocol = CHAT, **changes: Any) -> Launch:
    given = assignment(folder, protocol, limits=LIMITS)
    given = replace(given, endpoint=replace(given.endpoint, **changes))
    pretend_installed(harness(name), given.installed)
    return harness(name).launch(given)


def settings(launch: Launch) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(Path(launch.environment["OPENCODE_CONFIG"]).read_text())
    return found


@pytest.mark.parametrize(
    ("protocol", "client", "url"),
    [
        (WireProtocol.CHAT_COMPLETIONS, "@ai-sdk/openai-compatible", "http://h/v1"),
        (WireProtocol.RESPONSES, "@ai-sdk/openai", "http://h/v1"),
        (WireProtocol.MESSAGES, "@ai-sdk/anthropic", "http://h/v1"),
    ],
)
def test_opencode_speaks_the_protocol_of_its_endpoint(
    protocol: WireProtocol, client: str, url: str, tmp_path: Path
) -> None:
    base = "http://h" if protocol is WireProtocol.MESSAGES else "http://h/v1"
    launch = launched("opencode", tmp_path, protocol, base_url=base)
    provider = settings(launch)["provider"]["harnessmark"]
    assert (provider["npm"], provider["options"]["baseURL"]) == (client, url)
    assert provider["options"]["apiKey"] == "{env:HARNESSMARK_MODEL_KEY}"
    assert launch.environment["HARNESSMARK_MODEL_KEY"] == KEY
    model = provider["models"]["vendor/model:1"]
    assert model["limit"] == {"context": 100_000, "input": 91_000, "output": 9000}
    assert set(model["cost"].values()) == {0}
    assert launch.command[-1] == "harnessmark/vendor/model:1"


def test_opencode_may_do_everything_but_look_the_answer_up_or_ask(tmp_path: Path) -> None:
    permission = settings(launched("opencode", tmp_path))["permission"]
    assert permission.pop("*") == "allow"
    assert permission == dict.fromkeys(("webfetch", "websearch", "codesearch", "question"), "deny")


def test_opencode_finds_the_search_program_that_it_would_fetch(tmp_path: Path) -> None:
    launch = launched("opencode", tmp_path)
    (folder,) = [each for each in launch.environment["PATH"].split(":") if "ripgrep" in each]
    assert any(Path(folder).is_relative_to(each) for each in launch.readable)


def test_opencode_asks_for_no_title_and_fetches_nothing(tmp_path: Path) -> None:
    launch = launched("opencode", tmp_path)
    assert "--title" in launch.command
    assert {value for name, value in launch.environment.items() if "_DISABLE_" in name} == {"1"}
    own = tmp_path / "home" / ".config" / "opencode"
    lock = json.loads((own / "package-lock.json").read_text())
    assert lock["packages"][""]["dependencies"] == {"@opencode-ai/plugin": "1.18.33"}
    assert (own / "node_modules").is_dir()
    assert not Path(launch.environment["OPENCODE_TEST_MANAGED_CONFIG_DIR"]).exists()


@pytest.mark.parametrize(
    ("files", "read"),
    [
        ((), None),
        (("CLAUDE.md",), "CLAUDE.md"),
        (("CONTEXT.md", "CLAUDE.md", "AGENTS.md"), "AGENTS.md"),
    ],
)
def test_opencode_is_given_the_instruction_file_that_it_would_take_itself(
    files: tuple[str, ...], read: str | None, tmp_path: Path
) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "AGENTS.md").touch()
    for name in files:
        (tmp_path / "workspace" / name).touch()
    wanted = [str(tmp_path / "workspace" / read)] if read else []
    assert settings(launched("opencode", tmp_path))["instructions"] == wanted


def test_a_small_window_is_never_filled_by_one_answer(tmp_path: Path) -> None:
    found = settings(launched("opencode", tmp_path, context_window=16_000))
    model = found["provider"]["harnessmark"]["models"]["vendor/model:1"]
    assert model["limit"] == {"context": 16_000, "input": 8000, "output": 8000}
    assert found["compaction"]["reserved"] == 2000
    environment = launched("copilot", tmp_path, context_window=16_000).environment
    assert environment["COPILOT_PROVIDER_MAX_OUTPUT_TOKENS"] == "8000"
    assert environment["COPILOT_PROVIDER_MAX_PROMPT_TOKENS"] == "8000"


@pytest.mark.parametrize(
    ("protocol", "kind", "wire"),
    [
        (WireProtocol.CHAT_COMPLETIONS, "openai", "completions"),
        (WireProtocol.RESPONSES, "openai", "responses"),
        (WireProtocol.MESSAGES, "anthropic", None),
    ],
)
def test_copilot_speaks_the_protocol_of_its_endpoint(
    protocol: WireProtocol, kind: str, wire: str | None, tmp_path: Path
) -> None:
    environment = launched("copilot", tmp_path, protocol).environment
    assert environment["COPILOT_PROVIDER_TYPE"] == kind
    assert environment.get("COPILOT_PROVIDER_WIRE_API") == wire
    assert environment["COPILOT_PROVIDER_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert environment["COPILOT_MODEL"] == "vendor/model:1"
    assert environment["COPILOT_PROVIDER_MAX_PROMPT_TOKENS"] == "91000"
    assert environment["COPILOT_PROVIDER_MAX_OUTPUT_TOKENS"] == "9000"


def test_copilot_runs_offline_with_its_key_kept_from_the_models_commands(tmp_path: Path) -> None:
    launch = launched("copilot", tmp_path)
    assert launch.environment["COPILOT_OFFLINE"] == "true"
    assert launch.environment["COPILOT_PROVIDER_API_KEY"] == KEY
    assert "--secret-env-vars=COPILOT_PROVIDER_API_KEY" in launch.command
    assert "--excluded-tools=web_fetch" in launch.command
    assert Path(launch.environment["COPILOT_HOME"]).is_relative_to(tmp_path / "home")


def test_copilot_is_unpacked_where_runs_only_read(tmp_path: Path) -> None:
    launch = launched("copilot", tmp_path)
    unpacked = Path(launch.environment["COPILOT_PKG_CACHE_HOME"])
    assert any(unpacked.is_relative_to(folder) for folder in launch.readable)
    assert not unpacked.is_relative_to(tmp_path / "home")


def test_neither_prompt_becomes_an_argument(tmp_path: Path) -> None:
    given: Assignment = replace(assignment(tmp_path, CHAT), prompt="long " * 90_000)
    for name in ("copilot", "opencode"):
        pretend_installed(harness(name), given.installed)
        launch = harness(name).launch(given)
        assert launch.stdin == given.prompt.encode()
        assert given.prompt not in launch.command
