"""The replay server over real sockets: protocol, counts, faults, and how it stops."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from runner.errors import ConfigurationError
from runner.replay import ReplayServer, RunCount, Tokens, serve
from tests.replay.tapes import THREE, TOOLS, USAGE, request, tape

TURN = Tokens(**USAGE)
CHAT = "/v1/chat/completions"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReplayServer]:
    with ReplayServer(tape(tmp_path / "tapes"), log=tmp_path / "log.jsonl") as running:
        yield running


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=60, trust_env=False) as client:
        yield client


def url(server: ReplayServer, *faults: str, run: str = "r", scenario: str = "demo/t") -> str:
    return server.url_for(run=run, scenario=scenario, faults=faults) + CHAT


def events(text: str) -> list[dict[str, object]]:
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def test_health_and_models_answer_without_a_scenario(server: ReplayServer, http: httpx.Client) -> None:
    assert http.get(server.base_url + "/health").json() == {"status": "ok"}
    models = http.get(server.base_url + "/v1/models").json()
    assert [(entry["id"], entry["max_model_len"]) for entry in models["data"]] == [("m", 4096)]
    prefixed = server.url_for(run="r", scenario="demo/t") + "/v1/models"
    assert http.get(prefixed).json() == models
    assert http.get(server.url_for(run="r", scenario="nope/t") + "/v1/models").json()["data"] == []


def test_a_whole_answer_calls_the_tools_on_offer_and_tells_the_usage(
    server: ReplayServer, http: httpx.Client
) -> None:
    body = http.post(url(server), json=request()).json()
    message = body["choices"][0]["message"]
    assert body["choices"][0]["finish_reason"] == "tool_calls"
    assert message["content"] == "hello"
    called = [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message["tool_calls"]
    ]
    assert called == [("read_file", {"path": "a.py"}), ("run_command", {"command": "ls"})]
    assert len({call["id"] for call in message["tool_calls"]}) == 2
    assert body["usage"] == {
        "prompt_tokens": TURN.prompt,
        "completion_tokens": 41,
        "total_tokens": TURN.prompt + 41,
        "prompt_tokens_details": {"cached_tokens": 2003},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }


def test_the_last_turn_ends_with_stop(server: ReplayServer, http: httpx.Client) -> None:
    choice = http.post(url(server), json=request(3)).json()["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["message"] == {"role": "assistant", "content": "done"}


def test_a_streamed_answer_is_the_same_in_pieces(server: ReplayServer, http: httpx.Client) -> None:
    whole = http.post(url(server), json=request()).json()["choices"][0]["message"]
    response = http.post(url(server), json=request(stream=True))
    assert response.headers["content-type"].startswith("text/event-stream")
    calls: dict[int, dict[str, str]] = {}
    text, finish = "", None
    for event in events(response.text):
        assert event["object"] == "chat.completion.chunk"
        choices = event["choices"]
        assert isinstance(choices, list)
        delta, finish = choices[0]["delta"], choices[0]["finish_reason"] or finish
        text += delta.get("content") or ""
        for call in delta.get("tool_calls", []):
            entry = calls.setdefault(call["index"], {"id": call.get("id"), "name": "", "arguments": ""})
            entry["name"] += call["function"].get("name", "")
            entry["arguments"] += call["function"].get("arguments", "")
    assert (text, finish) == (whole["content"], "tool_calls")
    assert [(call["id"], call["name"], call["arguments"]) for call in calls.values()] == [
        (call["id"], call["function"]["name"], call["function"]["arguments"]) for call in whole["tool_calls"]
    ]


def test_a_stream_tells_usage_only_when_asked_and_then_in_a_chunk_without_choices(
    server: ReplayServer, http: httpx.Client
) -> None:
    silent = events(http.post(url(server), json=request(stream=True)).text)
    assert all("usage" not in event for event in silent)
    options = {"include_usage": True}
    told = events(http.post(url(server), json=request(stream=True, stream_options=options)).text)
    assert told[-1]["choices"] == []
    usage = told[-1]["usage"]
    assert isinstance(usage, dict)
    assert usage["prompt_tokens"] == TURN.prompt
    count = server.count("r")
    assert (count.reported, count.unreported, count.unreported_answers) == (TURN, TURN, 1)


def test_a_repeated_request_gets_the_same_answer(server: ReplayServer, http: httpx.Client) -> None:
    first, second = (http.post(url(server), json=request(2)).json() for _ in range(2))
    assert first["choices"] == second["choices"]
    assert first["id"] == second["id"]


def test_every_run_is_counted_for_itself(server: ReplayServer, http: httpx.Client) -> None:
    for run, times in (("one", 1), ("two/x y", 3)):
        for _ in range(times):
            http.post(url(server, run=run), json=request())
    assert server.count("one").reported == TURN
    two = server.count("two/x y")
    assert (two.requests, two.answered) == (3, 3)
    assert two.reported == TURN + TURN + TURN
    assert server.count("nobody") == RunCount()


def test_the_count_can_be_asked_for_over_http(server: ReplayServer, http: httpx.Client) -> None:
    http.post(url(server, "first1-e503", run="a/b"), json=request())
    http.post(url(server, "first1-e503", run="a/b"), json=request())
    count = http.get(server.base_url + "/count/a%2Fb").json()
    assert (count["requests"], count["answered"], count["errors"]) == (2, 1, {"503": 1})
    assert count["reported"] == USAGE


def test_counts_stay_exact_with_many_clients_at_once(server: ReplayServer) -> None:
    def work(number: int) -> None:
        with httpx.Client(trust_env=False, timeout=60) as client:
            for _ in range(20):
                client.post(url(server, run=f"run-{number % 2}"), json=request()).raise_for_status()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    for run in ("run-0", "run-1"):
        count = server.count(run)
        assert (count.requests, count.answered) == (80, 80)
        assert count.reported.output == 80 * TURN.output


@pytest.mark.parametrize(
    ("scenario", "body", "status", "code", "words"),
    [
        ("nope/t", request(), 404, "unknown_dataset", "no cassette for dataset 'nope'; known: demo"),
        ("demo/tt", request(), 404, "unknown_task", "did you mean 't'?"),
        ("demo/t", request(model="mm"), 404, "model_not_found", "did you mean 'm'?"),
        (
            "demo/t",
            request(1),
            404,
            "unknown_step",
            "no step begins after 1 tool results; steps begin after 0, 2, 3",
        ),
        ("demo/t", request(9), 404, "unknown_step", "after 9 tool results"),
        ("demo/t", request(tools=[]), 422, "no_fitting_tool", "offered: none"),
        ("demo/t", {"messages": []}, 400, "missing_model", "'model' is missing"),
        ("demo/t", {"model": "m"}, 400, "missing_messages", "'messages' is missing"),
        ("demo/t", {"model": "m", "messages": [1]}, 400, "missing_messages", "'messages'"),
    ],
)
def test_what_is_missing_is_said_in_the_clients_own_error_form(
    server: ReplayServer,
    http: httpx.Client,
    scenario: str,
    body: object,
    status: int,
    code: str,
    words: str,
) -> None:
    response = http.post(url(server, scenario=scenario), json=body)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code)
    assert words in error["message"]
    assert server.count("r").errors == {status: 1}


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"[" * 200_000])
def test_a_body_that_is_no_object_is_refused(server: ReplayServer, http: httpx.Client, raw: bytes) -> None:
    response = http.post(url(server), content=raw)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_json")


def test_strange_messages_are_read_as_far_as_they_go(server: ReplayServer, http: httpx.Client) -> None:
    parts = [{"type": "text", "text": "workspace: /w"}, {"type": "image"}, 7]
    messages = [{"role": "user", "content": parts}, {"role": "system"}, {"role": "user", "content": None}]
    body = {"model": "m", "messages": messages, "tools": [*TOOLS, 7, {"function": {"name": 1}}]}
    assert http.post(url(server), json=body).status_code == 200


def test_wrong_paths_are_refused_with_the_form_they_should_have(
    server: ReplayServer, http: httpx.Client
) -> None:
    for path in (
        "/v1/chat/completions",
        "/r/x/v1/chat/completions",
        "/",
        "/r/x/demo/t/oops/v1/chat/completions",
    ):
        response = http.post(server.base_url + path, json=request())
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "unknown_scenario"
    unknown = http.post(server.url_for(run="r", scenario="demo/t") + "/v1/completions", json={})
    assert "this server speaks /v1/chat/completions, /v1/messages" in unknown.json()["error"]["message"]
    assert http.get(server.base_url + "/nothing").status_code == 404
    assert http.request("PUT", server.base_url + "/health").status_code == 501


def test_a_body_without_length_or_beyond_the_limit_is_refused_unread(server: ReplayServer) -> None:
    for header, status in (
        ("", b"411"),
        ("Content-Length: 99999999999\r\n", b"413"),
        ("Content-Length: -1\r\n", b"411"),
    ):
        host, port = server.base_url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as raw:
            path = url(server).removeprefix(server.base_url)
            raw.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\n{header}\r\n".encode())
            assert raw.recv(100).split()[1] == status


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_an_error_on_request_has_its_status_and_counts_no_tokens(
    server: ReplayServer, http: httpx.Client, status: int
) -> None:
    response = http.post(url(server, f"e{status}", "retryafter7"), json=request())
    assert response.status_code == status
    assert response.headers.get("retry-after") == ("7" if status == 429 else None)
    assert response.json()["error"]["message"] == f"scripted error {status}"
    count = server.count("r")
    assert (count.errors, count.answered, count.reported) == ({status: 1}, 0, Tokens())


def test_the_first_requests_of_a_run_fail_and_the_next_do_not(
    server: ReplayServer, http: httpx.Client
) -> None:
    def statuses(run: str) -> list[int]:
        return [http.post(url(server, "first2-e500", run=run), json=request()).status_code for _ in range(4)]

    assert statuses("one") == [500, 500, 200, 200]
    assert statuses("two") == [500, 500, 200, 200]


def test_a_late_error_waits_for_the_first_tool_result(server: ReplayServer, http: httpx.Client) -> None:
    assert http.post(url(server, "late-e500"), json=request(0)).status_code == 200
    assert http.post(url(server, "late-e500"), json=request(2)).status_code == 500


def test_a_delay_is_kept(server: ReplayServer, http: httpx.Client) -> None:
    began = time.monotonic()
    http.post(url(server, "slow200"), json=request()).raise_for_status()
    assert time.monotonic() - began >= 0.2


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("fault", ["cut", "malformed"])
def test_an_answer_that_breaks_off_is_counted_but_not_as_reported(
    server: ReplayServer, http: httpx.Client, fault: str, stream: bool
) -> None:
    options = {"include_usage": True}
    body = request(stream=stream, stream_options=options)
    try:
        text = http.post(url(server, fault), json=body).text
    except httpx.RemoteProtocolError:
        text = ""
    assert "[DONE]" not in text
    count = server.count("r")
    assert (count.answered, count.broken, count.unreported) == (0, 1, TURN)
    assert count.reported == Tokens()


def test_usage_and_cache_detail_are_left_out_on_request(server: ReplayServer, http: httpx.Client) -> None:
    assert "usage" not in http.post(url(server, "nousage"), json=request()).json()
    usage = http.post(url(server, "nocache"), json=request()).json()["usage"]
    assert set(usage) == {"prompt_tokens", "completion_tokens", "total_tokens"}
    assert server.count("r").unreported == TURN


def test_faults_may_hold_for_the_whole_server(tmp_path: Path, http: httpx.Client) -> None:
    with ReplayServer(tape(tmp_path), faults=["first1-e500"]) as server:
        assert [http.post(url(server), json=request()).status_code for _ in range(2)] == [500, 200]
    with pytest.raises(ConfigurationError, match="unknown fault 'e7'; faults are"):
        ReplayServer(tmp_path, faults=["e7"])


def test_the_log_holds_one_line_per_request(server: ReplayServer, http: httpx.Client, tmp_path: Path) -> None:
    http.post(url(server), json=request(2), headers={"User-Agent": "agent/1"})
    http.post(url(server, "e429"), json=request())
    http.post(url(server), content=b"{")
    deadline = time.monotonic() + 60
    lines: list[dict[str, object]] = []
    while len(lines) < 3 and time.monotonic() < deadline:
        lines = [
            json.loads(line) for line in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
        ]
    assert [line["status"] for line in lines] == [200, 429, 400]
    assert lines[0]["agent"] == "agent/1"
    assert lines[0]["usage"] == USAGE
    assert (lines[0]["step"], lines[0]["tool_results"], lines[0]["calls"]) == (1, 2, ["create_file"])
    assert lines[0]["tools"] == ["read_file", "create_file", "run_command"]


def test_a_server_that_is_not_running_says_so(tmp_path: Path) -> None:
    server = ReplayServer(tape(tmp_path))
    with pytest.raises(ConfigurationError, match="not running"):
        _ = server.base_url
    with pytest.raises(ConfigurationError, match="never started"):
        server.count("r")


def test_a_taken_port_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(ConfigurationError, match="cannot listen"),
            ReplayServer(tape(tmp_path), port=port),
        ):
            pytest.fail("it listens on a taken port")


def test_a_log_that_cannot_be_written_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="log"), ReplayServer(tape(tmp_path), log=tmp_path):
        pytest.fail("it writes into a folder")


def test_serving_alone_tells_its_address_and_ends_when_told(tmp_path: Path) -> None:
    ended, addresses = threading.Event(), []

    def started(address: str) -> None:
        addresses.append(address)
        assert httpx.get(address + "/health", trust_env=False).json() == {"status": "ok"}
        ended.set()

    serve(tape(tmp_path), started=started, port=0, until=ended)
    assert len(addresses) == 1
    with pytest.raises(httpx.ConnectError):
        httpx.get(addresses[0] + "/health", trust_env=False)


def test_the_marks_of_a_turn_are_filled_from_the_prompt(server: ReplayServer, http: httpx.Client) -> None:
    call = http.post(url(server), json=request(2)).json()["choices"][0]["message"]["tool_calls"][0]
    assert json.loads(call["function"]["arguments"]) == {"path": "/a/n.md", "content": "see /w"}
    assert len(THREE) == 3
