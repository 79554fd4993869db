"""Chat Completions: what servers really send, and what is understood of it."""

from __future__ import annotations

import json
from datetime import date

import pytest

from runner.endpoint.ask import FragmentKind, Outcome, ToolCall
from runner.endpoint.reading import read
from runner.endpoint.recording import Keeping, request_record
from runner.endpoint.statistics.outcomes import reliability
from runner.records.bench_manifest import BenchPrice
from tests.endpoint.exchanges import DONE, chunk, exchange, heard, sse

STOP = chunk(finish="stop")
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 2}}


def call(**more: object) -> dict[str, object]:
    return chunk(tool_calls=[more])


def test_reasoning_content_finish_and_usage_come_out_as_sent() -> None:
    result = heard(
        [chunk(reasoning_content="hm"), chunk(content="yes"), STOP | {"usage": USAGE}, DONE],
    )
    assert result.outcome is Outcome.OK
    assert (result.reasoning, result.text, result.finish_reason) == ("hm", "yes", "stop")
    assert result.usage is not None
    assert (result.usage.prompt_tokens, result.usage.output_tokens) == (10, 5)
    assert (result.usage.reasoning_tokens, result.usage.visible_tokens) == (2, 3)
    kinds = [fragment.kind for fragment in result.fragments]
    assert kinds == [FragmentKind.REASONING, FragmentKind.CONTENT]
    # A single chunk is no sign of buffering where the whole answer is this short.
    assert result.buffered is None
    assert result.ended_cleanly
    assert result.model_reported == "m-1"


def test_fragments_of_one_call_are_joined() -> None:
    result = heard(
        [
            call(index=0, id="c1", type="function", function={"name": "lookup_", "arguments": ""}),
            call(index=0, function={"name": "order", "arguments": '{"id"'}),
            call(index=0, function={"arguments": ":7}"}),
            chunk(finish="tool_calls"),
            DONE,
        ]
    )
    assert result.tool_calls == (ToolCall(identifier="c1", name="lookup_order", arguments='{"id":7}'),)
    assert result.outcome is Outcome.OK
    assert [fragment.kind for fragment in result.fragments] == [FragmentKind.TOOL] * 3


def test_an_id_and_a_name_repeated_in_every_fragment_are_taken_once() -> None:
    fragments = [
        call(index=0, id="c1", function={"name": "look", "arguments": piece}) for piece in ('{"a"', ":1", "}")
    ]
    result = heard([*fragments, STOP, DONE])
    assert result.tool_calls == (ToolCall(identifier="c1", name="look", arguments='{"a":1}'),)


def test_fragments_without_an_index_go_on_with_the_call_before() -> None:
    result = heard(
        [
            call(id="a", function={"name": "one", "arguments": "{"}),
            call(function={"arguments": "}"}),
            call(id="b", function={"name": "two", "arguments": "{}"}),
            STOP,
        ]
    )
    assert [(made.identifier, made.arguments) for made in result.tool_calls] == [("a", "{}"), ("b", "{}")]


def test_a_first_fragment_without_index_and_id_is_a_call_all_the_same() -> None:
    result = heard(
        [call(function={"name": "one", "arguments": "{"}), call(function={"arguments": "}"}), STOP]
    )
    assert [(made.name, made.arguments) for made in result.tool_calls] == [("one", "{}")]


def test_parallel_calls_that_all_have_index_0_stay_apart() -> None:
    result = heard(
        [
            call(index=0, id="a", function={"name": "look", "arguments": '{"n":1}'}),
            call(index=0, id="b", function={"name": "look", "arguments": '{"n":'}),
            call(index=0, function={"arguments": "2}"}),
            STOP,
        ]
    )
    assert [made.arguments for made in result.tool_calls] == ['{"n":1}', '{"n":2}']


def test_interleaved_calls_are_told_apart_by_index() -> None:
    result = heard(
        [
            call(index=0, id="a", function={"name": "x", "arguments": ""}),
            call(index=1, id="b", function={"name": "y", "arguments": ""}),
            call(index=0, function={"arguments": "1"}),
            call(index=1, function={"arguments": "2"}),
            STOP,
        ]
    )
    assert [(made.name, made.arguments) for made in result.tool_calls] == [("x", "1"), ("y", "2")]


