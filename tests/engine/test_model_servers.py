"""Runs on servers of one's own: models take turns on the machine, and records say how each was served."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from runner.engine.places import Places
from runner.harnesses.endpoint import WireProtocol
from runner.providers.litellm_proxy import proxies
from runner.providers.vllm_server import VllmServer
from runner.records import Outcome, TrialRecord
from runner.replay import ReplayServer
from runner.store import ResultsStore
from tests.engine.runs import run
from tests.engine.standin import HARNESS, StandIn, script
from tests.ports import held_port
from tests.providers.proxy_standin import install_standin
from tests.providers.vllm_stage import VllmStage
from tests.replay.tapes import tape

WORKS = "ask(); say(tokens=10)\nchange(); note()\n"
WORKS_OVER_MESSAGES = """
import urllib.error, urllib.request
headers = {"x-api-key": os.environ["KEY"], "content-type": "application/json"}
address = f"http://{os.environ['ADDRESS']}/v1/messages"
try:
    urllib.request.urlopen(urllib.request.Request(address, b"{}", headers))
except urllib.error.HTTPError:
    pass
say(tokens=10)
change(); note()
"""


@dataclass
class Machine:
    """A project with recipes, and a program ``vllm`` on the search path."""

    places: Places
    stage: VllmStage

    def run(self, **flags: object) -> tuple[int, str]:
        """Run the stand-in harness on the first task."""
        given = {"harness": HARNESS, "count": 1, "isolation": "none", "provider": "vllm", **flags}
        environment = {**os.environ, "PATH": self.stage.environment["PATH"], "SOME_KEY": "some-key-0123456"}
        return run(self.places, given, environment=environment)

    def records(self) -> dict[str, TrialRecord]:
        """Records by model."""
        trials = ResultsStore(self.places.results).trials()
        return {each.record.identity.cell.model.raw_id: each.record for each in trials}


@pytest.fixture
def machine(places: Places) -> Iterator[Machine]:
    script(places, WORKS)
    with held_port() as port:
        yield Machine(places, VllmStage(places.root / "machine", port, recipes=places.recipes))
    assert VllmServer(places.servers, {}).running() is None
    assert proxies(places.servers) == []


def test_models_take_turns_on_the_machine_and_each_record_says_how_it_was_served(machine: Machine) -> None:
    machine.stage.recipe("a", instance_type="g6e.12xlarge", tensor_parallel_size=4, precision="BF16")
    machine.stage.recipe("b", instance_type="g6e.4xlarge", max_model_len=200_000)
    code, output = machine.run(model="a,b", precision="FP8")
    assert code == 0, output
    records = machine.records()
    assert {name: record.outcome.value for name, record in records.items()} == {
        "a": "completed",
        "b": "completed",
    }
    one, two = records["a"].serving, records["b"].serving
    assert one is not None
    assert two is not None
    assert (one.instance_type, one.tensor_parallel_size, one.precision) == ("g6e.12xlarge", 4, "FP8")
    assert (one.context_window, two.context_window) == (131_072, 200_000)
    assert two.instance_type == "g6e.4xlarge"
    assert output.count("starting vLLM") == 2


def test_a_server_without_tool_calls_costs_no_task(machine: Machine) -> None:
    machine.stage.recipe("a", environment={"STANDIN_TOOLS": "raw"})
    machine.stage.recipe("b")
    _, output = machine.run(model="a,b")
    assert "comes back as text" in output
    records = machine.records()
    assert "b" in records
    assert all(not record.invocations for name, record in records.items() if name == "a")


@dataclass(frozen=True)
class SpeaksMessages(StandIn):
    """The stand-in with another API."""

    name: str = "speaks-messages"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.MESSAGES,)


def test_what_a_proxy_loses_of_the_counts_is_a_warning_of_the_record(machine: Machine) -> None:
    install_standin(machine.places.harnesses)
    script(machine.places, WORKS_OVER_MESSAGES)
    with ReplayServer(tape(machine.places.root / "tapes")) as server:
        code, output = machine.run(
            harness=f"{__name__}:SpeaksMessages",
            provider="litellm",
            model="friendly-name",
            backend_model="m",
            endpoint=server.url_for(run="r", scenario="demo/t") + "/v1",
            api_key_env="SOME_KEY",
            context_window=200_000,
        )
    assert code == 0, output
    assert "starting the LiteLLM proxy" in output
    record = machine.records()["friendly-name"]
    assert record.outcome is Outcome.COMPLETED
    assert "lost-in-translation" in {warning.code for warning in record.warnings}
    assert any("fresh input" in warning.text for warning in record.warnings)
