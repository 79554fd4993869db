"""Messages and Responses: their events, whole answers, usage and ends."""

from __future__ import annotations

import json

import pytest

from runner.endpoint.ask import Outcome, ToolCall
from runner.endpoint.reading import read
from runner.endpoint.request import Protocol
from tests.endpoint.exchanges import DONE as END_MARK
from tests.endpoint.exchanges import MESSAGES, RESPONSES, exchange, heard


def delta(index: int, **more: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": more}


def block(index: int, **more: object) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": more}


START = {
    "type": "message_start",
    "message": {
        "model": "c-1",
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 7,
            "output_tokens": 1,
        },
    },
}
STOP = {"type": "message_stop"}


def ending(reason: str) -> dict[str, object]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 42}}


def test_a_message_with_thinking_text_and_a_call_comes_out_whole() -> None:
    result = heard(
        [
            START,
            {"type": "ping"},
            block(0, type="thinking", thinking="", signature=""),
            delta(0, type="thinking_delta", thinking="hm"),
            delta(0, type="signature_delta", signature="sig"),
            block(1, type="text", text=""),
            delta(1, type="text_delta", text="yes"),
            block(2, type="tool_use", id="t1", name="look", input={}),
            delta(2, type="input_json_delta", partial_json='{"a":'),
            delta(2, type="input_json_delta", partial_json="1}"),
            ending("tool_use"),
            STOP,
        ],
        MESSAGES,
    )
    assert result.outcome is Outcome.OK
    assert (result.reasoning, result.text, result.finish_reason) == ("hm", "yes", "tool_use")
    assert result.tool_calls == (ToolCall(identifier="t1", name="look", arguments='{"a":1}'),)
    assert result.carried == ({"type": "thinking", "thinking": "hm", "signature": "sig"},)
    assert result.ended_cleanly
    assert result.usage is not None
    assert (result.usage.prompt_tokens, result.usage.cached_tokens, result.usage.output_tokens) == (
        117,
        100,
        42,
    )
    assert result.usage.uncached_prompt_tokens == 17


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("end_turn", Outcome.OK),
        ("stop_sequence", Outcome.OK),
        ("max_tokens", Outcome.LENGTH),
        ("model_context_window_exceeded", Outcome.LENGTH),
        ("refusal", Outcome.REFUSED),
    ],
)
def test_each_stop_reason_has_its_class(reason: str, outcome: Outcome) -> None:
    events = [START, block(0, type="text", text="x"), ending(reason), STOP]
    assert heard(events, MESSAGES).outcome is outcome


def test_a_message_without_a_stop_reason_is_incomplete() -> None:
    assert heard([START, block(0, type="text", text="x")], MESSAGES).outcome is Outcome.INCOMPLETE


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("overloaded_error", Outcome.STREAM_ERROR), ("rate_limit_error", Outcome.RATE_LIMITED)],
)
def test_an_error_event_has_its_class_and_keeps_the_text(kind: str, outcome: Outcome) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "Overloaded"}}
    result = heard([START, block(0, type="text", text="x"), error], MESSAGES)
    assert (result.outcome, result.text) == (outcome, "x")
    assert result.failure is not None
    assert (result.failure.code, result.failure.message) == (kind, "Overloaded")


def test_a_broken_block_is_a_fault_of_form_and_the_rest_is_still_read() -> None:
    result = heard(
        [
            START,
            block(0, type="text", text="x") | {"content_block": 7},
            delta(0, type="text_delta", text="y"),
        ],
        MESSAGES,
    )
    assert result.outcome is Outcome.PARSE_ERROR
    assert result.text == "y"