def test_arguments_that_are_an_object_become_its_json() -> None:
    result = heard([call(index=0, id="a", function={"name": "x", "arguments": {"n": "ü"}}), STOP])
    assert json.loads(result.tool_calls[0].arguments) == {"n": "ü"}


def test_a_function_call_of_the_old_kind_is_a_call() -> None:
    result = heard([chunk(function_call={"name": "x", "arguments": "{}"}), chunk(finish="function_call")])
    assert [(made.name, made.arguments) for made in result.tool_calls] == [("x", "{}")]


@pytest.mark.parametrize(
    "quiet",
    [
        {"choices": []},
        {"model": "m-1"},
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"index": 0, "delta": {"content": None, "reasoning": None, "tool_calls": None}}]},
        {"choices": None, "usage": None, "error": None},
        {"choices": [None, 7]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
    ],
)
def test_an_event_without_a_piece_of_the_answer_is_no_token(quiet: dict[str, object]) -> None:
    result = heard([quiet, chunk(content="x"), STOP, DONE])
    assert result.outcome is Outcome.OK
    assert result.text == "x"
    assert result.milestones.first_event == 1_100_000_000
    assert result.milestones.first_any == 1_110_000_000


def test_content_as_a_list_is_read_part_by_part() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
        "b",
        {"type": "refusal", "refusal": "no"},
    ]
    result = heard([chunk(content=parts), STOP])
    assert (result.reasoning, result.text, result.refusal) == ("hm", "ab", "no")


def test_reasoning_under_both_names_is_taken_once() -> None:
    assert heard([chunk(reasoning="hm", reasoning_content="hm"), STOP]).reasoning == "hm"


def test_a_chunk_may_hold_reasoning_and_content_at_once() -> None:
    result = heard([chunk(reasoning="hm", content="x"), STOP])
    assert result.milestones.first_reasoning == result.milestones.first_visible
    assert len(result.fragments) == 2


def test_a_refusal_is_a_class_of_its_own() -> None:
    result = heard([chunk(refusal="I cannot."), STOP, DONE])
    assert (result.outcome, result.refusal) == (Outcome.REFUSED, "I cannot.")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_usage_is_found_wherever_it_stands(place: int) -> None:
    events: list[object] = [chunk(content="x"), STOP]
    events.insert(place, {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}})
    result = heard([*events, DONE])
    assert result.usage is not None
    assert (result.usage.prompt_tokens, result.usage.output_tokens) == (3, 1)


def test_cumulative_usage_counts_the_tokens_of_each_chunk_and_the_last_one_wins() -> None:
    events = [chunk(content="x") | {"usage": {"completion_tokens": count}} for count in (3, 7, 9)]
    result = heard([*events, STOP])
    assert result.usage is not None
    assert result.usage.output_tokens == 9
    assert [fragment.tokens for fragment in result.fragments] == [3, 7, 9]


def test_usage_after_the_end_mark_still_counts() -> None:
    result = heard([chunk(content="x"), STOP, DONE, {"choices": [], "usage": {"completion_tokens": 4}}])
    assert result.usage is not None
    assert result.usage.output_tokens == 4
    assert result.milestones.done == 1_120_000_000


@pytest.mark.parametrize(
    ("usage", "output", "visible", "extra"),
    [
        ({"completion_tokens": 5}, 5, 5, None),
        ({"completion_tokens": 5, "reasoning_tokens": 2}, 5, 3, None),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "reasoning_tokens": 2, "total_tokens": 15},
            5,
            3,
            False,
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "reasoning_tokens": 2, "total_tokens": 17},
            7,
            5,
            True,
        ),
        ({"completion_tokens": 5, "reasoning_tokens": 20}, 25, 5, True),
        ({"prompt_tokens": 10}, None, None, None),
        ({"completion_tokens": "5"}, None, None, None),
        ({"completion_tokens": -1}, None, None, None),
        ({"completion_tokens": True}, None, None, None),
        ({"completion_tokens": 5.0}, 5, 5, None),
    ],
)
def test_reasoning_beside_and_inside_completion_come_to_the_same(
    usage: dict[str, object], output: int | None, visible: int | None, extra: bool | None
) -> None:
    result = heard([chunk(content="x"), STOP | {"usage": usage}])
    assert result.usage is not None
    assert result.usage.output_tokens == output
    assert result.usage.visible_tokens == visible
    assert result.usage.reasoning_is_extra is extra


