"""``invoke model-server``: starts a server that stays, says what is up, and stops it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.errors import EndpointError, UsageError
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
