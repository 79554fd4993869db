"""The provider ``vllm``: a server from a recipe is started, tested, switched, stopped; a stranger's never."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from runner.errors import ConfigurationError, EndpointError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.background import ServerFile, is_up, process_mark, wait_until
from runner.providers.checks import CheckState
from runner.providers.exclusive import exclusive_key, fault_of
from runner.providers.recipe_file import read_recipe
from runner.providers.vllm import Vllm
from tests.ports import held_port
from tests.providers.vllm_stage import VllmStage

CHAT, MESSAGES, RESPONSES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[VllmStage]:
    with held_port() as port:
        made = VllmStage(tmp_path, port)
        yield made
        left = made.server.running()
    assert left is None, f"a server was left behind: {left}"


def up(stage: VllmStage) -> ServerFile:
    server = stage.server.running()
    assert server is not None
    return server


def test_the_server_of_a_recipe_is_up_for_the_length_of_the_session(stage: VllmStage) -> None:
    stage.recipe("m", served_names=["m", "alias"])
    with Vllm().session("alias", stage.settings(), stage.environment) as session:
        endpoint = session.endpoint(CHAT, run="r", scenario="d/t")
        assert (endpoint.model, endpoint.context_window) == ("alias", 131_072)
        assert endpoint.base_url == f"http://127.0.0.1:{stage.port}/v1"
        assert fault_of(session) is None
        server = up(stage)
    assert not is_up(server)
    assert any("starting vLLM" in line for line in stage.said)


def test_the_program_gets_an_argument_list_and_no_secret(stage: VllmStage) -> None:
    stage.recipe(
        "m",
        revision="abc123",
        trust_remote_code=True,
        tensor_parallel_size=4,
        reasoning_parser="qwen3",
        extra_arguments=["--max-num-seqs", "32; rm -rf /"],
        environment={"NCCL_NVLS_ENABLE": "0"},
        pass_environment=["HF_TOKEN"],
    )
    environment = {**stage.environment, "HF_TOKEN": "hf-secret-012345", "SERVER_KEY": "server-key-0123"}
    settings = stage.settings(api_key_env="SERVER_KEY")
    with Vllm().session("m", settings, environment) as session:
        page = httpx.get(f"http://127.0.0.1:{stage.port}/standin").json()
        arguments, seen = page["arguments"], page["environment"]
        assert session.endpoint(MESSAGES, run="r", scenario="d/t").api_key == "server-key-0123"
        assert "server-key-0123" not in repr(session)
    assert arguments[:2] == ["serve", "vendor/Model-7B"]
    assert arguments[-2:] == ["--max-num-seqs", "32; rm -rf /"]
    for pair in (("--code-revision", "abc123"), ("--tensor-parallel-size", "4"), ("--host", "127.0.0.1")):
        assert arguments[arguments.index(pair[0]) + 1] == pair[1]
    assert {"--enable-auto-tool-choice", "--enable-prompt-tokens-details", "--trust-remote-code"} <= {
        *arguments
    }
    assert (seen["NCCL_NVLS_ENABLE"], seen["HF_TOKEN"]) == ("0", "hf-secret-012345")
    assert seen["VLLM_API_KEY"] == "server-key-0123"
    assert "UNRELATED_SECRET" not in seen
    assert not any(secret in " ".join(arguments) for secret in ("hf-secret", "server-key"))
    written = b"".join(each.read_bytes() for each in (stage.folder / "state").iterdir())
    assert b"hf-secret" not in written
    assert b"server-key" not in written


def test_a_slow_start_is_waited_for_with_the_newest_line_of_its_log(
    stage: VllmStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.providers.vllm_server.SPEAK_SECONDS", 0.2)
    stage.recipe("m", environment={"STANDIN_SLOW": "1"})
    with Vllm().session("m", stage.settings(), stage.environment):
        pass
    assert any("loading the weights" in line for line in stage.said)


def test_a_start_that_takes_too_long_is_ended(stage: VllmStage, monkeypatch: pytest.MonkeyPatch) -> None:
    def once_it_has_spoken(ready: Callable[[], bool], server: ServerFile, **more: Any) -> None:
        wait_for(lambda: Path(server.log).stat().st_size > 0)
        wait_until(ready, server, **more)

    # Its time begins with its first line: on a busy machine that alone can take longer.
    monkeypatch.setattr("runner.providers.vllm_server.wait_until", once_it_has_spoken)
    stage.recipe("m", environment={"STANDIN_SLOW": "60"}, start_minutes=0.02)
    with pytest.raises(EndpointError, match="not ready within 1 s") as caught:
        stage.server.start(read_recipe(stage.recipes / "m.yaml"))
    assert "loading the weights" in str(caught.value)


def test_a_crash_at_the_start_shows_the_end_of_the_log(stage: VllmStage) -> None:
    stage.recipe("m", environment={"STANDIN_CRASH": "ValueError: the window does not fit"})
    with (
        pytest.raises(EndpointError, match="the window does not fit") as caught,
        Vllm().session("m", stage.settings(), stage.environment),
    ):
        pytest.fail("it started")
    assert caught.value.where.endswith("vllm.log")
    assert "\x1b" not in str(caught.value)


def test_a_server_with_another_model_is_named(stage: VllmStage) -> None:
    stage.recipe("m", environment={"STANDIN_MODEL": "m-instruct"})
    with (
        pytest.raises(EndpointError, match="m is not served; it serves: m-instruct"),
        Vllm().session("m", stage.settings(), stage.environment),
    ):
        pytest.fail("it was taken")


@pytest.mark.parametrize("protocol", [CHAT, MESSAGES, RESPONSES])
@pytest.mark.parametrize(
    ("how", "what"),
    [("raw", "as text"), ("words", "in words"), ("other", "get_weather"), ("cut", "cut off")],
)
def test_a_model_without_working_tool_calls_gets_no_task(
    stage: VllmStage, protocol: WireProtocol, how: str, what: str
) -> None:
    stage.recipe("m", environment={"STANDIN_TOOLS": how})
    with Vllm().session("m", stage.settings(), stage.environment) as session:
        with pytest.raises(EndpointError, match=what) as caught:
            session.endpoint(protocol, run="r", scenario="d/t")
        assert caught.value.remedy


def test_a_parser_that_is_known_not_to_work_is_refused_before_the_model_is_asked(stage: VllmStage) -> None:
    stage.recipe("m", tool_call_parser="step3")
    with Vllm().session("m", stage.settings(), stage.environment) as session:
        assert session.endpoint(CHAT, run="r", scenario="d/t").protocol is CHAT
        with pytest.raises(ConfigurationError, match="parser step3") as caught:
            session.endpoint(RESPONSES, run="r", scenario="d/t")
    assert "hermes" in caught.value.remedy


def test_a_server_that_dies_midway_is_said_with_its_last_words(stage: VllmStage) -> None:
    stage.recipe("m", environment={"STANDIN_DIES": "1"})
    with Vllm().session("m", stage.settings(), stage.environment) as session:
        endpoint = session.endpoint(CHAT, run="r", scenario="d/t")
        with pytest.raises(httpx.HTTPError):
            httpx.post(f"{endpoint.base_url}/chat/completions", json={"messages": []})
        wait_for(lambda: stage.server.running() is None)
        assert "out of memory" in (fault_of(session) or "")
        with pytest.raises(EndpointError, match="out of memory"):
            session.endpoint(CHAT, run="r2", scenario="d/t")


def test_a_worker_that_is_deaf_to_a_polite_end_does_not_keep_the_machine(
    stage: VllmStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.providers.vllm_server.STOP_SECONDS", 0.5)
    stage.recipe("m", environment={"STANDIN_WORKER": "1"})
    with Vllm().session("m", stage.settings(), stage.environment):
        group = up(stage).pid
        assert len(members(group)) == 2
    wait_for(lambda: members(group) == [])


def test_the_server_that_is_up_is_switched_when_another_model_is_wanted(stage: VllmStage) -> None:
    stage.recipe("m")
    stage.recipe("n")
    server = stage.server
    first = server.start(read_recipe(stage.recipes / "m.yaml"))
    with Vllm().session("n", stage.settings(), stage.environment):
        assert not is_up(first)
        assert up(stage).what == "n"
    assert any("stopping the server of m" in line for line in stage.said)


def test_a_server_that_was_up_before_the_session_is_used_and_left_up(stage: VllmStage) -> None:
    stage.recipe("m")
    server = stage.server
    started = server.start(read_recipe(stage.recipes / "m.yaml"))
    with Vllm().session("m", stage.settings(), stage.environment):
        assert up(stage) == started
    assert up(stage) == started
    assert server.stop() == started
    assert server.stop() is None


def test_a_recipe_that_was_changed_is_another_server(stage: VllmStage) -> None:
    stage.recipe("m")
    server = stage.server
    first = server.start(read_recipe(stage.recipes / "m.yaml"))
    before = exclusive_key(Vllm(), "m", stage.settings())
    stage.recipe("m", max_model_len=65_536)
    assert exclusive_key(Vllm(), "m", stage.settings()) != before
    with Vllm().session("m", stage.settings(), stage.environment) as session:
        assert not is_up(first)
        assert session.endpoint(CHAT, run="r", scenario="d/t").context_window == 65_536


def test_the_machine_is_not_taken_from_a_run_that_uses_it(stage: VllmStage) -> None:
    stage.recipe("m")
    stage.recipe("n")
    with Vllm().session("m", stage.settings(), stage.environment):
        with (
            pytest.raises(EndpointError, match="another run uses the server of m"),
            Vllm().session("n", stage.settings(), stage.environment),
        ):
            pytest.fail("it was switched")
        with pytest.raises(EndpointError, match="a run uses the server of m"):
            stage.server.stop()
        with Vllm().session("m", stage.settings(), stage.environment):
            assert up(stage).what == "m"
        assert up(stage).what == "m"


STRANGER = """
import socket, sys, time
taken = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
time.sleep(60)
"""


def test_a_server_that_was_not_started_from_here_is_never_touched(stage: VllmStage) -> None:
    stage.recipe("m")
    with subprocess.Popen(
        [sys.executable, "-c", STRANGER, str(stage.port)], stdout=subprocess.PIPE
    ) as stranger:
        assert stranger.stdout is not None
        stranger.stdout.readline()
        with (
            pytest.raises(EndpointError, match="not started from here") as caught,
            Vllm().session("m", stage.settings(), stage.environment),
        ):
            pytest.fail("it started")
        assert "--endpoint" in caught.value.remedy
        *_, last = Vllm().checks("m", stage.settings(), stage.environment)
        assert (last.name, last.state) == ("endpoint", CheckState.FAIL)
        assert stranger.poll() is None
        stranger.kill()


def test_a_number_that_another_process_got_later_is_not_stopped(stage: VllmStage) -> None:
    stage.recipe("m")
    server = stage.server
    started = server.start(read_recipe(stage.recipes / "m.yaml"))
    path = stage.folder / "state" / "vllm.json"
    with subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True
    ) as other:
        path.write_text(started.model_copy(update={"pid": other.pid}).model_dump_json())
        assert server.running() is None
        assert server.stop() is None
        assert other.poll() is None
        other.kill()
    path.write_text(started.model_dump_json())
    assert server.stop() == started


SCRIPT = """
import os, sys, time
from runner.providers.base import ProviderSettings
from runner.providers.vllm import Vllm
settings = ProviderSettings(recipes=sys.argv[1], state=sys.argv[2])
with Vllm().session("m", settings, dict(os.environ)):
    print("up", flush=True)
    time.sleep(60)
