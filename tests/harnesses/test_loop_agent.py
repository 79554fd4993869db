"""The loop in this process on an injected transport: how a conversation goes on and how it ends."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from runner.harnesses.loop_agent.agent import Agent, Ending
from runner.harnesses.loop_agent.client import Client
from runner.harnesses.loop_agent.events import SHOWN_CHARS, Voice, brief
from runner.harnesses.loop_agent.job import Bounds, Job, JobFault, Patience, Prices, read_job, write_job
from runner.harnesses.loop_agent.places import open_places
from runner.harnesses.loop_agent.toolset import Toolset

PATIENCE = Patience(attempts=2, base_seconds=0.0)
USAGE = {"prompt_tokens": 900, "completion_tokens": 100}


def answer(content: str | None, *calls: tuple[str, str], finish: str | None = None) -> httpx.Response:
    message: dict[str, object] = {"content": content}
    if calls:
        message["tool_calls"] = [
            {"id": f"c{number}", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls)
        ]
    choice = {"message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}
    return httpx.Response(200, json={"choices": [choice], "usage": USAGE})


class Stage:
    """An agent, the answers it gets, and what it asked and said."""

    def __init__(self, folder: Path, *answers: httpx.Response, **job: object) -> None:
        self.answers = list(answers)
        self.bodies: list[Mapping[str, object]] = []
        self.said = io.BytesIO()
        self.job = replace(Job("Do it.", folder, folder / "artifacts", "http://m/v1", "m"), **job)  # type: ignore[arg-type]

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        return self.answers.pop(0)

    def run(self, key: str = "") -> Ending:
        with httpx.Client(transport=httpx.MockTransport(self.handle)) as http:
            client = Client(http, "http://m/v1/chat/completions", PATIENCE)
            tools = Toolset(open_places(self.job.workspace, self.job.artifacts), {"PATH": "/bin:/usr/bin"})
            return Agent(self.job, client, tools, Voice(self.said, hidden=key)).run()

    def events(self, kind: str) -> list[Mapping[str, object]]:
        lines = [json.loads(line) for line in self.said.getvalue().splitlines()]
        return [line for line in lines if line["event"] == kind]


def test_results_go_back_in_the_order_of_the_calls(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("A", encoding="utf-8")
    calls = (("read_file", '{"path": "a"}'), ("nope", "{}"))
    stage = Stage(tmp_path, answer("see", *calls), answer("done"))
    assert stage.run() == Ending("finished")
    messages = stage.bodies[1]["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "tool"]
    assert [(message["tool_call_id"], message["content"][:7]) for message in messages[3:]] == [
        ("c0", "1\tA"),
        ("c1", "error: "),
    ]


def test_arguments_that_are_no_json_are_sent_back_as_json(tmp_path: Path) -> None:
    calls = (("read_file", '{"path": '), ("read_file", ""), ("read_file", "[1]"))
    stage = Stage(tmp_path, answer(None, *calls), answer("done"))
    stage.run()
    messages = stage.bodies[1]["messages"]
    assert isinstance(messages, list)
    sent = [call["function"]["arguments"] for call in messages[2]["tool_calls"]]
    assert all(isinstance(json.loads(arguments), dict) for arguments in sent)
    assert json.loads(sent[0]) == {"not_valid_json": '{"path": '}


@pytest.mark.parametrize(
    ("last", "stop_reason", "is_error"),
    [
        (answer("done"), "finished", False),
        (answer(""), "empty-answer", True),
        (answer(None), "empty-answer", True),
        (answer("half of", finish="length"), "answer-length", True),
        (answer("x", finish="content_filter"), "content-filter", True),
    ],
)
def test_an_ending_has_its_own_name(
    last: httpx.Response, stop_reason: str, is_error: bool, tmp_path: Path
) -> None:
    ending = Stage(tmp_path, last).run()
    assert (ending.stop_reason, ending.is_error) == (stop_reason, is_error)


def test_a_full_context_window_ends_the_run_before_a_request_that_must_fail(tmp_path: Path) -> None:
    stage = Stage(tmp_path, answer("go", ("list_files", "{}")), context_window=1000)
    ending = stage.run()
    assert (ending.stop_reason, ending.is_error) == ("context-length", True)
    assert "1000 tokens" in str(ending.error)
    roomy = Stage(tmp_path, answer("go", ("list_files", "{}")), answer("done"), context_window=1001)
    assert roomy.run().stop_reason == "finished"


def refusal(text: str, status: int = 400) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": text}})


def test_an_endpoint_that_names_the_answer_limit_differently_gets_it_so(tmp_path: Path) -> None:
    refused = refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    again = answer("go", ("list_files", "{}"))
    stage = Stage(tmp_path, refused, again, answer("done"), bounds=Bounds(answer_tokens=77))
    assert stage.run().stop_reason == "finished"
    assert [("max_tokens" in body, body.get("max_completion_tokens")) for body in stage.bodies] == [
        (True, None),
        (False, 77),
        (False, 77),
    ]
    assert len(stage.events("retry")) == 1


def test_an_endpoint_that_refuses_stream_options_is_asked_without_them(tmp_path: Path) -> None:
    stage = Stage(tmp_path, refusal("extra field: stream_options", 422), answer("done"))
    assert stage.run().stop_reason == "finished"
    assert ["stream_options" in body for body in stage.bodies] == [True, False]


def test_the_same_refusal_twice_is_final(tmp_path: Path) -> None:
    refused = [refusal("use max_completion_tokens") for _ in range(2)]
    ending = Stage(tmp_path, *refused, bounds=Bounds(answer_tokens=7)).run()
    assert ending.stop_reason == "model-error"


def test_without_a_turn_limit_there_is_still_one(tmp_path: Path) -> None:
    stage = Stage(tmp_path, *(answer("again", ("list_files", "{}")) for _ in range(260)))
    ending = stage.run()
    assert (ending.stop_reason, ending.limit_hit) == ("limit-turns", "turns")
    assert len(stage.bodies) == 250


def test_a_key_that_a_server_echoes_is_masked_in_the_events(tmp_path: Path) -> None:
    key = 'key-"with\\signs-0123'
    stage = Stage(tmp_path, refusal(f"the key {key} is wrong", 401))
    assert stage.run(key).stop_reason == "model-error"
    assert json.dumps(key)[1:-1].encode() not in stage.said.getvalue()
    assert b"the key [key] is wrong" in stage.said.getvalue()


def test_texts_in_events_are_cut_in_the_middle(tmp_path: Path) -> None:
    assert brief("x" * SHOWN_CHARS) == "x" * SHOWN_CHARS
    long = brief("a" * SHOWN_CHARS + "b" * SHOWN_CHARS)
    assert long.startswith("a")
    assert long.endswith("b")
    assert f"{SHOWN_CHARS} characters left out" in long
    stage = Stage(tmp_path, answer("y" * 1_000_000))
    stage.run()
    assert len(stage.said.getvalue()) < 10_000


def test_a_job_survives_being_written_and_read(tmp_path: Path) -> None:
    job = Job(
        "ü\u2028",
        tmp_path,
        tmp_path / "a",
        "http://m/v1",
        "vendor/m",
        context_window=5,
        bounds=Bounds(1, 2, 3, 4.5, 6.0),
        patience=PATIENCE,
        prices=Prices(1.0, 2.0, 0.5),
    )
    assert read_job(write_job(job)) == job
    plain = Job("p", tmp_path, tmp_path, "http://m/v1", "m")
    assert read_job(write_job(plain)) == plain
    with pytest.raises(JobFault):
        read_job(write_job(job).replace(b'"format": 1', b'"format": 2'))
