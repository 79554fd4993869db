"""What is sent: bodies of the three protocols, headers, keys, and what cannot be sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from runner.endpoint.address import EndpointAddress, build, serialise
from runner.endpoint.ask import AskRequest, Message, Protocol, Tool, ToolCall
from runner.errors import ConfigurationError
from tests.endpoint.exchanges import CHAT, MESSAGES, RESPONSES, question

HERE = EndpointAddress("http://127.0.0.1:8000/v1", "key-1")
SCHEMA: dict[str, JsonValue] = {"type": "object", "properties": {"id": {"type": "integer"}}}
TALK = (
    Message(role="user", content="Look."),
    Message(
        role="assistant",
        content="",
        tool_calls=(
            ToolCall(identifier="a", name="look", arguments='{"id":1}'),
            ToolCall(identifier="b", name="look", arguments="broken"),
        ),
    ),
    Message(role="tool", content="one", tool_call_id="a"),
    Message(role="tool", content="two", tool_call_id="b"),
)
FULL: dict[str, object] = {
    "messages": TALK,
    "system": "Be brief.",
    "tools": (Tool(name="look", description="Looks.", parameters=SCHEMA),),
    "tool_choice": "required",
    "max_output_tokens": 50,
    "temperature": 0.0,
    "seed": 7,
    "effort": "low",
    "stop": ("END",),
}


def body(protocol: Protocol, **more: object) -> dict[str, object]:
    found = json.loads(build(HERE, question(protocol, **more)).content)
    assert isinstance(found, dict)
    return found


def test_a_question_holds_what_it_must_and_nothing_that_was_not_set() -> None:
    plain = {"model": "m", "stream": True}
    asked = [{"role": "user", "content": "Say it."}]
    assert body(CHAT) == plain | {"messages": asked, "stream_options": {"include_usage": True}}
    blocks = [{"role": "user", "content": [{"type": "text", "text": "Say it."}]}]
    assert body(MESSAGES) == plain | {"messages": blocks, "max_tokens": 4096}
    part = {"type": "input_text", "text": "Say it."}
    item = {"type": "message", "role": "user", "content": [part]}
    assert body(RESPONSES) == plain | {"input": [item], "store": False}


def test_everything_set_is_said_in_chat_completions() -> None:
    found = body(CHAT, **FULL)
    messages = found["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "tool"]
    assert messages[2]["content"] is None
    assert messages[2]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"id":1}'}
    assert messages[4] == {"role": "tool", "content": "two", "tool_call_id": "b"}
    assert (found["max_tokens"], found["temperature"], found["seed"]) == (50, 0.0, 7)
    assert (found["reasoning_effort"], found["stop"], found["tool_choice"]) == ("low", ["END"], "required")
    assert "max_completion_tokens" in body(CHAT, **FULL, max_output_key="max_completion_tokens")


def test_everything_set_is_said_in_messages() -> None:
    found = body(MESSAGES, **FULL)
    messages = found["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert [block["input"] for block in messages[1]["content"]] == [{"id": 1}, {}]
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["a", "b"]
    assert (found["system"], found["max_tokens"], found["stop_sequences"]) == ("Be brief.", 50, ["END"])
    assert (found["tool_choice"], found["output_config"]) == ({"type": "any"}, {"effort": "low"})
    assert "seed" not in found


def test_everything_set_is_said_in_responses() -> None:
    found = body(RESPONSES, **FULL)
    items = found["input"]
    assert isinstance(items, list)
    kinds = ["message", "function_call", "function_call", "function_call_output", "function_call_output"]
    assert [item["type"] for item in items] == kinds
    assert (found["instructions"], found["max_output_tokens"]) == ("Be brief.", 50)
    assert (found["reasoning"], found["tool_choice"]) == ({"effort": "low"}, "required")


@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_tool_can_be_chosen_by_name(protocol: Protocol) -> None:
    assert "look" in json.dumps(body(protocol, **FULL | {"tool_choice": "look"})["tool_choice"])


@pytest.mark.parametrize("protocol", list(Protocol))
def test_parameters_add_replace_and_take_away(protocol: Protocol) -> None:
    found = body(protocol, temperature=0.5, parameters={"temperature": None, "stream": False, "top_k": 3})
    assert "temperature" not in found
    assert (found["stream"], found["top_k"]) == (False, 3)


@pytest.mark.parametrize("protocol", list(Protocol))
def test_reasoning_is_carried_back_where_the_protocol_wants_it(protocol: Protocol) -> None:
    carried: JsonValue = {"reasoning_details": [{"data": "sealed"}]}
    turn = Message(role="assistant", content="x", carried=(carried,))
    assert "sealed" in json.dumps(body(protocol, messages=(turn,)))


@pytest.mark.parametrize(
    ("protocol", "path", "header"),
    [
        (CHAT, b"/v1/chat/completions", "authorization: Bearer key-1"),
        (MESSAGES, b"/v1/v1/messages", "x-api-key: key-1"),
        (RESPONSES, b"/v1/responses", "authorization: Bearer key-1"),
    ],
)
def test_each_protocol_has_its_path_and_its_key(protocol: Protocol, path: bytes, header: str) -> None:
    sent = serialise(build(HERE, question(protocol)))
    head, _, content = sent.partition(b"\r\n\r\n")
    assert head.startswith(b"POST " + path + b" HTTP/1.1\r\n")
    assert header.encode() in head
    assert b"accept-encoding: identity" in head
    assert b"content-length: %d" % len(content) in head.lower()
    assert b"127.0.0.1:8000" in head


def test_headers_of_the_address_and_the_request_are_sent_the_request_last() -> None:
    address = EndpointAddress("http://h/v1", headers={"X-No-Cache": "true", "x-a": "1"})
    built = build(address, question(headers={"X-A": "2"}))
    assert (built.headers["x-no-cache"], built.headers["x-a"]) == ("true", "2")
    assert "authorization" not in built.headers


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Accept-Encoding"])
def test_headers_that_would_break_the_measurement_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="set by the client itself"):
        build(HERE, question(headers={name: "x"}))


@pytest.mark.parametrize("value", ["a\r\nx-injected: 1", "a\nb", "a\x00b"])
def test_a_header_that_would_hide_another_is_refused_without_its_value(value: str) -> None:
    address = EndpointAddress("http://h/v1", api_key=value)
    with pytest.raises(ConfigurationError) as found:
        serialise(build(address, question()))
    assert "injected" not in str(found.value)


def test_a_key_that_no_header_can_hold_is_refused_without_being_told() -> None:
    with pytest.raises(ConfigurationError) as found:
        build(EndpointAddress("http://h/v1", api_key="schlüssel–"), question())
    assert "schl" not in str(found.value)


@pytest.mark.parametrize("url", ["", "h/v1", "ftp://h", "http://", "http://user:secret@h/v1", "http://h:x"])
def test_what_is_no_address_is_refused_and_a_password_in_it_is_not_told(url: str) -> None:
    with pytest.raises(ConfigurationError) as found:
        build(EndpointAddress(url), question())
    assert "secret" not in str(found.value)


def test_the_key_is_not_in_the_repr() -> None:
    assert "key-1" not in repr(HERE)


def test_certificates_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="certificates"):
        EndpointAddress("https://h/v1", authority=tmp_path / "none.pem").tls()
    assert EndpointAddress("http://h/v1").tls() is None


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.8.0.1/v1", True),
        ("http://[::1]/v1", True),
        ("https://h", False),
    ],
)
def test_an_address_on_this_machine_is_known_as_such(url: str, local: bool) -> None:
    assert EndpointAddress(url).local is local


def test_a_request_is_frozen_and_goes_through_json() -> None:
    asked = question(CHAT, **FULL)
    assert AskRequest.model_validate_json(asked.model_dump_json()) == asked
