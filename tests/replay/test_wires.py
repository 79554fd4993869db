"""Every protocol says the same things: streams read by an independent reader equal whole answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.replay.chat import CHAT
from runner.replay.conversation import Answer, RequestFault, ToolCall
from runner.replay.generate import GENERATE_CONTENT
from runner.replay.messages import MESSAGES
from runner.replay.responses import RESPONSES
from runner.replay.turns import Tokens
from runner.replay.wire import Call, Wire
from tests.replay import dialects
from tests.replay.dialects import Dialect, Done, Said

PAIRS: tuple[tuple[Wire, Dialect], ...] = (
    (CHAT, dialects.CHAT),
    (MESSAGES, dialects.MESSAGES),
    (RESPONSES, dialects.RESPONSES),
    (GENERATE_CONTENT, dialects.GENERATE),
)
EACH = pytest.mark.parametrize(("wire", "dialect"), PAIRS, ids=[dialect.name for _, dialect in PAIRS])

NUMBERS = st.integers(0, 10**9)
TOKENS = st.builds(
    lambda uncached, read, write, said, thought: Tokens(
        uncached=uncached, cache_read=read, cache_write=write, output=said + thought, reasoning=thought
    ),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
)
TEXTS = st.text(max_size=120)
ARGUMENTS = st.dictionaries(st.text(max_size=8), TEXTS | st.integers() | st.booleans(), max_size=4)
CALLS = st.lists(st.tuples(st.sampled_from(["bash", "read_file", "x"]), ARGUMENTS), max_size=4)


def answer(
    text: str, calls: list[tuple[str, dict[str, Any]]], usage: Tokens | None, *, cache_detail: bool = True
) -> Answer:
    listed = tuple(
        ToolCall(f"call_{number}", name, json.dumps(arguments))
        for number, (name, arguments) in enumerate(calls)
    )
    return Answer("replay-1", "m", text, listed, usage, cache_detail)


def streamed(wire: Wire, dialect: Dialect, given_answer: Answer) -> Said:
    return dialect.stream(b"".join(wire.events(given_answer, 7)).decode())


@EACH
@settings(max_examples=50)
@given(text=TEXTS, calls=CALLS, usage=TOKENS, detail=st.booleans())
def test_a_stream_says_what_a_whole_answer_says(
    wire: Wire,
    dialect: Dialect,
    text: str,
    calls: list[tuple[str, dict[str, Any]]],
    usage: Tokens,
    detail: bool,
) -> None:
    said = answer(text, calls, usage, cache_detail=detail)
    whole = dialect.whole(json.loads(json.dumps(wire.whole(said, 7))))
    stream = streamed(wire, dialect, said)
    assert (stream.text, stream.calls, stream.stop, stream.model) == (
        whole.text,
        whole.calls,
        whole.stop,
        "m",
    )
    assert whole.text == text
    assert [(name, arguments) for _, name, arguments in whole.calls] == calls
    assert len({identifier for identifier, _, _ in whole.calls}) == len(calls)
    assert stream.usage is not None
    assert whole.usage is not None
    known = wire.told(usage, detail).model_dump()
    assert dialect.classes(stream.usage) == dialect.classes(whole.usage) == known


@EACH
@given(usage=TOKENS, detail=st.booleans())
def test_no_token_is_lost_by_folding(wire: Wire, dialect: Dialect, usage: Tokens, detail: bool) -> None:
    told = wire.told(usage, detail)
    assert (told.prompt, told.output) == (usage.prompt, usage.output)
    assert told.cache_write in ({0, usage.cache_write} if wire is MESSAGES else {0})
    if not detail:
        assert told.cache_read == told.cache_write == 0
    started = wire.told_at_start(usage, detail)
    assert started.output <= 1
    assert started.prompt == (usage.prompt if wire is MESSAGES else 0)


@EACH
def test_an_answer_without_usage_tells_none_or_zeros(wire: Wire, dialect: Dialect) -> None:
    said = answer("hello", [], None)
    assert dialect.whole(wire.whole(said, 7)).usage is None
    usage = streamed(wire, dialect, said).usage
    # A stream of Messages cannot begin without usage: its clients read it there.
    assert usage is None or not any(dialect.classes(usage).values())
    assert (usage is None) == (wire is not MESSAGES)


@EACH
def test_reasoning_is_shown_only_where_it_has_a_place(wire: Wire, dialect: Dialect) -> None:
    said = Answer("replay-1", "m", "so", (), Tokens(output=9, reasoning=4), thought="because of this")
    shown = {stream.thought for stream in (streamed(wire, dialect, said), dialect.whole(wire.whole(said, 7)))}
    assert shown == ({"because of this"} if wire in (MESSAGES, GENERATE_CONTENT) else {""})
    assert streamed(wire, dialect, said).text == "so"


@EACH
@given(results=st.lists(st.integers(0, 3), max_size=5), prompt=st.text(max_size=60))
def test_a_conversation_is_counted_by_its_tool_results(
    wire: Wire, dialect: Dialect, results: list[int], prompt: str
) -> None:
    done = [
        Done(Said("t", [(f"c{number}", "bash", {"command": "x"}) for number in range(count)]), ["r"] * count)
        for count in results
    ]
    body = dialect.body("m", prompt, ["bash"], done, True)
    read = wire.read(body, Call("m", True))
    assert read.tool_results == sum(results) == len(read.results)
    assert prompt in read.prompt
    assert (read.model, read.stream, read.wants_usage) == ("m", True, True)
    assert [tool.name for tool in read.tools] == ["bash"]


@EACH
def test_what_users_say_later_is_no_part_of_the_prompt(wire: Wire, dialect: Dialect) -> None:
    body = dialect.body("m", "skill: one", ["bash"], [Done(Said("t"), [])], False)
    later = {
        "messages": {"role": "user", "content": "skill: two"},
        "input": {"type": "message", "role": "user", "content": "skill: two"},
        "contents": {"role": "user", "parts": [{"text": "skill: two"}]},
    }
    answered = {"input": {"type": "message", "role": "assistant", "content": "t"}}
    key = next(key for key in later if key in body)
    body[key] += [answered[key]] if key in answered else []
    body[key].append(later[key])
    read = wire.read(body, Call("m"))
    assert "skill: two" not in read.prompt
    assert read.skill == "one"


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
KEYS = (
    "model",
    "messages",
    "input",
    "contents",
    "tools",
    "stream",
    "stream_options",
    "text",
    "thinking",
    "response_format",
    "generationConfig",
    "output_config",
)


@EACH
@settings(max_examples=60)
@given(body=st.dictionaries(st.sampled_from(KEYS), JUNK), entries=st.lists(JUNK, max_size=3))
def test_a_hostile_body_is_read_or_refused_and_never_breaks(
    wire: Wire, dialect: Dialect, body: dict[str, Any], entries: list[Any]
) -> None:
    message = {"role": "user", "content": entries, "parts": entries, "output": entries, "type": "message"}
    body = {"model": "m", **body}
    for key in ("messages", "input", "contents"):
        body.setdefault(key, [message])
    statuses = []
    try:
        read = wire.read(body, Call("m", True))
    except RequestFault as fault:
        statuses.append(fault.status)
    else:
        assert read.tool_results == len(read.results)
        assert isinstance(read.prompt + read.thread + read.invocation, str)
    assert statuses in ([], [400])


@EACH
@pytest.mark.parametrize(("status", "code"), [(400, "a"), (404, "b"), (429, "c"), (500, "d"), (529, "e")])
def test_an_error_has_a_message_where_clients_look_for_it(
    wire: Wire, dialect: Dialect, status: int, code: str
) -> None:
    error = wire.error(status, "what happened", code)["error"]
    assert isinstance(error, Mapping)
    assert error["message"] == "what happened"
    assert error.get("type") or error.get("status")


def test_arguments_that_are_no_object_are_streamed_as_written_or_put_under_a_name() -> None:
    said = Answer("replay-1", "m", "", (ToolCall("c", "bash", '{"half": '),), Tokens())
    assert "half" in b"".join(MESSAGES.events(said, 7)).decode()
    content = MESSAGES.whole(said, 7)["content"]
    assert isinstance(content, list)
    assert content[0]["input"] == {"arguments": '{"half": '}
    assert dialects.GENERATE.whole(GENERATE_CONTENT.whole(said, 7)).calls == [
        ("c", "bash", {"arguments": '{"half": '})
    ]


def test_responses_offers_tools_in_groups_and_tools_of_plain_text() -> None:
    tools = [
        {"type": "function", "name": "exec_command", "parameters": {"type": "object"}},
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
        {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "spawn_agent"}, 7]},
        {"type": "web_search"},
        {"type": "function"},
    ]
    read = RESPONSES.read({"model": "m", "input": "hello", "tools": tools}, Call())
    assert [(tool.name, tool.namespace, tool.freeform) for tool in read.tools] == [
        ("exec_command", None, False),
        ("apply_patch", None, True),
        ("spawn_agent", "agents", False),
    ]
    calls = (
        ToolCall("a", "spawn_agent", "{}", namespace="agents"),
        ToolCall("b", "apply_patch", "*** Begin Patch\n", freeform=True),
    )
    said = Answer("replay-1", "m", "", calls, Tokens())
    output = RESPONSES.whole(said, 7)["output"]
    assert isinstance(output, list)
    assert [item.get("namespace") for item in output] == ["agents", None]
    assert streamed(RESPONSES, dialects.RESPONSES, said).calls[1] == ("b", "apply_patch", "*** Begin Patch\n")


def test_results_of_every_kind_of_responses_call_count() -> None:
    kinds = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
    items = [{"type": kind, "call_id": kind, "output": f"of {kind}"} for kind in kinds]
    read = RESPONSES.read({"model": "m", "input": [{"role": "user", "content": "p"}, *items]}, Call())
    assert read.results == tuple(f"of {kind}" for kind in kinds)


def test_responses_that_build_on_a_stored_one_are_refused() -> None:
    with pytest.raises(RequestFault, match="send the whole conversation"):
        RESPONSES.read({"model": "m", "input": "x", "previous_response_id": "resp_1"}, Call())


def test_generate_content_needs_a_model_in_its_address() -> None:
    with pytest.raises(RequestFault, match="names no model"):
        GENERATE_CONTENT.read({"contents": []}, Call())


SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (
            CHAT,
            {"messages": [], "response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
        ),
        (
            MESSAGES,
            {"messages": [], "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        ),
        (RESPONSES, {"input": "x", "text": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
        (
            GENERATE_CONTENT,
            {
                "contents": [],
                "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA},
            },
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Wire) else "",
)
def test_the_output_form_that_is_asked_for_is_found(wire: Wire, body: dict[str, Any]) -> None:
    assert wire.read({"model": "m", **body}, Call("m")).schema == SCHEMA


@pytest.mark.parametrize("said", ["Runs a command", 7, None])
def test_what_a_tool_says_of_itself_is_read_in_every_protocol(said: object) -> None:
    function = {"name": "bash", "description": said, "parameters": {}}
    heard = said if isinstance(said, str) else ""
    talks = (
        (CHAT, {"messages": [], "tools": [{"type": "function", "function": function}]}),
        (MESSAGES, {"messages": [], "tools": [function]}),
        (RESPONSES, {"input": "x", "tools": [{"type": "function", **function}]}),
    )
    for protocol, body in talks:
        read = protocol.read({"model": "m", **body}, Call())
        assert [tool.description for tool in read.tools] == [heard]