@pytest.mark.parametrize(
    ("told", "kept"), [(0.0125, 0.0125), (0, 0.0), (None, None), ("1", None), (-1, None), (True, None)]
)
def test_what_a_gateway_says_it_cost_is_kept_beside_what_the_price_book_says(
    told: object, kept: float | None
) -> None:
    result = heard([chunk(content="x"), STOP | {"usage": USAGE | {"cost": told}}, DONE])
    price = BenchPrice(input=1.0, output=2.0, priced_on=date(2026, 11, 30))
    found = request_record(result, price, Keeping())
    assert found.cost_reported_usd == kept
    assert found.cost_usd == pytest.approx((10 * 1.0 + 5 * 2.0) / 1e6)


def test_one_json_body_instead_of_a_stream_is_read_and_told() -> None:
    body = {
        "model": "m-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
    data = json.dumps(body).encode()
    result = read(exchange((50, data[:20]), (80, data[20:])))
    assert (result.outcome, result.text, result.streamed) == (Outcome.OK, "x", False)
    assert result.milestones.first_any == 1_080_000_000
    assert result.ended_cleanly


@pytest.mark.parametrize(
    ("error", "code", "outcome"),
    [
        ({"code": "overloaded", "message": "full"}, "overloaded", Outcome.STREAM_ERROR),
        ({"code": 503, "message": "full"}, "503", Outcome.STREAM_ERROR),
        ({"code": 429, "message": "slow down"}, "429", Outcome.RATE_LIMITED),
        ({"code": None, "type": "server_error"}, "server_error", Outcome.STREAM_ERROR),
        ("it broke", "upstream_stream_error", Outcome.STREAM_ERROR),
        ({"error": {"code": "x", "message": "inner"}}, "x", Outcome.STREAM_ERROR),
        (["odd"], "upstream_stream_error", Outcome.STREAM_ERROR),
    ],
)
def test_an_error_in_the_stream_keeps_what_came_and_what_it_said(
    error: object, code: str, outcome: Outcome
) -> None:
    result = heard([chunk(content="half"), {"error": error}])
    assert result.outcome is outcome
    assert result.failure is not None
    assert result.failure.code == code
    assert result.text == "half"
    assert not result.answered


def test_an_error_chunk_keeps_its_code_and_its_words_and_is_no_success() -> None:
    result = heard([{"error": {"code": "engine_overloaded", "message": "try again later"}}])
    assert result.failure is not None
    assert (result.failure.code, result.failure.message) == ("engine_overloaded", "try again later")
    kept = request_record(result, BenchPrice(priced_on=date(2026, 11, 30)), Keeping())
    figures = reliability([kept])
    assert (figures.succeeded.count, figures.succeeded.of) == (0, 1)
    assert figures.failures == {"engine_overloaded": 1}


def test_an_error_inside_a_choice_and_one_named_by_its_event_are_errors_too() -> None:
    choice = {
        "index": 0,
        "delta": {"content": ""},
        "finish_reason": "error",
        "error": {"code": 502, "message": "gone"},
    }
    inside = heard([chunk(content="half"), {"choices": [choice]}, DONE])
    assert inside.failure is not None
    assert (inside.failure.code, inside.failure.message) == ("502", "gone")
    named = read(exchange((10, sse(chunk(content="half")) + b'event: error\ndata: {"message": "gone"}\n\n')))
    assert named.failure is not None
    assert (named.outcome, named.failure.message) == (Outcome.STREAM_ERROR, "gone")


def test_reasoning_details_are_carried_back_in_one_message() -> None:
    details = [{"type": "reasoning.encrypted", "data": "a"}, {"type": "reasoning.encrypted", "data": "b"}]
    result = heard([chunk(reasoning_details=[detail]) for detail in details] + [STOP])
    assert result.carried == ({"reasoning_details": details},)


def test_a_split_letter_is_put_together() -> None:
    data = sse(chunk(content="Grüße – 你好"), STOP, DONE)
    escaped_not = json.dumps(chunk(content="Grüße – 你好"), ensure_ascii=False)
    data = sse(escaped_not, STOP, DONE)
    pieces = [(100 + place, data[place : place + 1]) for place in range(len(data))]
    assert read(exchange(*pieces)).text == "Grüße – 你好"
