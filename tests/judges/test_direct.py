"""The direct judge: what it sends in each protocol, what it reads, and what it does when the server fails."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.judges.base import Question, Reply
from runner.judges.direct import MAX_BYTES, TRIES, Direct
from runner.judges.wire import TOOL, WIRES
from runner.records import CacheSemantics, Limits
from tests.judges.made import answer, brief

KEY = "a-key-that-nobody-may-see"
CHAT, RESPONSES, MESSAGES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.RESPONSES, WireProtocol.MESSAGES
USAGE: dict[WireProtocol, dict[str, Any]] = {
    CHAT: {
        "prompt_tokens": 1000,
        "completion_tokens": 300,
        "prompt_tokens_details": {"cached_tokens": 600},
        "completion_tokens_details": {"reasoning_tokens": 200},
    },
    RESPONSES: {
        "input_tokens": 1000,
        "output_tokens": 300,
        "input_tokens_details": {"cached_tokens": 600},
        "output_tokens_details": {"reasoning_tokens": 200},
    },
    MESSAGES: {
        "input_tokens": 400,
        "cache_read_input_tokens": 600,
        "cache_creation_input_tokens": 50,
        "output_tokens": 300,
        "output_tokens_details": {"thinking_tokens": 200},
    },
}


def body(protocol: WireProtocol, text: str, usage: object = None) -> dict[str, object]:
    """A server's answer."""
    told = USAGE[protocol] if usage is None else usage
    if protocol is CHAT:
        return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": told}
    if protocol is RESPONSES:
        content = [{"type": "output_text", "text": text}]
        output = [{"type": "reasoning", "summary": []}, {"type": "message", "content": content}]
        return {"status": "completed", "output": output, "usage": told}
    call = {"type": "tool_use", "name": TOOL, "input": json.loads(text)}
    return {"content": [{"type": "text", "text": "I judge."}, call], "stop_reason": "tool_use", "usage": told}


Handler = Callable[[httpx.Request], httpx.Response]


def question(protocol: WireProtocol, **changes: object) -> Question:
    """A question to a model behind ``protocol``."""
    suffix = "" if protocol is MESSAGES else "/v1"
    asked = brief()
    whole = Question(
        prompt=asked.prompt,
        schema=asked.schema,
        endpoint=Endpoint(f"http://judge.example{suffix}", protocol, "judge-1", KEY),
        home=Path("unused"),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def ask(handler: Handler, asked: Question) -> tuple[Reply, list[float]]:
    """The reply, and how long the judge waited between its tries."""
    waited: list[float] = []
    judge = Direct(transport=httpx.MockTransport(handler), wait=waited.append)
    return judge.ask(asked, lambda *_: pytest.fail("it has no program to start")), waited


@pytest.mark.parametrize("protocol", WIRES)
def test_an_answer_and_its_tokens_are_read_in_every_protocol(protocol: WireProtocol) -> None:
    seen: list[httpx.Request] = []

    def serve(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=body(protocol, answer()))

    reply, _ = ask(serve, question(protocol))
    assert json.loads(reply.answer or "") == json.loads(answer())
    assert (reply.error, reply.cut, reply.requests_seen) == (None, None, 1)
    assert reply.usage is not None
    counts = (reply.usage.input_tokens, reply.usage.cache_read_tokens, reply.usage.output_tokens)
    assert counts == (400, 600, 300)
    assert reply.usage.reasoning_tokens == 200
    assert reply.usage.cache_write_tokens == (50 if protocol is MESSAGES else 0)
    assert reply.usage.cache_semantics is CacheSemantics.DISJOINT
    [request] = seen
    paths = {CHAT: "/v1/chat/completions", RESPONSES: "/v1/responses", MESSAGES: "/v1/messages"}
    assert request.url.path == paths[protocol]
    sent = request.headers.get("authorization") or request.headers.get("x-api-key") or ""
    assert sent.endswith(KEY)
    assert KEY.encode() not in request.content


@pytest.mark.parametrize("protocol", WIRES)
def test_the_answer_form_is_demanded_strictly(protocol: WireProtocol) -> None:
    sent: dict[str, Any] = {}

    def serve(request: httpx.Request) -> httpx.Response:
        sent.update(json.loads(request.content))
        return httpx.Response(200, json=body(protocol, answer()))

    limits = Limits(max_output_tokens=777)
    ask(serve, question(protocol, limits=limits, effort="high"))
    schema = dict(brief().schema)
    if protocol is CHAT:
        form = sent["response_format"]["json_schema"]
        assert (form["strict"], form["schema"]) == (True, schema)
        assert (sent["max_completion_tokens"], sent["reasoning_effort"]) == (777, "high")
    elif protocol is RESPONSES:
        form = sent["text"]["format"]
        assert (form["type"], form["strict"], form["schema"]) == ("json_schema", True, schema)
        assert (sent["store"], sent["max_output_tokens"], sent["reasoning"]) == (
            False,
            777,
            {"effort": "high"},
        )
    else:
        [tool] = sent["tools"]
        assert (tool["name"], tool["input_schema"]) == (TOOL, schema)
        assert sent["tool_choice"] == {"type": "tool", "name": TOOL}
        assert (sent["max_tokens"], sent["output_config"]) == (777, {"effort": "high"})


@pytest.mark.parametrize("protocol", WIRES)
def test_missing_token_counts_are_unknown_and_not_zero(protocol: WireProtocol) -> None:
    reply, _ = ask(lambda _: httpx.Response(200, json=body(protocol, answer(), {})), question(protocol))
    assert reply.answer
    assert reply.usage is None


@pytest.mark.parametrize("protocol", [CHAT, RESPONSES])
def test_without_details_the_part_from_the_cache_is_unknown(protocol: WireProtocol) -> None:
    told = {name: value for name, value in USAGE[protocol].items() if not name.endswith("details")}
    reply, _ = ask(lambda _: httpx.Response(200, json=body(protocol, answer(), told)), question(protocol))
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.cache_read_tokens) == (1000, None)
    assert reply.usage.cache_semantics is CacheSemantics.PARTITION


