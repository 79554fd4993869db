"""Amazon Bedrock for each harness that can use it: exactly these variables, and no real credential inside."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from runner.harnesses.base import Launch
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import HARNESSES, harness
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import KEY, assignment

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
REAL = {
    "AWS_ACCESS_KEY_ID": "AKIAREALREALREALREAL",
    "AWS_SECRET_ACCESS_KEY": "real-secret-of-the-user",
    "AWS_SESSION_TOKEN": "real-session-token-of-the-user",
    "AWS_PROFILE": "the-users-profile",
    "AWS_BEARER_TOKEN_BEDROCK": "the-users-own-bedrock-key",
    "AWS_CONFIG_FILE": "/the/users/config",
}


def launch(name: str, protocol: WireProtocol, folder: Path) -> Launch:
    given = assignment(folder, protocol)
    given = replace(given, endpoint=replace(given.endpoint, model=MODEL))
    found = harness(name)
    pretend_installed(found, given.installed)
    return found.launch(given)


def aws(launched: Launch) -> dict[str, str]:
    """What of its environment has to do with AWS or with an address of a model."""
    return {
        name: value
        for name, value in launched.environment.items()
        if name.startswith(("AWS_", "ANTHROPIC_")) or "BEDROCK" in name or value == KEY
    }


def test_claude_code_is_told_bedrock_a_gateway_and_a_dummy_and_nothing_else(tmp_path: Path) -> None:
    launched = launch("claude-code", WireProtocol.BEDROCK_INVOKE, tmp_path)
    base = assignment(tmp_path, WireProtocol.BEDROCK_INVOKE).endpoint.base_url
    assert aws(launched) == {
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "ANTHROPIC_BEDROCK_BASE_URL": base,
        "AWS_REGION": "us-east-1",
        "AWS_BEARER_TOKEN_BEDROCK": KEY,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": MODEL,
        "ANTHROPIC_DEFAULT_OPUS_MODEL": MODEL,
        "ANTHROPIC_DEFAULT_SONNET_MODEL": MODEL,
    }
    assert launched.environment["CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK"] == "1"
    settings = json.loads(launched.configuration[0].read_text())["env"]
    assert settings["CLAUDE_CODE_USE_BEDROCK"] == "1"
    assert KEY not in json.dumps(settings)


@pytest.mark.parametrize(
    ("protocol", "dollars"), [(WireProtocol.MESSAGES, True), (WireProtocol.BEDROCK_INVOKE, False)]
)
def test_claude_codes_own_dollars_are_its_vendors_and_no_price_of_bedrock(
    protocol: WireProtocol, dollars: bool, tmp_path: Path
) -> None:
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 1,
        "total_cost_usd": 0.25,
        "modelUsage": {MODEL: {"inputTokens": 1, "outputTokens": 1, "costUSD": 0.25, "costBasis": "list"}},
    }
    (tmp_path / "stdout").write_text(json.dumps(result) + "\n", encoding="utf-8")
    reading = harness("claude-code").read(tmp_path / "stdout", assignment(tmp_path, protocol))
    assert bool(reading.costs) is dollars
    assert ("agent-price-of-another-path" in {each.code for each in reading.warnings}) is not dollars


def test_claude_code_elsewhere_is_told_that_it_is_not_bedrock(tmp_path: Path) -> None:
    launched = launch("claude-code", WireProtocol.MESSAGES, tmp_path)
    found = aws(launched)
    assert found["CLAUDE_CODE_USE_BEDROCK"] == "0"
    assert "ANTHROPIC_BEDROCK_BASE_URL" not in found
    assert "AWS_BEARER_TOKEN_BEDROCK" not in found


def test_pi_speaks_converse_to_the_gateway_over_http_1(tmp_path: Path) -> None:
    launched = launch("pi", WireProtocol.BEDROCK_CONVERSE, tmp_path)
    assert aws(launched) == {"AWS_BEDROCK_FORCE_HTTP1": "1", "HARNESSMARK_MODEL_KEY": KEY}
    provider = json.loads(launched.configuration[0].read_text())["providers"]["harnessmark"]
    assert provider["api"] == "bedrock-converse-stream"
    assert provider["apiKey"] == "$HARNESSMARK_MODEL_KEY"


def test_codex_takes_bedrocks_responses_as_any_other(tmp_path: Path) -> None:
    launched = launch("codex", WireProtocol.RESPONSES, tmp_path)
    assert aws(launched) == {"HARNESSMARK_MODEL_KEY": KEY}
    settings = tomllib.loads(launched.configuration[0].read_text())
    assert settings["model_providers"]["harnessmark"]["wire_api"] == "responses"


@pytest.mark.parametrize("name", sorted(set(HARNESSES) - {"kiro-cli"}))
def test_no_credential_of_the_users_account_gets_inside(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in REAL.items():
        monkeypatch.setenv(variable, value)
    protocols = harness(name).protocols
    for number, protocol in enumerate(protocols):
        folder = tmp_path / str(number)
        folder.mkdir()
        launched = launch(name, protocol, folder)
        inside = " ".join([*launched.environment.values(), *launched.command])
        inside += "".join(path.read_text() for path in launched.configuration)
        assert not [value for value in REAL.values() if value in inside]