"""


def test_a_server_whose_run_was_killed_is_used_by_the_next_one_which_stops_it(stage: VllmStage) -> None:
    stage.recipe("m")
    state = str(stage.folder / "state")
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(stage.recipes), state],
        stdout=subprocess.PIPE,
        env=stage.environment,
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"up\n"
        orphan = up(stage)
        run.kill()
    with Vllm().session("m", stage.settings(), stage.environment):
        assert up(stage) == orphan
    assert process_mark(orphan.pid) != orphan.mark
    assert stage.server.stop() is None


def test_a_server_at_an_address_is_used_as_it_is(stage: VllmStage) -> None:
    stage.recipe("m")
    server = stage.server
    started = server.start(read_recipe(stage.recipes / "m.yaml"))
    elsewhere = stage.settings(base_url=started.base_url, recipes=None)
    assert exclusive_key(Vllm(), "m", elsewhere) is None
    with Vllm().session("m", elsewhere, stage.environment) as session:
        assert session.endpoint(RESPONSES, run="r", scenario="d/t").context_window == 131_072
    with (
        pytest.raises(EndpointError, match="n is not served; it serves: m"),
        Vllm().session("n", elsewhere, stage.environment),
    ):
        pytest.fail("it was taken")
    assert is_up(started)
    server.stop()
    with (
        pytest.raises(EndpointError, match="nothing listens"),
        Vllm().session("m", elsewhere, stage.environment),
    ):
        pytest.fail("it was there")


def members(group: int) -> list[int]:
    """Processes of the group that are at work."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != b"Z":
            found.append(int(path.parent.name))
    return found


def wait_for(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)
