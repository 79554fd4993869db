"""The scripted judge: its answers name the candidate they were asked about and follow what was handed in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from runner.judges.answer import answer_schema, read_answer
from runner.judges.rubric import rubric
from runner.judges.wire import WIRES
from runner.replay import ReplayServer
from runner.replay.cassette import Scene, parse_cassette
from runner.replay.composing import compose

CASSETTES = Path(__file__).parents[2] / "datasets" / "cassettes"
FOLDER = CASSETTES / "judge-hello-world"
MODELS = ("replay-judge", "replay-reader", "replay-gullible", "replay-sober")
TASKS = ("quarter-hour-default", "entry-across-midnight", "totals-by-tag", "whole-minutes", "fair-rounding")


def lines(model: str) -> list[dict[str, Any]]:
    """Turns of a scripted judge."""
    return [json.loads(line) for line in (FOLDER / f"{model}.jsonl").read_text().splitlines()[1:]]


@pytest.mark.parametrize("model", MODELS)
def test_what_is_shipped_is_what_the_script_says(model: str) -> None:
    assert compose(FOLDER / f"{model}.yaml") == (FOLDER / f"{model}.jsonl").read_text()


@pytest.mark.parametrize("model", MODELS)
def test_every_scripted_answer_is_valid_and_says_that_it_is_scripted(model: str) -> None:
    answers = [line for line in lines(model) if not line["actions"]]
    assert {line["task"] for line in answers} == set(TASKS)
    for line in answers:
        name = line["skill"].rpartition("-")[0]
        asked = [
            each.name for each in rubric(name).artifacts if each.name in json.loads(line["say"])["scores"]
        ]
        said = line["say"].replace("{candidate}", "candidate-1")
        scores = read_answer(said, asked, task=line["task"], candidate="candidate-1")
        assert 0 < scores.task_score < 100
        assert all("Scripted for the demonstration" in note for note in scores.notes.values())
        assert "Scripted for the demonstration" in scores.verdict


def test_no_judge_is_among_the_models_of_a_dataset() -> None:
    with ReplayServer(CASSETTES) as server:
        assert not set(MODELS) & set(server.library.models("hello-world"))


@pytest.mark.parametrize("protocol", WIRES)
def test_the_answer_names_the_candidate_in_every_protocol(protocol: Any) -> None:
    wire = WIRES[protocol]
    schema = answer_schema(["implementation"], task=TASKS[0], candidate="candidate-77")
    prompt = f"candidate_id: candidate-77\ntask_id: {TASKS[0]}\nrubric: implementation-1\n\nskill: swe3\n"
    with ReplayServer(CASSETTES) as server, httpx.Client(trust_env=False) as http:
        base = server.url_for(run="r", scenario=f"judge-hello-world/{TASKS[0]}")
        root = base if protocol.value == "messages" else f"{base}/v1"
        body = wire.write("replay-judge", prompt, schema, 1000, None)
        said = wire.read(http.post(root + wire.path, json=body).json())
        told = server.count("r").told
    scores = read_answer(said.text, ["implementation"], task=TASKS[0], candidate="candidate-77")
    assert scores.task_score == 84.0
    assert said.usage is not None
    assert said.usage.input_tokens == told.uncached
    assert said.usage.output_tokens == told.output


def turn(step: int, say: str, **more: object) -> dict[str, object]:
    """A turn that says something."""
    usage = {"uncached": 1, "output": 1}
    return {"task": "t", "step": step, "say": say, "actions": [], "usage": usage, **more}


HEADER = {
    "kind": "cassette",
    "schema_version": 1,
    "dataset": "d",
    "model": "m",
    "context_window": 1000,
    "note": "scripted for a test",
}


def cassette(*turns: dict[str, object]) -> Any:
    """A cassette of these turns."""
    made, faults = parse_cassette("".join(json.dumps(line) + "\n" for line in (HEADER, *turns)))
    assert faults == []
    return made


def said(made: Any, prompt: str, skill: str | None = None) -> str:
    """What is answered to a prompt."""
    scene = made.scene_for(Scene("t", skill=skill), prompt)
    return str(made.turn_after(scene, 0).say)


def test_turns_for_a_text_come_before_those_for_any_prompt() -> None:
    made = cassette(turn(0, "any"), turn(0, "one", when="first text"), turn(0, "two", when="second text"))
    assert said(made, "nothing of it") == "any"
    assert said(made, "here is the second text") == "two"
    assert said(made, "second text and first text") == "one"


def test_a_skill_of_its_own_comes_before_a_text() -> None:
    made = cassette(turn(0, "any", when="text"), turn(0, "own", skill="fix"))
    assert said(made, "text", "fix") == "own"
    assert said(made, "text", "swe3") == "any"


def test_without_a_fitting_text_there_are_no_turns() -> None:
    assert cassette(turn(0, "one", when="first text")).scene_for(Scene("t"), "other") is None


def test_steps_are_counted_for_each_text_alone() -> None:
    text = "".join(json.dumps(line) + "\n" for line in (HEADER, turn(0, "a"), turn(1, "b", when="x")))
    assert parse_cassette(text)[1] == [(3, "task 't': step 1 where step 0 is next")]
