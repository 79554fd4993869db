"""A real agent on Bedrock from end to end: a dummy key, one model, and counts that are the server's."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from runner.engine.places import Places
from runner.errors import ConfigurationError, UsageError
from runner.records import Hosting, Outcome
from runner.replay import ReplayServer
from runner.store import ResultsStore
from tests.engine.runs import run
from tests.harnesses.real.stage import INSTALLED, installed_harness
from tests.providers.control_plane import (
    PLAIN,
    PROFILED,
    REGION,
    ControlPlane,
    control_plane,
    refusing_tokens,
)

MODEL, TASK = "replay-careful", "totals-by-tag"
KNOWN = f"us.{PROFILED}"
"""A model that the agent has heard of, unlike the scripted ones."""
KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLEEXAMPLE12", "AWS_SECRET_ACCESS_KEY": "secret-of-a-test-0123456789"}
FLAGS: dict[str, object] = {
    "provider": "bedrock",
    "model": MODEL,
    "tasks": TASK,
    "aws_region": REGION,
    "context_window": 200_000,
    "price_input": 3.0,
    "price_output": 15.0,
}


@pytest.fixture
def plane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ControlPlane]:
    """AWS on loopback: a token service and what tells about models."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    with control_plane() as running:
        running.models[MODEL] = ["ON_DEMAND"]
        for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://{host}:{port}")
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", running.url)
        for name, value in KEYS.items():
            monkeypatch.setenv(name, value)
        try:
            yield running
        finally:
            moto.stop()


@pytest.mark.parametrize(
    ("name", "protocol"), [("claude-code", "bedrock-invoke"), ("pi", "bedrock-converse")]
)
def test_a_real_agent_solves_a_task_and_its_tokens_are_the_servers(
    name: str, protocol: str, places: Places, plane: ControlPlane
) -> None:
    installed_harness(name)
    places.harnesses.symlink_to(INSTALLED.resolve())
    with ReplayServer(places.cassettes) as server:
        address = server.url_for(run="r", scenario=f"hello-world/{TASK}")
        code, printed = run(
            places, {**FLAGS, "harness": name, "endpoint": address, "protocol": protocol}, environment=KEYS
        )
        assert code == 0, printed
        counted = server.count("r")
        assert server.count("r", protocol=protocol).requests == counted.requests
    [stored] = ResultsStore(places.results).trials()
    record = stored.record
    assert record.outcome is Outcome.COMPLETED, record.outcome_reason
    assert {check.status.value for check in stored.checks} == {"passed"}
    assert record.serving.hosting is Hosting.CLOUD
    assert not record.demonstration
    assert record.usage is not None
    told = counted.told
    assert record.usage.input_tokens == told.uncached
    assert record.usage.cache_read_tokens == told.cache_read
    assert record.usage.cache_write_tokens == told.cache_write
    assert record.usage.output_tokens == told.output
    assert record.invocations[0].requests_seen == counted.requests
    written = record.model_dump_json()
    assert not [secret for secret in KEYS.values() if secret in written + printed]
    assert "bedrock-api-key-" not in written + printed


def record_as(places: Places, model: str) -> None:
    """Play the scripted turns under the id of a model that an agent has heard of."""
    recorded = places.cassettes / "hello-world" / f"{MODEL}.jsonl"
    text = recorded.read_text(encoding="utf-8").replace(f'"model": "{MODEL}"', f'"model": "{model}"', 1)
    recorded.with_name(f"{model}.jsonl").write_text(text, encoding="utf-8")


def test_codex_reaches_an_openai_model_over_responses(places: Places, plane: ControlPlane) -> None:
    installed_harness("codex")
    places.harnesses.symlink_to(INSTALLED.resolve())
    record_as(places, PLAIN)
    with ReplayServer(places.cassettes) as server:
        address = server.url_for(run="r", scenario=f"hello-world/{TASK}")
        code, printed = run(
            places, {**FLAGS, "harness": "codex", "endpoint": address, "model": PLAIN}, environment=KEYS
        )
        assert code == 0, printed
        counted = server.count("r", protocol="responses")
        assert counted.requests == server.count("r").requests
    [stored] = ResultsStore(places.results).trials()
    record = stored.record
    assert record.outcome is Outcome.COMPLETED, record.outcome_reason
    assert record.usage is not None
    assert record.usage.output_tokens == counted.told.output
    assert record.usage.input_tokens == counted.told.uncached
    assert record.invocations[0].requests_seen == counted.requests


def test_what_the_agent_asks_other_models_at_its_start_reaches_nobody(
    places: Places, plane: ControlPlane
) -> None:
    installed_harness("claude-code")
    places.harnesses.symlink_to(INSTALLED.resolve())
    record_as(places, KNOWN)
    with ReplayServer(places.cassettes) as server:
        address = server.url_for(run="r", scenario=f"hello-world/{TASK}")
        code, printed = run(
            places, {**FLAGS, "harness": "claude-code", "endpoint": address, "model": KNOWN}, environment=KEYS
        )
        assert code == 0, printed
        counted = server.count("r")
        assert server.threads("r") == ("main",)
        assert server.count("r", protocol="bedrock-invoke").requests == counted.requests
    [stored] = ResultsStore(places.results).trials()
    record = stored.record
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (
        counted.told.uncached,
        counted.told.output,
    )
    assert list(record.invocations[0].usage_by_model) == [KNOWN]
    assert record.invocations[0].requests_seen == counted.requests
    assert "agent-price-of-another-path" in {warning.code for warning in record.warnings}
    assert {cost.source for cost in record.costs} == {"tokens times the prices given for this run"}


def test_expired_credentials_stop_a_run_before_anything_starts(
    places: Places, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refusing_tokens("ExpiredToken") as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", address)
        with pytest.raises(ConfigurationError, match="expired") as caught:
            run(places, {**FLAGS, "harness": "loop"}, environment=KEYS)
    assert "aws sso login" in caught.value.remedy
    assert list(ResultsStore(places.results).trials()) == []


def test_a_flag_of_bedrocks_beside_another_provider_is_a_mistake(places: Places) -> None:
    with pytest.raises(UsageError, match="--aws-profile is for provider bedrock"):
        run(places, {"aws_profile": "team"})
