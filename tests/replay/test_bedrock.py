"""Amazon Bedrock's two protocols, read by its own client, which checks every frame and both checksums."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.eventstream import EventStreamBuffer
from botocore.exceptions import BotoCoreError, ClientError, EventStreamError
from hypothesis import given
from hypothesis import strategies as st
from urllib3.exceptions import HTTPError

from runner.replay import ReplayServer
from runner.replay.conversation import Answer, RequestFault, ToolCall
from runner.replay.converse import CONVERSE, usage_block
from runner.replay.event_stream import frame
from runner.replay.invoke import INVOKE
from runner.replay.routes import find_route
from runner.replay.scenario import parse_path
from runner.replay.turns import Tokens
from runner.replay.wire import Call
from tests.harnesses.rig import turn, write_cassette

MODEL = "us.vendor.model-1:0"
USAGE = {"fresh": 1000, "read": 20_000, "write": 300, "output": 40, "reasoning": 5}
TOOLS: list[dict[str, Any]] = [
    {
        "toolSpec": {
            "name": "bash",
            "description": "Run a command.",
            "inputSchema": {
                "json": {
                    "type": "object",
                    "properties": {"command": {"type": "string"}},
                    "required": ["command"],
                }
            },
        }
    }
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReplayServer]:
    turns = [turn(0, {"do": "shell", "command": "ls"}, say="looking"), turn(1, say="done")]
    with ReplayServer(write_cassette(tmp_path, turns, model=MODEL)) as running:
        yield running


def client(server: ReplayServer, run: str, *faults: str) -> Any:
    return boto3.client(
        "bedrock-runtime",
        endpoint_url=server.url_for(run=run, scenario="demo/t", faults=faults),
        region_name="eu-west-1",
        aws_access_key_id="AKIAEXAMPLE",
        aws_secret_access_key="no-secret",
        config=Config(retries={"total_max_attempts": 1}),
    )


def asked(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"text": f"workspace: /w\n{text}"}]}]


def events_body() -> dict[str, Any]:
    return {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "workspace: /w\nDo it."}],
        "tools": [{"name": "bash", "input_schema": TOOLS[0]["toolSpec"]["inputSchema"]["json"]}],
    }


def test_invoke_streams_the_events_of_messages(server: ReplayServer) -> None:
    got = client(server, "r1").invoke_model_with_response_stream(
        modelId=MODEL, body=json.dumps(events_body())
    )
    told = [json.loads(each["chunk"]["bytes"]) for each in got["body"]]
    kinds = [each["type"] for each in told]
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")
    assert "content_block_delta" in kinds
    usage = next(each["usage"] for each in told if each["type"] == "message_delta")
    assert usage["cache_read_input_tokens"] == USAGE["read"]
    assert told[-1]["amazon-bedrock-invocationMetrics"]["outputTokenCount"] == USAGE["output"]
    counted = server.count("r1", protocol="bedrock-invoke")
    assert (counted.requests, counted.told.uncached, counted.told.cache_write) == (1, 1000, 300)


def test_invoke_answers_whole_as_messages_do(server: ReplayServer) -> None:
    got = client(server, "r2").invoke_model(modelId=MODEL, body=json.dumps(events_body()))
    body = json.loads(got["body"].read())
    assert body["stop_reason"] == "tool_use"
    assert [block["type"] for block in body["content"]] == ["text", "tool_use"]
    assert body["usage"]["input_tokens"] == USAGE["fresh"]


def test_converse_streams_text_calls_and_usage(server: ReplayServer) -> None:
    got = client(server, "r3").converse_stream(
        modelId=MODEL, messages=asked("Do it."), toolConfig={"tools": TOOLS}
    )
    told = list(got["stream"])
    text = "".join(
        each["contentBlockDelta"]["delta"].get("text", "") for each in told if "contentBlockDelta" in each
    )
    start = next(each["contentBlockStart"] for each in told if "contentBlockStart" in each)
    stop = next(each["messageStop"] for each in told if "messageStop" in each)
    usage = next(each["metadata"]["usage"] for each in told if "metadata" in each)
    assert text == "looking"
    assert start["start"]["toolUse"]["name"] == "bash"
    assert stop["stopReason"] == "tool_use"
    assert usage == {
        "inputTokens": 1000,
        "outputTokens": 40,
        "totalTokens": 21_340,
        "cacheReadInputTokens": 20_000,
        "cacheWriteInputTokens": 300,
    }


def test_converse_plays_the_next_turn_once_the_tool_has_answered(server: ReplayServer) -> None:
    runtime = client(server, "r4")
    first = runtime.converse(modelId=MODEL, messages=asked("Do it."), toolConfig={"tools": TOOLS})
    message = first["output"]["message"]
    [call] = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    assert call["input"] == {"command": "ls"}
    result = {"toolUseId": call["toolUseId"], "content": [{"text": "a.py"}]}
    more = [message, {"role": "user", "content": [{"toolResult": result}]}]
    second = runtime.converse(modelId=MODEL, messages=[*asked("Do it."), *more], toolConfig={"tools": TOOLS})
    assert second["stopReason"] == "end_turn"
    assert second["output"]["message"]["content"] == [{"text": "done"}]
    counted = server.count("r4", protocol="bedrock-converse")
    assert (counted.requests, counted.told.output, counted.told.reasoning) == (2, 91, 0)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("e400", "ValidationException"),
        ("e403", "AccessDeniedException"),
        ("e429", "ThrottlingException"),
        ("e500", "InternalServerException"),
    ],
)
def test_a_scripted_error_is_one_that_the_client_knows_by_name(
    fault: str, kind: str, server: ReplayServer
) -> None:
    with pytest.raises(ClientError) as caught:
        client(server, "r5", fault).converse(modelId=MODEL, messages=asked("Do it."))
    assert caught.value.response["Error"]["Code"] == kind


def test_a_stream_that_breaks_off_ends_in_an_error_and_no_usage(server: ReplayServer) -> None:
    got = client(server, "r6", "cut").converse_stream(
        modelId=MODEL, messages=asked("Do it."), toolConfig={"tools": TOOLS}
    )
    heard: list[str] = []
    with suppress(BotoCoreError, EventStreamError, HTTPError, OSError):
        for each in got["stream"]:
            heard += each
    assert "metadata" not in heard
    assert server.count("r6").answered == 0


def test_a_model_that_is_an_arn_is_found_in_the_address() -> None:
    arn = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc"
    route = find_route(f"/model/{arn}/converse-stream", "")
    assert (route.wire, route.call.model, route.call.stream) == (CONVERSE, arn, True)
    assert find_route("/model/m/invoke", "").wire is INVOKE


@pytest.mark.parametrize("path", ["/model/m/other", "/model//invoke", "/model/invoke"])
def test_another_call_of_the_service_is_not_served(path: str) -> None:
    with pytest.raises(RequestFault, match="not served"):
        find_route(path, "")


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=60) | st.integers(), max_size=5))
def test_any_body_survives_framing_by_the_clients_own_decoder(body: dict[str, str | int]) -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(frame("chunk", body) + frame("end", {}))
    first, last = list(buffer)
    assert json.loads(first.payload) == body
    assert first.headers[":event-type"] == "chunk"
    assert last.headers[":event-type"] == "end"


@given(
    st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9), st.booleans()
)
def test_told_tokens_are_those_of_the_usage_block(
    fresh: int, read: int, write: int, output: int, detail: bool
) -> None:
    tokens = Tokens(uncached=fresh, cache_read=read, cache_write=write, output=output)
    block, told = usage_block(tokens, cache_detail=detail), CONVERSE.told(tokens, detail)
    assert block["inputTokens"] == told.uncached
    assert block.get("cacheReadInputTokens", 0) == told.cache_read
    assert block.get("cacheWriteInputTokens", 0) == told.cache_write
    assert block["totalTokens"] == told.prompt + told.output


def test_reasoning_is_shown_where_it_was_asked_for_and_signed() -> None:
    body = {
        "messages": asked("Do it."),
        "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1000}},
    }
    assert CONVERSE.read(body, Call("m", True)).thinking
    call = ToolCall("c", "bash", "no json")
    answer = Answer("id", "m", "", (call,), None, thought="I think")
    blocks: Any = CONVERSE.whole(answer, 0)
    content = blocks["output"]["message"]["content"]
    assert content[0]["reasoningContent"]["reasoningText"]["text"] == "I think"
    assert content[1]["toolUse"]["input"] == {"arguments": "no json"}
    assert "usage" not in blocks


@pytest.mark.parametrize("wire", [INVOKE, CONVERSE], ids=["invoke", "converse"])
@pytest.mark.parametrize("body", [{}, {"messages": 7}, {"messages": [7]}])
def test_a_request_without_messages_is_refused(wire: Any, body: dict[str, Any]) -> None:
    with pytest.raises(RequestFault, match="messages"):
        wire.read(body, Call("m", False))


@pytest.mark.parametrize("root", ["openai", "anthropic"])
def test_what_a_cloud_puts_before_a_vendors_own_paths_is_no_fault(root: str) -> None:
    found = parse_path(f"/r/run/demo/t/{root}/v1/messages")
    assert (found.run, found.task, found.rules, found.api_path) == ("run", "t", (), "/v1/messages")
    assert parse_path(f"/r/run/demo/{root}/v1/messages").task == root
