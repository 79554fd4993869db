"""The provider ``litellm``: a proxy starts with its keys in the environment only and never stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from runner.errors import ConfigurationError, EndpointError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.background import is_up, write_server_file
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.checks import CheckState
from runner.providers.exclusive import exclusive_key, fault_of
from runner.providers.litellm import LiteLLM, ProxySession, route_of
from runner.providers.litellm_program import VERSION
from runner.providers.litellm_proxy import proxies, stop_proxies
from runner.providers.model_server import stop_model_servers
from runner.replay import ReplayServer
from tests.providers.proxy_standin import install_standin
from tests.providers.servers import Seen, api
from tests.replay.tapes import tape

BACKEND = "http://127.0.0.1:9/v1"
KEY = "backend-key-0123456789"
ENVIRONMENT = {"PATH": os.environ["PATH"], "BACKEND_KEY": KEY, "UNRELATED_SECRET": "another-secret-0123"}
CHAT, MESSAGES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES


def settings_of(folder: Path, *flags: str, **more: object) -> ProviderSettings:
    given: dict[str, object] = {
        "base_url": BACKEND,
        "api_key_env": "BACKEND_KEY",
        "context_window": 1234,
        "installed": str(install_standin(folder / "installed", *flags)),
        "state": str(folder / "state"),
    }
    return ProviderSettings(**{**given, **more})  # type: ignore[arg-type]


def ask(session: ModelSession, path: str) -> object:
    endpoint = session.endpoint(MESSAGES, run="r", scenario="d/t")
    answer = httpx.get(endpoint.base_url + path, headers={"Authorization": f"Bearer {endpoint.api_key}"})
    return answer.raise_for_status().json()


def test_what_was_started_is_gone_afterwards_and_only_its_log_stays(tmp_path: Path) -> None:
    said: list[str] = []
    with LiteLLM().session("m", settings_of(tmp_path, say=said.append), ENVIRONMENT) as session:
        ((path, server),) = proxies(tmp_path / "state")
        assert is_up(server)
        assert fault_of(session) is None
    assert not is_up(server)
    assert not path.exists()
    assert [each.suffix for each in (tmp_path / "state").iterdir()] == [".log"]
    assert "starting the LiteLLM proxy" in said[0]


def test_keys_are_in_the_environment_only_and_nothing_else_of_the_users_is(tmp_path: Path) -> None:
    with LiteLLM().session("m", settings_of(tmp_path), ENVIRONMENT) as session:
        seen, arguments = ask(session, "/environment"), ask(session, "/arguments")
        assert isinstance(seen, dict)
        master = session.endpoint(CHAT, run="r", scenario="d/t").api_key
        assert seen["BACKEND_KEY"] == KEY
        assert "UNRELATED_SECRET" not in seen
        assert seen["HOME"] != os.environ.get("HOME")
        assert seen["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
        assert KEY not in str(arguments)
        assert master not in str(arguments)
        assert "--telemetry" in str(arguments)
        assert "127.0.0.1" in str(arguments)
        written = b"".join(each.read_bytes() for each in (tmp_path / "state").rglob("*") if each.is_file())
        assert b"os.environ/BACKEND_KEY" in written
        assert KEY.encode() not in written
        assert master.encode() not in written
        assert master not in repr(session)


def test_every_start_has_a_key_of_its_own(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    keys = set()
    for _ in range(2):
        with LiteLLM().session("m", settings, ENVIRONMENT) as session:
            keys.add(session.endpoint(CHAT, run="r", scenario="d/t").api_key)
    assert len(keys) == 2


def test_a_proxy_that_ends_at_its_start_shows_the_end_of_its_log(tmp_path: Path) -> None:
    with (
        pytest.raises(EndpointError, match="the configuration has a fault") as caught,
        LiteLLM().session("m", settings_of(tmp_path, "crash"), ENVIRONMENT),
    ):
        pytest.fail("it started")
    assert caught.value.where.endswith(".log")
    assert proxies(tmp_path / "state") == []


def test_a_port_that_somebody_else_was_faster_at_is_no_failure(tmp_path: Path) -> None:
    with LiteLLM().session("m", settings_of(tmp_path, "busy-once"), ENVIRONMENT) as session:
        assert session.endpoint(CHAT, run="r", scenario="d/t").model == "m"
    assert (tmp_path / "state" / "was-busy").exists()


def test_a_proxy_that_does_not_know_its_model_is_no_proxy_of_ours(tmp_path: Path) -> None:
    with (
        pytest.raises(EndpointError, match="does not know m"),
        LiteLLM().session("m", settings_of(tmp_path, "nothing"), ENVIRONMENT),
    ):
        pytest.fail("it was taken")
    assert proxies(tmp_path / "state") == []


def test_a_proxy_that_does_not_listen_to_a_polite_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.providers.litellm_proxy.STOP_SECONDS", 0.5)
    with LiteLLM().session("m", settings_of(tmp_path, "stubborn"), ENVIRONMENT):
        ((_, server),) = proxies(tmp_path / "state")
    wait_for(lambda: not is_up(server))


def test_a_proxy_that_dies_meanwhile_is_said_before_the_next_trial(tmp_path: Path) -> None:
    with LiteLLM().session("m", settings_of(tmp_path), ENVIRONMENT) as session:
        ((_, server),) = proxies(tmp_path / "state")
        os.killpg(server.pid, signal.SIGKILL)
        wait_for(lambda: not is_up(server))
        with pytest.raises(EndpointError, match="has ended"):
            session.endpoint(CHAT, run="r", scenario="d/t")
        assert "has ended" in (fault_of(session) or "")


SCRIPT = """
import os, sys, time
from runner.providers.base import ProviderSettings
from runner.providers.litellm import LiteLLM
settings = ProviderSettings(base_url=sys.argv[1], context_window=1, installed=sys.argv[2], state=sys.argv[3])
with LiteLLM().session("m", settings, dict(os.environ)):
    print("up", flush=True)
    time.sleep(60)