def test_a_whole_message_is_read() -> None:
    body = {
        "type": "message",
        "model": "c-1",
        "content": [
            {"type": "redacted_thinking", "data": "zzz"},
            {"type": "text", "text": "yes"},
            {"type": "tool_use", "id": "t", "name": "look", "input": {"a": 1}},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    result = read(exchange((50, json.dumps(body).encode()), protocol=MESSAGES))
    assert (result.outcome, result.text, result.streamed) == (Outcome.OK, "yes", False)
    assert result.tool_calls[0].arguments == '{"a":1}'
    assert result.carried == ({"type": "redacted_thinking", "data": "zzz"},)
    assert result.usage is not None
    assert result.usage.uncached_prompt_tokens is None


def told(kind: str, **more: object) -> dict[str, object]:
    return {"type": f"response.{kind}", **more}


CREATED = told("created", response={"model": "r-1", "status": "in_progress"})
DONE = told(
    "completed",
    response={
        "object": "response",
        "status": "completed",
        "model": "r-1",
        "usage": {
            "input_tokens": 20,
            "input_tokens_details": {"cached_tokens": 16},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": 29,
        },
    },
)


def test_a_response_with_reasoning_text_and_a_call_comes_out_whole() -> None:
    reasoning = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "e"}
    call = {"type": "function_call", "id": "fc", "call_id": "c1", "name": "look", "arguments": ""}
    result = heard(
        [
            CREATED,
            told("reasoning_summary_text.delta", output_index=0, delta="hm"),
            told("output_item.done", output_index=0, item=reasoning),
            told("output_text.delta", output_index=1, delta="yes"),
            told("output_item.added", output_index=2, item=call),
            told("function_call_arguments.delta", output_index=2, delta='{"a"'),
            told("function_call_arguments.delta", output_index=2, delta=":1}"),
            told("output_item.done", output_index=2, item=call | {"arguments": '{"a":1}'}),
            DONE,
        ],
        RESPONSES,
    )
    assert result.outcome is Outcome.OK
    assert (result.reasoning, result.text) == ("hm", "yes")
    assert result.tool_calls == (ToolCall(identifier="c1", name="look", arguments='{"a":1}'),)
    assert result.carried == (reasoning,)
    assert result.usage is not None
    assert (result.usage.visible_tokens, result.usage.uncached_prompt_tokens) == (5, 4)
    assert result.usage.reasoning_is_extra is False
    assert result.ended_cleanly


def test_an_answer_told_only_at_the_end_is_one_fragment_then() -> None:
    output = [
        {"type": "message", "content": [{"type": "output_text", "text": "yes"}]},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
    ]
    last = told("completed", response={"object": "response", "status": "completed", "output": output})
    result = heard([CREATED, last], RESPONSES)
    assert (result.text, len(result.tool_calls)) == ("yes", 1)
    assert result.milestones.first_any == result.milestones.done


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("max_output_tokens", Outcome.LENGTH), ("content_filter", Outcome.REFUSED), (None, Outcome.LENGTH)],
)
def test_an_incomplete_response_says_why(reason: str | None, outcome: Outcome) -> None:
    response = {"object": "response", "status": "incomplete", "incomplete_details": {"reason": reason}}
    events = [told("output_text.delta", delta="x"), told("incomplete", response=response)]
    assert heard(events, RESPONSES).outcome is outcome


@pytest.mark.parametrize(
    "event",
    [
        told("failed", response={"status": "failed", "error": {"code": "server_error", "message": "no"}}),
        {"type": "error", "code": "server_error", "message": "no"},
        {"type": "error", "error": {"code": "server_error", "message": "no"}},
    ],
)
def test_every_form_of_failure_keeps_code_and_message(event: dict[str, object]) -> None:
    result = heard([told("output_text.delta", delta="x"), event], RESPONSES)
    assert result.outcome is Outcome.STREAM_ERROR
    assert result.failure is not None
    assert (result.failure.code, result.failure.message) == ("server_error", "no")
    assert result.text == "x"


def test_a_refusal_in_deltas_and_a_whole_response_are_read() -> None:
    refused = heard([told("refusal.delta", delta="no"), DONE], RESPONSES)
    assert (refused.outcome, refused.refusal) == (Outcome.REFUSED, "no")
    body = {
        "object": "response",
        "status": "completed",
        "error": None,
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "yes"}]}],
    }
    whole = read(exchange((50, json.dumps(body).encode()), protocol=RESPONSES))
    assert (whole.outcome, whole.text, whole.streamed) == (Outcome.OK, "yes", False)


TOLD: dict[Protocol, list[dict[str, object]]] = {
    MESSAGES: [dict(START), block(0, type="text", text=""), delta(0, type="text_delta", text="yes")],
    RESPONSES: [{"type": "response.output_text.delta", "output_index": 0, "delta": "yes"}],
}
ENDED: dict[Protocol, list[dict[str, object]]] = {
    MESSAGES: [ending("end_turn"), dict(STOP)],
    RESPONSES: [{"type": "response.completed", "response": {"status": "completed"}}],
}


@pytest.mark.parametrize("protocol", [MESSAGES, RESPONSES])
def test_the_end_mark_that_a_proxy_puts_behind_every_stream_is_no_malformed_event(protocol: Protocol) -> None:
    events = [*TOLD[protocol], *ENDED[protocol]]
    plain, marked = heard(events, protocol), heard([*events, END_MARK], protocol)
    assert (marked.outcome, marked.text, marked.ended_cleanly) == (Outcome.OK, "yes", True)
    assert (marked.milestones.done, marked.events) == (plain.milestones.done, plain.events)


@pytest.mark.parametrize("protocol", [MESSAGES, RESPONSES])
def test_the_end_mark_of_another_protocol_does_not_stand_in_for_the_end_that_is_missing(
    protocol: Protocol,
) -> None:
    result = heard([*TOLD[protocol], END_MARK], protocol)
    assert (result.outcome, result.ended_cleanly) == (Outcome.INCOMPLETE, False)