def test_what_may_pass_is_tried_again_with_growing_pauses() -> None:
    answers = iter([httpx.Response(529), httpx.Response(500), httpx.Response(200, json=body(CHAT, answer()))])
    reply, waited = ask(lambda _: next(answers), question(CHAT))
    assert json.loads(reply.answer or "")["verdict"] == "Sound."
    assert waited == [1.0, 2.0]
    assert reply.requests_seen == 3


def test_a_server_that_says_how_long_to_wait_is_believed_within_reason() -> None:
    busy = [httpx.Response(429, headers={"retry-after": after}) for after in ("7", "86400", "soon", "-1")]
    answers = iter([*busy, httpx.Response(200, json=body(CHAT, answer()))])
    _, waited = ask(lambda _: next(answers), question(CHAT))
    assert waited == [7.0, 60.0, 4.0, 8.0]


def test_a_server_that_goes_on_failing_is_an_error_and_no_answer() -> None:
    reply, waited = ask(lambda _: httpx.Response(503, json={"error": {"message": "no room"}}), question(CHAT))
    assert (reply.answer, reply.error) == (None, "the model's server refused with status 503: no room")
    assert (reply.requests_seen, len(waited)) == (TRIES, TRIES - 1)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_tried_again(status: int) -> None:
    reply, waited = ask(lambda _: httpx.Response(status, text="no"), question(CHAT))
    assert reply.error == f"the model's server refused with status {status}"
    assert (reply.requests_seen, waited) == (1, [])


def test_an_older_server_gets_the_older_name_of_the_limit() -> None:
    sent: list[dict[str, object]] = []

    def serve(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        if "max_completion_tokens" in sent[-1]:
            fault = {"error": {"message": "unknown parameter: max_completion_tokens"}}
            return httpx.Response(400, json=fault)
        return httpx.Response(200, json=body(CHAT, answer()))

    reply, waited = ask(serve, question(CHAT))
    assert reply.error is None
    assert waited == []
    assert [("max_tokens" in each) for each in sent] == [False, True]


def test_a_server_that_cannot_be_reached_is_an_error_without_its_address_or_key() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"refused by {request.url} for {KEY}")

    reply, _ = ask(refuse, question(CHAT))
    assert reply.error == "the model cannot be reached: ConnectError"


def test_an_answer_that_breaks_off_is_asked_for_again_and_noted_as_used() -> None:
    def serve(request: httpx.Request) -> httpx.Response:
        if not broken:
            broken.append(1)
            raise httpx.RemoteProtocolError("peer closed")
        return httpx.Response(200, json=body(CHAT, answer()))

    broken: list[int] = []
    reply, _ = ask(serve, question(CHAT))
    assert reply.error is None
    assert [warning.code for warning in reply.warnings] == ["usage-is-lower-bound"]


