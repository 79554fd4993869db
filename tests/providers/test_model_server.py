"""``invoke model-server``: starts a server that stays, says what is up, and stops it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest

from runner.errors import ConfigurationError, EndpointError, UsageError
from runner.providers.background import ServerFile, is_up, process_mark, write_server_file
from runner.providers.litellm_proxy import MASTER_KEY_ENV, is_healthy, proxies
from runner.providers.model_server import (
    model_server_lines,
    start_model_proxy,
    start_model_server,
    stop_model_servers,
)
from tests.ports import held_port
from tests.providers.proxy_standin import install_standin
from tests.providers.vllm_stage import VllmStage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[VllmStage]:
    with held_port() as port:
        made = VllmStage(tmp_path, port)
        yield made
        made.server.stop()


def start(stage: VllmStage, name: str) -> str:
    return start_model_server(
        name,
        recipes=stage.recipes,
        state=stage.folder / "state",
        environment=stage.environment,
        say=stage.said.append,
    )


def lines(stage: VllmStage) -> list[str]:
    return list(model_server_lines(stage.recipes, stage.folder / "state", stage.environment))


def test_a_server_that_was_started_stays_until_it_is_stopped(stage: VllmStage) -> None:
    stage.recipe("m", served_names=["m", "alias"], instance_type="g6e.12xlarge")
    assert "calls tools" in start(stage, "m")
    shown = lines(stage)
    assert shown[0].startswith("m: process ")
    assert shown[1] == "  vLLM 0.29.1 serves m (131072 tokens), alias (131072 tokens)"
    assert shown[2] == "recipe m: vendor/Model-7B, 131072 tokens, for g6e.12xlarge"
    assert start(stage, "m").startswith("m answers at")
    assert stop_model_servers(stage.folder / "state", stage.environment) == ["stopped the server of m"]
    assert stop_model_servers(stage.folder / "state", stage.environment) == ["nothing of ours was up"]
    assert lines(stage)[0] == "no model server of ours is up"


def test_a_server_that_fails_its_test_stays_up_to_be_looked_at(stage: VllmStage) -> None:
    stage.recipe("m", environment={"STANDIN_TOOLS": "raw"})
    with pytest.raises(EndpointError, match="as text"):
        start(stage, "m")
    assert lines(stage)[0].startswith("m: process ")


def test_an_unknown_recipe_offers_the_nearest_one(stage: VllmStage) -> None:
    stage.recipe("qwen3-coder-30b")
    with pytest.raises(UsageError, match="did you mean 'qwen3-coder-30b'"):
        start(stage, "qwen3-coder-30")


PROXY_KEY = "a-key-for-clients-0123456789"


def start_proxy(folder: Path, *, key: str = PROXY_KEY, **behind: str) -> str:
    environment = {"PATH": os.environ["PATH"], "BACKEND_KEY": "backend-key-0123456789"}
    return start_model_proxy(
        "m",
        {"endpoint": "http://127.0.0.1:9/v1", "api_key_env": "BACKEND_KEY", **behind},
        installed=install_standin(folder / "installed"),
        state=folder / "state",
        environment=environment | ({MASTER_KEY_ENV: key} if key else {}),
        say=lambda _: None,
    )


def test_a_proxy_can_be_started_to_stay_is_shown_with_its_health_and_is_stopped(stage: VllmStage) -> None:
    said = start_proxy(stage.folder)
    state = stage.folder / "state"
    ((_, proxy),) = proxies(state)
    assert (
        f"--provider endpoint --endpoint {proxy.base_url}/v1 --api-key-env {MASTER_KEY_ENV} --model m" in said
    )
    address = f"{proxy.base_url}/v1/models"
    assert httpx.get(address).status_code == 401
    assert httpx.get(address, headers={"Authorization": f"Bearer {PROXY_KEY}"}).status_code == 200
    line = lines(stage)[1]
    assert line.startswith(f"proxy for m: healthy, process {proxy.pid} at {proxy.base_url}")
    assert not any(PROXY_KEY.encode() in path.read_bytes() for path in state.rglob("*") if path.is_file())
    os.kill(proxy.pid, signal.SIGSTOP)
    assert lines(stage)[1].startswith("proxy for m: does not answer, ")
    os.kill(proxy.pid, signal.SIGCONT)
    assert stop_model_servers(state, {}) == ["stopped a proxy for m"]
    assert [path.name for path in state.iterdir() if path.suffix != ".log"] == []


def test_a_proxy_that_is_to_stay_outlives_who_started_it(tmp_path: Path) -> None:
    script = f"""
from pathlib import Path
from tests.providers.test_model_server import start_proxy
start_proxy(Path({str(tmp_path)!r}))
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)
    ((_, proxy),) = proxies(tmp_path / "state")
    try:
        time.sleep(0.3)
        assert is_up(proxy)
        assert is_healthy(proxy)
    finally:
        assert stop_model_servers(tmp_path / "state", {}) == ["stopped a proxy for m"]


@pytest.mark.parametrize(
    ("behind", "complaint"),
    [
        ({"key": ""}, f"{MASTER_KEY_ENV} is not set"),
        ({"api_key_env": "NOT_SET"}, "NOT_SET is not set"),
        ({"endpoint": "nowhere"}, "http or https"),
        ({"backend_protocol": "smoke"}, "no protocol 'smoke'"),
        ({"backend_protocol": "generate-content"}, "is not used with a backend"),
    ],
)
def test_a_proxy_that_cannot_be_started_says_why_and_leaves_nothing(
    behind: dict[str, str], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises((ConfigurationError, UsageError), match=complaint):
        start_proxy(tmp_path, **behind)
    assert not list((tmp_path / "state").glob("*"))


class Hostile(BaseHTTPRequestHandler):
    """A server whose words would change what a terminal shows."""

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """A version and a list of models."""
        names = ["\x1b[2J" + "m" * 5000, *map(str, range(20))]
        body = json.dumps({"version": "1\x1b]0;x\x07", "data": [{"id": name} for name in names]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_what_a_server_calls_itself_cannot_reach_into_the_terminal(stage: VllmStage) -> None:
    stage.recipe("m")
    state = stage.folder / "state"
    state.mkdir()
    with HTTPServer(("127.0.0.1", 0), Hostile) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        me = os.getpid()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        file = ServerFile(
            pid=me, mark=process_mark(me) or "", what="m", key="k", base_url=address, log=str(state / "log")
        )
        write_server_file(state / "vllm.json", file)
        shown = lines(stage)[1]
        server.shutdown()
    (state / "vllm.json").unlink()
    assert shown.isprintable()
    assert shown.endswith(", 6 (unknown tokens), 13 more")
    assert len(shown) < 1000
