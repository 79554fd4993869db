"""The checks of provider vllm: what is asked before a run, and what each fault is called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.errors import ConfigurationError, UsageError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.background import ServerFile
from runner.providers.checks import CheckState
from runner.providers.exclusive import exclusive_key
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


def test_the_checks_start_nothing(stage: VllmStage) -> None:
    stage.recipe("m", trust_remote_code=True, pass_environment=["HF_TOKEN"], minimum_vllm="0.29")
    settings = stage.settings(protocols=(CHAT,))
    found = {each.name: each for each in Vllm().checks("m", settings, stage.environment)}
    assert {name: each.state.value for name, each in found.items()} == {
        "recipe": "pass",
        "remote code": "warn",
        "vllm program": "pass",
        "credentials": "warn",
        "endpoint": "pass",
        "context window": "pass",
    }
    assert found["context window"].window == 131_072
    assert "starts m" in found["endpoint"].found
    assert not (stage.folder / "state").exists()


def test_the_checks_of_a_server_that_is_up_ask_it(stage: VllmStage) -> None:
    stage.recipe("m", minimum_vllm="0.30.0")
    server = stage.server
    server.start(read_recipe(stage.recipes / "m.yaml"))
    found = {
        each.name: each for each in Vllm().checks("m", stage.settings(protocols=(CHAT,)), stage.environment)
    }
    server.stop()
    assert found["served model"].state is CheckState.PASS
    assert found["protocol chat-completions"].state is CheckState.PASS
    assert found["vllm program"].state is CheckState.FAIL
    assert "0.29.1 is older than 0.30.0" in found["vllm program"].found


@pytest.mark.parametrize(
    ("recipe", "model", "settings", "name"),
    [
        ({}, "n", {}, "endpoint"),
        ({}, "m", {"recipe": "mm"}, "recipe"),
        ({}, "n", {"recipe": "m"}, "recipe"),
        ({"port": 80}, "m", {}, "recipe"),
        ({"tool_call_parser": None}, "m", {}, "tool calls"),
        ({"tool_call_parser": "dots"}, "m", {"protocols": (RESPONSES,)}, "tool calls"),
        ({}, "m", {"api_key_env": "NOT_SET"}, "credentials"),
        ({}, "m", {"base_url": "http://127.0.0.1:9/v1"}, "endpoint"),
        ({}, "m", {"base_url": "gopher://h"}, "endpoint"),
    ],
)
def test_what_would_fail_is_a_check_that_failed(
    stage: VllmStage, recipe: dict[str, object], model: str, settings: dict[str, object], name: str
) -> None:
    stage.recipe("m", **recipe)
    failed = [
        each
        for each in Vllm().checks(model, stage.settings(**settings), stage.environment)
        if each.state is CheckState.FAIL
    ]
    assert [each.name for each in failed] == [name]
    assert failed[0].fix


def test_without_the_program_the_remedy_names_the_way_to_it(stage: VllmStage) -> None:
    stage.recipe("m")
    environment = {"PATH": str(stage.folder / "empty")}
    with (
        pytest.raises(ConfigurationError, match="program vllm is not there") as caught,
        Vllm().session("m", stage.settings(), environment),
    ):
        pytest.fail("it started")
    assert "HARNESSMARK_VLLM" in caught.value.remedy
    named = {**environment, "HARNESSMARK_VLLM": str(stage.folder / "bin" / "vllm")}
    with Vllm().session("m", stage.settings(), named):
        assert up(stage).what == "m"


def test_two_recipes_for_one_model_need_a_choice(stage: VllmStage) -> None:
    stage.recipe("m")
    stage.recipe("m-fp8", served_names=["m"])
    with pytest.raises(UsageError, match="several recipes serve m: m, m-fp8"):
        exclusive_key(Vllm(), "m", stage.settings())
    one, two = (exclusive_key(Vllm(), "m", stage.settings(recipe=name)) for name in ("m", "m-fp8"))
    assert one != two