"""


def test_no_proxy_outlives_a_run_that_was_killed(tmp_path: Path) -> None:
    installed = install_standin(tmp_path / "installed")
    state = tmp_path / "state"
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, BACKEND, str(installed), str(state)], stdout=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"up\n"
        ((path, server),) = proxies(state)
        run.kill()
    wait_for(lambda: not is_up(server))
    assert path.exists()
    assert stop_proxies(state) == []
    assert proxies(state) == []


def test_a_proxy_without_its_run_can_be_stopped_by_its_file(tmp_path: Path) -> None:
    with LiteLLM().session("m", settings_of(tmp_path), ENVIRONMENT):
        ((path, server),) = proxies(tmp_path / "state")
        write_server_file(path, server.model_copy(update={"owner_mark": "of a process that has ended"}))
        assert stop_proxies(tmp_path / "state") == ["m"]
        wait_for(lambda: not is_up(server))


def test_stopping_what_was_left_does_not_cut_a_run_off_from_its_model(tmp_path: Path) -> None:
    with LiteLLM().session("m", settings_of(tmp_path), ENVIRONMENT):
        ((_, server),) = proxies(tmp_path / "state")
        (line,) = stop_model_servers(tmp_path / "state", ENVIRONMENT)
        assert line.startswith(f"the proxy for m is left up: the run of process {os.getpid()} uses it")
        assert is_up(server)
    assert stop_model_servers(tmp_path / "state", ENVIRONMENT) == ["nothing of ours was up"]


def test_without_a_program_the_remedy_says_how_to_get_it(tmp_path: Path) -> None:
    settings = ProviderSettings(base_url=BACKEND, installed=str(tmp_path))
    if any(check.name == "proxy program" and check.state is not CheckState.FAIL for check in
           LiteLLM().checks("m", settings, {})):  # fmt: skip
        pytest.skip("the proxy is installed beside this program")
    with pytest.raises(ConfigurationError) as caught, LiteLLM().session("m", settings, {}):
        pytest.fail("it started")
    assert "litellm" in caught.value.remedy


def test_several_proxies_may_be_up_at_once(tmp_path: Path) -> None:
    provider, settings = LiteLLM(), settings_of(tmp_path)
    assert exclusive_key(provider, "m", settings) is None
    with (
        provider.session("m", settings, ENVIRONMENT) as one,
        provider.session("n", settings, ENVIRONMENT) as two,
    ):
        addresses = {each.endpoint(CHAT, run="r", scenario="d/t").base_url for each in (one, two)}
        assert len(addresses) == 2


def test_losses_of_a_translation_are_warnings_of_the_record(tmp_path: Path) -> None:
    with LiteLLM().session("m", settings_of(tmp_path), ENVIRONMENT) as session:
        assert isinstance(session, ProxySession)
        assert session.warnings(CHAT) == ()
        assert session.warnings(WireProtocol.RESPONSES) == ()
        assert {each.code for each in session.warnings(MESSAGES)} == {"lost-in-translation"}
        (first, _) = session.warnings(WireProtocol.GENERATE_CONTENT)
        assert "cached input is not told apart" in first.text


def test_the_checks_look_through_to_the_server_behind_the_proxy(tmp_path: Path) -> None:
    with ReplayServer(tape(tmp_path / "tapes")) as server:
        settings = settings_of(
            tmp_path, base_url=server.base_url + "/v1", backend_model="m", protocols=(CHAT, MESSAGES)
        )
        found = {each.name: each for each in LiteLLM().checks("friendly-name", settings, ENVIRONMENT)}
    assert found["proxy program"].found == f"LiteLLM {VERSION} is installed"
    assert found["served model"].state is CheckState.PASS
    assert found["context window"].window == 4096
    assert found["translation to chat-completions"].state is CheckState.PASS
    assert found["translation to messages"].state is CheckState.WARN
    assert "fresh input" in found["translation to messages"].found
    assert not (tmp_path / "state").exists()


def test_a_region_stands_for_the_route_of_bedrock_and_its_key() -> None:
    settings = ProviderSettings(aws_region="us-east-1", backend_model="qwen.qwen3-coder-480b-a35b-v1:0")
    route = route_of("qwen3-coder-480b", settings)
    assert route.base_url == "https://bedrock-mantle.us-east-1.api.aws/v1"
    assert route.api_key_env == "AWS_BEARER_TOKEN_BEDROCK"
    assert "qwen.qwen3-coder-480b-a35b-v1:0" in str(route.entry())
    named = ProviderSettings(aws_region="us-east-1", api_key_env="MANTLE_API_KEY", base_url=BACKEND)
    assert route_of("m", named).base_url == BACKEND
    assert route_of("m", named).api_key_env == "MANTLE_API_KEY"
    for region in ("us-east-1.evil.example/", "", "US", "us-east-1/v1#"):
        with pytest.raises(ConfigurationError):
            route_of("m", ProviderSettings(aws_region=region))


def test_a_server_that_speaks_another_api_is_named_with_the_flag_for_it(tmp_path: Path) -> None:
    def only_messages(seen: Seen) -> tuple[int, object]:
        if seen.path == "/v1/models":
            return 200, {"data": [{"id": "m"}]}
        return (400, {"error": "faulty"}) if seen.path == "/v1/messages" else (404, {})

    with api(only_messages) as server:
        checks = list(LiteLLM().checks("m", settings_of(tmp_path, base_url=server.base_url), ENVIRONMENT))
    (failed,) = (each for each in checks if each.state is CheckState.FAIL)
    assert failed.fix == "--backend-protocol messages"


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"base_url": None}, "endpoint"),
        ({"base_url": "ftp://h"}, "endpoint"),
        ({"api_key_env": "NOT_SET"}, "credentials"),
        ({"backend_protocol": WireProtocol.GENERATE_CONTENT}, "endpoint"),
    ],
)
def test_what_would_fail_is_a_check_that_failed(tmp_path: Path, more: dict[str, object], name: str) -> None:
    settings = settings_of(tmp_path, **more)
    *_, last = LiteLLM().checks("m", settings, ENVIRONMENT)
    assert (last.name, last.state) == (name, CheckState.FAIL)
    assert last.fix
    with pytest.raises(ConfigurationError), LiteLLM().session("m", settings, ENVIRONMENT):
        pytest.fail("it started")


def wait_for(holds: object, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    assert callable(holds)
    while not holds():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)
