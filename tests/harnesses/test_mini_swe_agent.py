"""mini-swe-agent: what it is started with, and its trajectory read into usage, turns and end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.isolation import write_yaml
from runner.harnesses.mini_swe_agent import MiniSweAgent, settings
from runner.harnesses.mini_trajectory import read_trajectory
from runner.harnesses.registry import harness
from runner.records import Limits
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import SAMPLES, assignment, classes

CHAT, MESSAGES, RESPONSES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES
WHOLE = SAMPLES / "mini-swe-agent.json"


def launched(folder: Path, protocol: WireProtocol, limits: Limits | None = None) -> tuple[Launch, Any]:
    """The start of a run and its configuration."""
    pretend_installed(harness("mini-swe-agent"), folder / "installed")
    launch = MiniSweAgent().launch(assignment(folder, protocol, limits=limits))
    return launch, yaml.safe_load(launch.configuration[0].read_text())


def trajectory(folder: Path, messages: list[dict[str, object]], status: str = "Submitted") -> Reading:
    document = {"info": {"exit_status": status}, "messages": messages}
    (folder / "t.json").write_text(json.dumps(document))
    return read_trajectory(folder / "t.json")


def answer(usage: dict[str, object] | None, role: str = "assistant") -> dict[str, object]:
    return {"role": role, "extra": {"response": {"model": "m", "usage": usage}}}


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def test_a_run_is_the_sum_of_its_responses(tmp_path: Path) -> None:
    given = assignment(tmp_path, CHAT)
    MiniSweAgent.trajectory(given).parent.mkdir()
    MiniSweAgent.trajectory(given).write_bytes(WHOLE.read_bytes())
    reading = MiniSweAgent().read(tmp_path / "no-stdout", given)
    assert classes(reading.usage) == (5266, 16036, 0, 475, 35)
    assert (reading.turns, reading.stop_reason, reading.is_error) == (4, "Submitted", False)
    assert set(reading.usage_by_model) == {"ledger-1"}
    assert reading.retries is None
    assert reading.warnings == ()


def test_a_refused_request_used_nothing_and_is_told(tmp_path: Path) -> None:
    reading = read_trajectory(SAMPLES / "mini-swe-agent-failure.json")
    assert (reading.is_error, reading.stop_reason, reading.turns) == (True, "BadRequestError", 0)
    assert "scripted error 400" in (reading.error or "")
    assert classes(reading.usage) == (0, 0, 0, 0, 0)


def test_a_stopped_run_yields_the_answers_it_had(tmp_path: Path) -> None:
    reading = read_trajectory(SAMPLES / "mini-swe-agent-stopped.json")
    assert classes(reading.usage) == (1304, 4002, 0, 105, 6)
    assert (reading.is_error, reading.stop_reason, reading.turns) == (True, "no-end", 1)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_the_limit_of_turns_is_no_success_although_the_exit_code_is_zero(tmp_path: Path) -> None:
    told: dict[str, object] = {"prompt_tokens": 5, "completion_tokens": 2}
    reading = trajectory(tmp_path, [answer(told)], "LimitsExceeded")
    assert (reading.is_error, reading.limit_hit, reading.turns) == (True, "turns", 1)
    assert "limit of turns" in (reading.error or "")
    assert "usage-is-lower-bound" not in codes(reading)


def test_an_answer_of_a_wrong_form_was_paid_for_too(tmp_path: Path) -> None:
    told: dict[str, object] = {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    reading = trajectory(tmp_path, [answer(told), answer(told, role="user")])
    assert classes(reading.usage) == (20, 0, 0, 6, 2)
    assert reading.turns == 2


def test_input_read_from_a_cache_and_written_to_one_is_told_apart(tmp_path: Path) -> None:
    told: dict[str, object] = {
        "prompt_tokens": 1000,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 600},
        "cache_creation_input_tokens": 300,
    }
    assert classes(trajectory(tmp_path, [answer(told)]).usage) == (100, 600, 300, 3, None)


def test_over_responses_the_response_is_the_message_itself(tmp_path: Path) -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4},
    }
    reading = trajectory(tmp_path, [{"object": "response", "model": "m", "usage": usage, "extra": {}}])
    assert classes(reading.usage) == (40, 60, 0, 9, 4)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}])
def test_an_answer_without_counts_makes_the_sums_unknown(
    tmp_path: Path, usage: dict[str, object] | None
) -> None:
    reading = trajectory(tmp_path, [answer({"prompt_tokens": 5, "completion_tokens": 2}), answer(usage)])
    assert (reading.usage, reading.usage_by_model, reading.turns) == (None, {}, 2)
    assert codes(reading) == {"usage-not-reported"}


def test_a_response_that_was_kept_as_a_text_only_makes_the_sums_unknown(tmp_path: Path) -> None:
    reading = trajectory(tmp_path, [{"role": "user", "extra": {"response": "ModelResponse(...)"}}])
    assert (reading.usage, reading.turns) == (None, 1)


def test_an_end_by_a_failure_that_was_no_refusal_marks_a_lower_bound(tmp_path: Path) -> None:
    end: dict[str, object] = {"role": "exit", "content": "litellm.Timeout: no answer"}
    told: dict[str, object] = {"prompt_tokens": 5, "completion_tokens": 2}
    reading = trajectory(tmp_path, [answer(told), end], "Timeout")
    assert reading.error == "Timeout: litellm.Timeout: no answer"
    assert "usage-is-lower-bound" in codes(reading)


@given(share=st.floats(0, 1))
def test_any_beginning_of_a_trajectory_reads_and_never_counts_more_than_the_whole(
    share: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "mini-prefix"
    data = WHOLE.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    reading = read_trajectory(path)
    for count, most in zip(classes(reading.usage) or (), (5266, 16036, 0, 475, 35), strict=False):
        assert (count or 0) <= most
    assert (reading.turns or 0) <= 4
    assert reading.is_error or share == 1


@pytest.mark.parametrize(
    ("protocol", "model", "kind", "variable"),
    [
        (CHAT, "openai/vendor/model:1", "litellm", "OPENAI"),
        (MESSAGES, "anthropic/vendor/model:1", "litellm", "ANTHROPIC"),
        (RESPONSES, "openai/vendor/model:1", "litellm_response", "OPENAI"),
    ],
)
def test_each_protocol_has_its_client(
    tmp_path: Path, protocol: WireProtocol, model: str, kind: str, variable: str
) -> None:
    launch, configuration = launched(tmp_path, protocol)
    assert configuration["model"]["model_name"] == model
    assert configuration["model"]["model_class"] == kind
    assert launch.environment[f"{variable}_API_BASE"] == "http://127.0.0.1:9/v1"
    assert launch.environment["LITELLM_MODE"] == "PRODUCTION"
    assert launch.environment[f"{variable}_API_KEY"] == "sample-key-0123456789"


def test_nobody_is_asked_and_no_cost_of_its_own_stops_it(tmp_path: Path) -> None:
    _, configuration = launched(tmp_path, CHAT, Limits(max_turns=7, max_output_tokens=99))
    wanted = {"mode": "yolo", "confirm_exit": False, "cost_limit": 0, "step_limit": 7}
    assert configuration["agent"] == wanted
    assert configuration["model"]["model_kwargs"] == {"drop_params": True, "max_tokens": 99}
    _, configuration = launched(tmp_path, RESPONSES, Limits(max_output_tokens=99))
    assert configuration["model"]["model_kwargs"]["max_output_tokens"] == 99


def test_its_usual_configuration_is_its_own_and_not_a_file_of_the_workspace(tmp_path: Path) -> None:
    launch, _ = launched(tmp_path, CHAT)
    usual = Path(launch.command[launch.command.index("-c") + 1])
    assert usual.is_relative_to(tmp_path / "installed")
    assert usual.name == "mini.yaml"


@given(prompt=st.text(st.characters(codec="utf-8")))
def test_any_prompt_arrives_as_it_is(prompt: str, tmp_path_factory: pytest.TempPathFactory) -> None:

    folder = tmp_path_factory.getbasetemp()
    told = settings(replace(assignment(folder, CHAT), prompt=prompt))
    assert yaml.safe_load(write_yaml(folder / "run.yaml", told).read_text()) == told


def test_an_answer_is_a_line_for_the_reader() -> None:
    assert MiniSweAgent().trace("mini-swe-agent (step 12, $0.00):") == "answer 12"
    assert MiniSweAgent().trace("Reasoning about the step") is None


def test_limits_that_it_cannot_keep_are_named(tmp_path: Path) -> None:
    given = assignment(tmp_path, MESSAGES, limits=Limits(max_turns=3, max_tokens=60, max_output_tokens=5))
    reading = MiniSweAgent().read(tmp_path / "nothing", given)
    assert [warning.text for warning in reading.warnings] == [
        "mini-swe-agent has no way to keep the tokens limit itself"
    ]
