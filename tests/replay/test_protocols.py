"""The server over all protocols: shared behaviour, counts class by class, and faults, over real sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from runner.replay import ReplayServer, Tokens
from tests.replay.dialects import CHAT, DIALECTS, GENERATE, MESSAGES, RESPONSES, Dialect, Done, Said
from tests.replay.tapes import PROMPT, USAGE, tape, turn

TURN = Tokens(**USAGE)
FOLDED = {"uncached": 408, "cache_read": 2003, "cache_write": 0, "output": 41, "reasoning": 5}
"""What protocols without a class for cache writes can say of a turn."""
PER_DIALECT = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
SHELL = {"do": "shell", "command": "ls"}
TAPE = (
    turn(0, SHELL, {"do": "shell", "command": "pwd"}),
    turn(1, say="done"),
    turn(0, {"do": "subagent", "thread": "helper", "prompt": "Look."}, task="delegate"),
    turn(1, {"do": "wait"}, task="delegate"),
    turn(2, task="delegate", say="looked"),
    turn(0, task="delegate", thread="helper", say="I looked"),
    turn(0, {"do": "shell", "command": "echo {step}"}, task="endless", forever=True),
    turn(0, task="judge", say="no JSON at all"),
    turn(0, task="ranked", say='{"score": 4}'),
)


def told(dialect: Dialect) -> dict[str, int]:
    return dict(USAGE) if dialect is MESSAGES else dict(FOLDED)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReplayServer]:
    with ReplayServer(tape(tmp_path / "tapes", TAPE), log=tmp_path / "log.jsonl") as running:
        yield running


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=10, trust_env=False) as client:
        yield client


def post(
    server: ReplayServer,
    http: httpx.Client,
    dialect: Dialect,
    *faults: str,
    task: str = "t",
    prompt: str = PROMPT,
    done: tuple[Done, ...] = (),
    stream: bool = True,
    tools: tuple[str, ...] = ("bash",),
    **more: Any,
) -> httpx.Response:
    body = dialect.body("m", prompt, tools, done, stream) | more
    base = server.url_for(run="r", scenario=f"demo/{task}", faults=faults)
    return http.post(base + dialect.path("m", stream), json=body)


def results(count: int) -> tuple[Done, ...]:
    calls = [(f"c{number}", "bash", {"command": "x"}) for number in range(count)]
    return (Done(Said("t", calls), ["r"] * count),)


@PER_DIALECT
@pytest.mark.parametrize("stream", [True, False])
def test_a_turn_is_played_and_its_usage_told_in_the_protocols_classes(
    server: ReplayServer, http: httpx.Client, dialect: Dialect, stream: bool
) -> None:
    response = post(server, http, dialect, stream=stream)
    assert response.status_code == 200
    said = dialect.stream(response.text) if stream else dialect.whole(response.json())
    assert [(name, arguments) for _, name, arguments in said.calls] == [
        ("bash", {"command": "ls"}),
        ("bash", {"command": "pwd"}),
    ]
    assert said.usage is not None
    assert dialect.classes(said.usage) == told(dialect)
    count = server.count("r", protocol=dialect.name)
    assert (count.requests, count.answered, count.reported) == (1, 1, TURN)
    assert count.told.model_dump() == told(dialect)
    assert server.count("r", protocol="other").requests == 0


@PER_DIALECT
def test_a_repeated_request_gets_the_same_step_and_identity(
    server: ReplayServer, http: httpx.Client, dialect: Dialect
) -> None:
    first, second = (post(server, http, dialect, stream=False).json() for _ in range(2))
    for volatile in ("created", "created_at"):
        first.pop(volatile, None)
        second.pop(volatile, None)
    assert first == second
    assert dialect.whole(post(server, http, dialect, done=results(2), stream=False).json()).text == "done"


@PER_DIALECT
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_an_error_on_request_counts_no_tokens(
    server: ReplayServer, http: httpx.Client, dialect: Dialect, status: int
) -> None:
    response = post(server, http, dialect, f"e{status}", "retryafter3")
    assert response.status_code == status
    assert response.json()["error"]["message"] == f"scripted error {status}"
    assert response.headers.get("retry-after") == ("3" if status == 429 else None)
    count = server.count("r")
    assert (count.errors, count.reported, count.unreported) == ({status: 1}, Tokens(), Tokens())


@PER_DIALECT
def test_one_retry_is_one_more_request_and_no_more_tokens(
    server: ReplayServer, http: httpx.Client, dialect: Dialect
) -> None:
    statuses = [post(server, http, dialect, "first1-e500").status_code for _ in range(2)]
    assert statuses == [500, 200]
    count = server.count("r")
    assert (count.requests, count.answered, count.told.model_dump()) == (2, 1, told(dialect))


@PER_DIALECT
@pytest.mark.parametrize("fault", ["cut", "malformed"])
@pytest.mark.parametrize("done", [(), results(2)], ids=["calls", "text"])
def test_an_answer_that_breaks_off_tells_what_its_beginning_told(
    server: ReplayServer, http: httpx.Client, dialect: Dialect, fault: str, done: tuple[Done, ...]
) -> None:
    received = b""
    try:
        with http.stream(
            "POST",
            server.url_for(run="r", scenario="demo/t", faults=[fault]) + dialect.path("m", True),
            json=dialect.body("m", PROMPT, ["bash"], done, True),
        ) as response:
            for piece in response.iter_raw():
                received += piece
    except httpx.RemoteProtocolError:
        pass
    endings = (b"[DONE]", b"message_stop", b"response.completed", b"usageMetadata")
    assert received
    assert not any(ending in received for ending in endings)
    count = server.count("r")
    assert (count.answered, count.broken, count.told, count.unreported) == (0, 1, Tokens(), TURN)
    beginning = {**USAGE, "output": 1, "reasoning": 0} if dialect is MESSAGES else Tokens().model_dump()
    assert count.told_partly.model_dump() == beginning


@PER_DIALECT
def test_usage_left_out_is_unreported_and_nothing_is_told(
    server: ReplayServer, http: httpx.Client, dialect: Dialect
) -> None:
    usage = dialect.stream(post(server, http, dialect, "nousage").text).usage
    assert usage is None or not any(dialect.classes(usage).values())
    count = server.count("r")
    assert (count.answered, count.told, count.told_partly, count.unreported) == (1, Tokens(), Tokens(), TURN)


@PER_DIALECT
def test_cache_detail_left_out_makes_all_input_fresh(
    server: ReplayServer, http: httpx.Client, dialect: Dialect
) -> None:
    said = dialect.stream(post(server, http, dialect, "nocache").text)
    assert said.usage is not None
    classes = dict(dialect.classes(said.usage))
    assert (classes["uncached"], classes["cache_read"], classes["cache_write"]) == (TURN.prompt, 0, 0)
    assert server.count("r").told.model_dump() == classes
    assert server.count("r").reported == TURN


@PER_DIALECT
def test_a_subagent_is_told_its_thread_and_counted_for_itself(
    server: ReplayServer, http: httpx.Client, dialect: Dialect
) -> None:
    said = dialect.stream(post(server, http, dialect, task="delegate", tools=("Task", "bash")).text)
    [(_, name, arguments)] = said.calls
    assert name == "Task"
    # The small tool of these tests has a field for a command only, so the prompt is built here.
    assert arguments == {"command": "scripted"}
    prompt = "Look.\n\nreplay_thread: helper\nworkspace: /w\n"
    child = dialect.stream(post(server, http, dialect, task="delegate", prompt=prompt).text)
    assert child.text == "I looked"
    assert server.threads("r") == ("main", "helper")
    assert server.count("r", thread="helper").reported == TURN
    assert server.count("r").requests == 2
    parts = http.get(server.base_url + "/count/r").json()["parts"]
    assert [(part["protocol"], part["thread"], part["requests"]) for part in parts] == [
        (dialect.name, "main", 1),
        (dialect.name, "helper", 1),
    ]


@PER_DIALECT
def test_an_endless_turn_is_another_command_each_time(
    server: ReplayServer, http: httpx.Client, dialect: Dialect
) -> None:
    seen = [
        dialect.stream(post(server, http, dialect, task="endless", done=results(count)).text).calls[0]
        for count in (0, 1, 7)
    ]
    assert [arguments["command"] for _, _, arguments in seen] == ["echo 0", "echo 1", "echo 7"]
    assert len({identifier for identifier, _, _ in seen}) == 3


@PER_DIALECT
def test_a_request_of_the_agents_own_is_counted_apart(
    server: ReplayServer, http: httpx.Client, dialect: Dialect
) -> None:
    prompt = "Give this conversation a title."
    said = dialect.stream(post(server, http, dialect, prompt=prompt, tools=()).text)
    assert (said.text, said.calls) == ("Replay", [])
    count = server.count("r", thread="side")
    assert (count.requests, count.reported) == (1, Tokens(uncached=7, output=3))
    assert server.count("r", thread="main").requests == 0


SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
ASKED: dict[str, dict[str, Any]] = {
    "chat-completions": {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
    "messages": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    "responses": {"text": {"format": {"type": "json_schema", "strict": True, "schema": SCHEMA}}},
    "generate-content": {"generationConfig": {"responseJsonSchema": SCHEMA}},
}


@PER_DIALECT
@pytest.mark.parametrize(("task", "score"), [("judge", 1), ("ranked", 4)])
def test_where_json_is_asked_for_the_last_word_is_json(
    server: ReplayServer, http: httpx.Client, dialect: Dialect, task: str, score: int
) -> None:
    said = dialect.stream(post(server, http, dialect, task=task, **ASKED[dialect.name]).text)
    assert json.loads(said.text) == {"score": score}


@PER_DIALECT
def test_faults_of_a_request_are_told_in_the_clients_own_form(
    server: ReplayServer, http: httpx.Client, dialect: Dialect
) -> None:
    for response, words in (
        (post(server, http, dialect, task="nothing"), "no turns for the first invocation of task 'nothing'"),
        (post(server, http, dialect, done=results(1)), "no step begins after 1 tool results"),
        (post(server, http, dialect, tools=("dance",)), "offered: dance"),
    ):
        assert response.status_code in {404, 422}
        assert words in response.json()["error"]["message"]
    assert sum(server.count("r").errors.values()) == 3


@PER_DIALECT
def test_a_paced_stream_takes_its_time(
    server: ReplayServer, http: httpx.Client, dialect: Dialect, tmp_path: Path
) -> None:
    response = post(server, http, dialect, "pace20")
    assert dialect.stream(response.text).calls
    events = response.text.count("data: ")
    lines = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    while not lines:
        lines = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["seconds"] >= 0.02 * (events - 2)


@pytest.mark.parametrize(("dialect", "path"), [(MESSAGES, "/v1/messages/count_tokens"), (GENERATE, "")])
def test_tokens_are_counted_without_an_answer(
    server: ReplayServer, http: httpx.Client, dialect: Dialect, path: str
) -> None:
    base = server.url_for(run="r", scenario="demo/t")
    path = path or "/v1beta/models/m:countTokens"
    counted = http.post(base + path, json=dialect.body("m", PROMPT, ["bash"], [], False))
    assert counted.status_code == 200
    assert list(counted.json().values()) == [TURN.prompt]
    assert server.count("r").requests == 0


def test_generate_content_streams_a_json_list_to_those_who_ask_for_no_events(
    server: ReplayServer, http: httpx.Client
) -> None:
    url = server.url_for(run="r", scenario="demo/t") + "/v1beta/models/m:streamGenerateContent"
    response = http.post(url, json=GENERATE.body("m", PROMPT, ["bash"], [], True))
    assert response.headers["content-type"] == "application/json"
    bodies = response.json()
    assert [part["functionCall"]["args"] for body in bodies[1:] for part in _parts(body)] == [
        {"command": "ls"},
        {"command": "pwd"},
    ]
    assert bodies[-1]["usageMetadata"]["promptTokenCount"] == TURN.prompt


def _parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    parts = body["candidates"][0]["content"]["parts"]
    assert isinstance(parts, list)
    return parts


def test_thinking_is_shown_to_those_who_ask_for_it(server: ReplayServer, http: httpx.Client) -> None:
    silent = MESSAGES.stream(post(server, http, MESSAGES).text)
    asked = MESSAGES.stream(post(server, http, MESSAGES, thinking={"type": "adaptive"}).text)
    assert (silent.thought, bool(asked.thought)) == ("", True)
    assert silent.calls == asked.calls


def test_one_run_may_speak_several_protocols(server: ReplayServer, http: httpx.Client) -> None:
    for dialect in (CHAT, MESSAGES, RESPONSES):
        post(server, http, dialect)
    assert server.count("r").requests == 3
    assert server.count("r").told == Tokens(**USAGE) + Tokens(**FOLDED) + Tokens(**FOLDED)
    assert server.count("r", protocol="messages").told == TURN