def test_an_answer_without_an_end_does_not_hold_a_judge_up() -> None:
    begun = time.monotonic()

    def drip() -> Iterator[bytes]:
        while time.monotonic() - begun < 30:
            time.sleep(0.02)
            yield b" "

    asked = question(CHAT, limits=Limits(timeout_seconds=0.3))
    reply, waited = ask(lambda _: httpx.Response(200, content=drip()), asked)
    assert (reply.answer, reply.error) == (None, "the model did not answer in time")
    assert waited == []
    assert time.monotonic() - begun < 29


def test_an_answer_whose_packing_is_broken_is_an_error_and_not_our_end() -> None:
    packed = {"content-encoding": "gzip"}

    def stream() -> Iterator[bytes]:
        yield b"no gzip"

    reply, waited = ask(lambda _: httpx.Response(200, headers=packed, content=stream()), question(CHAT))
    assert (reply.answer, reply.error) == (None, "the model cannot be reached: DecodingError")
    assert [warning.code for warning in reply.warnings] == ["usage-is-lower-bound"]
    assert len(waited) == TRIES - 1


def test_of_an_answer_that_is_far_too_large_no_more_is_kept_than_may_be() -> None:
    sent = 0

    def flood() -> Iterator[bytes]:
        nonlocal sent
        while sent < 10 * MAX_BYTES:
            sent += 1_000_000
            yield b"x" * 1_000_000

    judge = Direct(transport=httpx.MockTransport(lambda _: httpx.Response(200, content=flood())))
    said = judge.ready(question(CHAT).endpoint, 60.0)
    assert said == "the model's server answered something that is no JSON object"
    assert sent <= MAX_BYTES + 1_000_000


def test_a_model_that_takes_too_long_is_not_asked_twice() -> None:
    def hang(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("slow")

    reply, waited = ask(hang, question(CHAT))
    assert reply.error == "the model did not answer in time"
    assert waited == []


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'{"choices": "none"}'[:-1]])
def test_an_answer_that_is_no_json_object_is_an_error(content: bytes) -> None:
    reply, _ = ask(lambda _: httpx.Response(200, content=content), question(CHAT))
    assert reply.error == "the model's server answered something that is no JSON object"


@pytest.mark.parametrize("protocol", WIRES)
@pytest.mark.parametrize(
    "nonsense",
    [{}, {"choices": "x", "output": 3, "content": {}}, {"choices": [], "output": [], "content": []},
     {"choices": [7], "output": [7], "content": [7], "usage": 5}],
)  # fmt: skip
def test_a_json_object_without_an_answer_is_an_empty_answer(
    protocol: WireProtocol, nonsense: dict[str, object]
) -> None:
    reply, _ = ask(lambda _: httpx.Response(200, json=nonsense), question(protocol))
    assert (reply.answer, reply.usage, reply.error) == ("", None, None)


CUT = [
    (CHAT, {"choices": [{"message": {"content": '{"task'}, "finish_reason": "length"}]}, "length"),
    (CHAT, {"choices": [{"message": {}, "finish_reason": "content_filter"}]}, "content_filter"),
    (RESPONSES, {"incomplete_details": {"reason": "max_output_tokens"}}, "max_output_tokens"),
    (RESPONSES, {"status": "incomplete"}, "incomplete"),
    (MESSAGES, {"content": [], "stop_reason": "max_tokens"}, "max_tokens"),
    (MESSAGES, {"content": [], "stop_reason": "refusal"}, "refusal"),
]  # fmt: skip


@pytest.mark.parametrize(("protocol", "said", "reason"), CUT)
def test_an_answer_that_was_cut_says_so(protocol: WireProtocol, said: dict[str, object], reason: str) -> None:
    reply, _ = ask(lambda _: httpx.Response(200, json=said), question(protocol))
    assert (reply.cut, reply.error) == (reason, None)


@pytest.mark.parametrize("protocol", WIRES)
def test_one_word_is_enough_to_see_whether_a_judge_answers(protocol: WireProtocol) -> None:
    sent: list[dict[str, Any]] = []

    def serve(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(200, json={"usage": {}})

    endpoint = question(protocol).endpoint
    assert Direct(transport=httpx.MockTransport(serve)).ready(endpoint, 5) is None
    assert not sent[0].keys() & {"tools", "response_format", "text"}
    refusing = httpx.MockTransport(lambda _: httpx.Response(401))
    error = Direct(transport=refusing, wait=lambda _: None).ready(endpoint, 5)
    assert error == "the model's server refused with status 401"
