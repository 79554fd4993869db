"""``invoke model-server``: starts a server that stays, says what is up, and stops it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from runner.errors import EndpointError, UsageError
from runner.providers.background import ServerFile, process_mark, write_server_file
from runner.providers.model_server import model_server_lines, start_model_server, stop_model_servers
from tests.providers.vllm_stage import VllmStage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[VllmStage]:
    made = VllmStage(tmp_path)
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
