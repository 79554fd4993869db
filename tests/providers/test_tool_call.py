"""The tool-call test: what an agent could do nothing with is told apart, over each API."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.providers.tool_call import tool_call_fault
from tests.providers.vllm_standin import RAW, Answer, chat, messages, responses, streamed

SHAPES: dict[WireProtocol, Callable[[Answer], Mapping[str, object]]] = {
    WireProtocol.CHAT_COMPLETIONS: chat,
    WireProtocol.RESPONSES: responses,
    WireProtocol.MESSAGES: messages,
}
GOOD: Answer = ([("read_file", {"path": "notes/plan.txt"})], "", False)
EVERY = pytest.mark.parametrize("protocol", sorted(SHAPES))


PATHS = {
    WireProtocol.CHAT_COMPLETIONS: "/v1/chat/completions",
    WireProtocol.RESPONSES: "/v1/responses",
    WireProtocol.MESSAGES: "/v1/messages",
}


def stream(protocol: WireProtocol, answer: Answer) -> httpx.Response:
    """The answer as a stream of events."""
    events = streamed(PATHS[protocol], SHAPES[protocol](answer))
    lines = [f"event: x\ndata: {json.dumps(event)}\n\n" for event in events]
    return httpx.Response(200, text="".join([*lines, "data: [DONE]\n\n"]))


def fault(protocol: WireProtocol, *answers: object) -> str:
    """The complaint about answers that come one after the other; empty where there is none."""
    left = list(answers)

    def answer(_: httpx.Request) -> httpx.Response:
        found = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(found, Exception):
            raise found
        if isinstance(found, httpx.Response):
            return found
        return httpx.Response(200, json=found)

    endpoint = Endpoint("http://h/v1", protocol, "m", "key-0123456789")
    found = tool_call_fault(endpoint, httpx.MockTransport(answer), seconds=1)
    if found is None:
        return ""
    assert found.fix
    return found.what


@EVERY
def test_a_call_as_the_api_has_it_passes(protocol: WireProtocol) -> None:
    assert fault(protocol, SHAPES[protocol](GOOD)) == ""


@EVERY
def test_streamed_answers_are_judged_by_the_same_rules(protocol: WireProtocol) -> None:
    assert fault(protocol, stream(protocol, GOOD)) == ""
    assert "as text" in fault(protocol, stream(protocol, ([], RAW, False)))
    assert "in words" in fault(protocol, stream(protocol, ([], "A plan.", False)))
    assert "cut off" in fault(protocol, stream(protocol, ([], "Let me", True)))
    assert "cannot be read" in fault(protocol, stream(protocol, ([("read_file", '{"path": "a')], "", False)))


@EVERY
@pytest.mark.parametrize(
    "text",
    [
        "data: {\n",
        "data: 7\n",
        'data: {"type": "error", "error": {}}\n',
        'data: {"error": "x"}\n',
        "data: []\n",
    ],
)
def test_a_broken_stream_is_no_answer(protocol: WireProtocol, text: str) -> None:
    assert "none of the API" in fault(protocol, httpx.Response(200, text=text))


@EVERY
@pytest.mark.parametrize(
    "text",
    [
        RAW,
        "<function=read_file>\n<parameter=path>a</parameter>",
        '[TOOL_CALLS][{"name": "read_file"}]',
        '<|python_tag|>{"name": "read_file"}',
        '<function name="read_file"><param name="path">a</param></function>',
        "<|tool_calls_section_begin|>",
        '{"name": "read_file", "arguments": {"path": "a"}}',
        "<minimax:tool_call>",
    ],
)
def test_a_call_in_the_models_own_tokens_is_told_from_words(protocol: WireProtocol, text: str) -> None:
    said = fault(protocol, SHAPES[protocol](([], f"I will. {text}", False)))
    assert "comes back as text" in said
    assert "\n" not in said


@EVERY
def test_words_get_a_second_chance_and_raw_tokens_none(protocol: WireProtocol) -> None:
    shape = SHAPES[protocol]
    words: Answer = ([], "It holds a plan.", False)
    assert fault(protocol, shape(words), shape(GOOD)) == ""
    assert "in words" in fault(protocol, shape(words), shape(words))
    assert "as text" in fault(protocol, shape(([], RAW, False)), shape(GOOD))


@EVERY
def test_an_answer_that_was_cut_off_is_said_to_be(protocol: WireProtocol) -> None:
    assert "cut off" in fault(protocol, SHAPES[protocol](([], "Let me think", True)))


@EVERY
@pytest.mark.parametrize("arguments", ['{"path": "a', "{}", '{"path": 7}', "[]", ""])
def test_arguments_that_cannot_be_read_are_a_fault(protocol: WireProtocol, arguments: str) -> None:
    given_as: object = arguments
    if protocol is WireProtocol.MESSAGES:
        given_as = json.loads(arguments) if arguments in {"{}", '{"path": 7}', "[]"} else arguments
    assert "cannot be read" in fault(protocol, SHAPES[protocol](([("read_file", given_as)], "", False)))


@EVERY
def test_a_call_of_another_tool_is_a_fault(protocol: WireProtocol) -> None:
    assert "'ls'" in fault(protocol, SHAPES[protocol](([("ls", {"path": "a"})], "", False)))


@EVERY
def test_a_server_that_keeps_silent_refuses_or_breaks_off_is_told_apart(protocol: WireProtocol) -> None:
    assert "no answer within 1 s" in fault(protocol, httpx.ReadTimeout("slow"))
    assert "broke" in fault(protocol, httpx.RemoteProtocolError("gone"))
    refusal = httpx.Response(400, json={"error": {"message": '"auto" tool choice requires a parser'}})
    said = fault(protocol, refusal)
    assert "(400)" in said
    assert "requires a parser" in said


@EVERY
def test_an_answer_without_an_end_is_not_read_for_ever(protocol: WireProtocol) -> None:
    def drips() -> Iterator[bytes]:
        while True:
            yield b"data: {}\n\n" * 20_000

    assert "had no end" in fault(protocol, httpx.Response(200, content=drips()))


@EVERY
@pytest.mark.parametrize("body", [{}, [], 7, None, {"choices": []}, {"output": 1}, {"content": [1]}])
def test_nonsense_is_no_answer_of_the_api(protocol: WireProtocol, body: object) -> None:
    assert fault(protocol, httpx.Response(200, json=body))


KEYS = st.sampled_from(["choices", "message", "output", "content", "type", "name"])


@given(st.recursive(st.none() | st.booleans() | st.text(max_size=5), lambda each: st.lists(each, max_size=3)
                    | st.dictionaries(KEYS, each, max_size=3), max_leaves=8))  # fmt: skip
def test_any_json_is_judged_without_an_exception(body: object) -> None:
    for protocol in SHAPES:
        assert fault(protocol, httpx.Response(200, json=body))


def test_the_key_goes_into_the_header_of_its_api_and_into_no_message() -> None:
    seen: list[httpx.Request] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(401, text="who are you?")

    for protocol in SHAPES:
        found = tool_call_fault(
            Endpoint("http://h", protocol, "m", "key-0123456789"), httpx.MockTransport(refuse)
        )
        assert found is not None
        assert "key-0123456789" not in found.what + found.fix
    assert all(each.headers["authorization"] == "Bearer key-0123456789" for each in seen)
    assert [each.headers.get("x-api-key") for each in seen] == [None, None, "key-0123456789"]
