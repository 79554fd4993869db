"""The class of a request: what each kind of end, fault and bound is told as."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.ask import Failure, Outcome, Phase, Protocol, StreamResult
from runner.endpoint.exchange import Bounds, Broken
from runner.endpoint.reading import read
from tests.endpoint.exchanges import DONE, chunk, exchange, heard, sse

STOP = chunk(finish="stop")
CLOSED = Broken(Outcome.STREAM_ERROR, Failure(code="connection_closed", phase=Phase.STREAM))
STALLED = Broken(Outcome.TIMEOUT_STALL, Failure(code="timeout_stall", phase=Phase.STREAM))


def code(result: StreamResult) -> str | None:
    return None if result.failure is None else result.failure.code


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [
        ("stop", Outcome.OK),
        ("tool_calls", Outcome.OK),
        ("length", Outcome.LENGTH),
        ("content_filter", Outcome.REFUSED),
        ("error", Outcome.STREAM_ERROR),
        (None, Outcome.INCOMPLETE),
    ],
)
def test_each_finish_reason_has_its_class(finish: str | None, outcome: Outcome) -> None:
    assert heard([chunk(content="x"), chunk(finish=finish), DONE]).outcome is outcome


def test_a_missing_end_mark_is_no_failure_but_not_clean() -> None:
    result = heard([chunk(content="x"), STOP])
    assert (result.outcome, result.ended_cleanly) == (Outcome.OK, False)


def test_a_stream_cut_without_a_word_is_incomplete_and_truncated() -> None:
    result = heard([chunk(content="x")])
    assert (result.outcome, code(result)) == (Outcome.INCOMPLETE, "no_finish")
    assert result.truncated
    assert not result.answered


def test_a_cut_inside_an_event_is_no_malformed_event() -> None:
    data = sse(chunk(content="x"), chunk(content="y"))
    result = read(exchange((10, data[:-9])))
    assert (result.outcome, result.text) == (Outcome.INCOMPLETE, "x")


def test_a_last_event_without_its_blank_line_still_counts() -> None:
    result = read(exchange((10, sse(chunk(content="x"), STOP).rstrip(b"\n"))))
    assert (result.outcome, result.finish_reason) == (Outcome.OK, "stop")


def test_a_malformed_event_is_named_and_what_follows_it_is_still_timed() -> None:
    result = heard([chunk(content="x"), '{"choices": [', chunk(content="y"), STOP, DONE])
    assert (result.outcome, code(result)) == (Outcome.PARSE_ERROR, "invalid_stream_json")
    assert result.text == "xy"
    assert result.milestones.last_any == 1_120_000_000


@pytest.mark.parametrize("event", ["7", "[1]", '"x"', "null", "true"])
def test_json_that_is_no_object_is_malformed(event: str) -> None:
    assert heard([chunk(content="x"), event, STOP]).outcome is Outcome.PARSE_ERROR


@pytest.mark.parametrize(
    "event", ["NaN", '{"usage": {"completion_tokens": Infinity}}', "[" * 100_000, '{"x": 1e999}']
)
def test_what_only_looks_like_json_is_malformed(event: str) -> None:
    assert heard([event, STOP]).outcome is Outcome.PARSE_ERROR


def test_invalid_utf8_is_named() -> None:
    result = read(exchange((10, b'data: {"x": "\xff"}\n\n' + sse(STOP))))
    assert (result.outcome, code(result)) == (Outcome.PARSE_ERROR, "invalid_utf8")


def test_a_page_of_html_is_no_answer() -> None:
    result = read(exchange((10, b"<html>Welcome to the proxy</html>")))
    assert result.outcome is Outcome.INCOMPLETE
    assert result.text == ""


def test_nothing_at_all_is_incomplete() -> None:
    result = read(exchange())
    assert (result.outcome, result.streamed, result.milestones.first_any) == (Outcome.INCOMPLETE, None, None)


def test_an_answer_without_a_word_is_ok_and_empty() -> None:
    result = heard([STOP, DONE])
    assert result.outcome is Outcome.OK
    assert result.empty
    assert not heard([chunk(content="x"), STOP]).empty


def test_a_connection_that_breaks_after_the_end_mark_changes_nothing_but_cleanness() -> None:
    result = heard([chunk(content="x"), STOP, DONE], broken=CLOSED)
    assert (result.outcome, result.ended_cleanly) == (Outcome.OK, False)


@pytest.mark.parametrize("broken", [CLOSED, STALLED])
def test_a_connection_that_breaks_before_the_end_mark_is_the_class(broken: Broken) -> None:
    result = heard([chunk(content="x"), STOP], broken=broken)
    assert (result.outcome, result.failure) == (broken.outcome, broken.failure)
    assert result.text == "x"


def test_an_error_told_before_the_connection_broke_is_the_class() -> None:
    result = heard([{"error": {"code": "overloaded"}}], broken=CLOSED)
    assert code(result) == "overloaded"


@pytest.mark.parametrize(
    ("status", "body", "outcome", "words"),
    [
        (500, b'{"error": {"message": "broken", "code": "oops"}}', Outcome.HTTP_ERROR, "oops: broken"),
        (429, b'{"error": {"message": "slow"}}', Outcome.RATE_LIMITED, "slow"),
        (404, b"<h1>Not\n\n   here</h1>", Outcome.HTTP_ERROR, "<h1>Not here</h1>"),
        (302, b"", Outcome.HTTP_ERROR, ""),
        (503, b"\xff" * 100_000, Outcome.HTTP_ERROR, "\ufffd" * 500),
    ],
)
def test_a_status_that_is_no_success_is_told_with_the_servers_words(
    status: int, body: bytes, outcome: Outcome, words: str
) -> None:
    result = read(exchange((10, body), status=status, headers={"x-request-id": "r7", "location": "/else"}))
    assert (result.outcome, code(result), result.http_status) == (outcome, f"http_{status}", status)
    assert result.failure is not None
    assert result.failure.message == words
    assert result.failure.phase is Phase.HEADERS
    assert (result.request_id, result.text) == ("r7", "")


def test_headers_of_interest_are_kept_and_cookies_are_not() -> None:
    headers = {"server": "x", "set-cookie": "secret", "x-ratelimit-remaining": "3", "retry-after": "7"}
    result = read(exchange((10, sse(STOP)), headers=headers))
    assert result.headers == {name: value for name, value in headers.items() if name != "set-cookie"}
    assert result.retry_after_seconds == 7


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(sse(chunk(content="x"), STOP))),
        ("Deflate", zlib.compress(sse(chunk(content="x"), STOP))),
    ],
)
def test_a_packed_body_nobody_asked_for_is_unpacked(encoding: str, packed: bytes) -> None:
    result = read(exchange((10, packed[:9]), (20, packed[9:]), headers={"content-encoding": encoding}))
    assert (result.outcome, result.text) == (Outcome.OK, "x")


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("br", b"xx"), ("gzip", b"no gzip"), ("gzip", gzip.compress(b"data: " + b"x" * 5_000_000))],
)
def test_a_body_that_cannot_be_unpacked_within_bounds_is_malformed(encoding: str, body: bytes) -> None:
    found = exchange((10, body), headers={"content-encoding": encoding})
    result = read(found, Bounds(body=100_000))
    assert (result.outcome, code(result)) == (Outcome.PARSE_ERROR, "content_encoding")


def test_an_event_beyond_its_bound_is_malformed() -> None:
    result = read(
        exchange((10, sse(chunk(content="x"), chunk(content="y" * 5000), STOP))), Bounds(event=1000)
    )
    assert (result.outcome, code(result), result.text) == (Outcome.PARSE_ERROR, "event_too_large", "x")


def test_a_result_goes_through_json_and_back() -> None:
    result = heard([chunk(reasoning="hm", content="x"), STOP | {"usage": {"completion_tokens": 2}}, DONE])
    assert StreamResult.model_validate_json(result.model_dump_json()) == result


def test_halves_of_a_character_in_two_events_are_one_and_a_lonely_half_is_replaced() -> None:
    result = heard(
        [
            '{"choices":[{"delta":{"content":"\\ud83d"}}]}',
            '{"choices":[{"delta":{"content":"\\ude00 \\ud800"}}]}',
            STOP,
        ]
    )
    assert result.text == "\U0001f600 \ufffd"
    assert StreamResult.model_validate_json(result.model_dump_json()) == result


def test_usage_nested_without_end_is_cut_and_fits_a_record() -> None:
    deep = '{"a":' * 300 + "1" + "}" * 300
    result = heard([f'{{"choices":[],"usage":{{"completion_tokens":3,"more":{deep}}}}}', STOP])
    assert result.usage is not None
    assert result.usage.output_tokens == 3
    assert StreamResult.model_validate_json(result.model_dump_json()) == result


WORDS = [
    "choices",
    "delta",
    "message",
    "content",
    "type",
    "index",
    "usage",
    "tool_calls",
    "function",
    "error",
    "code",
    "finish_reason",
    "item",
    "response",
    "output",
    "status",
    "content_block",
    "id",
    "reasoning",
    "arguments",
    "name",
    "prompt_tokens",
    "output_tokens",
    "cost",
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=8),
    # Halves of characters and words of the protocols are what chance alone would not find.
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(WORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "message",
        "error",
        "response.output_item.done",
        "response.completed",
        "response.failed",
        "response.output_text.delta",
    ]
)


@given(
    protocol=st.sampled_from(Protocol),
    events=st.lists(st.tuples(VALUES, KINDS), max_size=4),
    at=st.integers(0, 200),
)
def test_no_json_whatever_makes_reading_fail(
    protocol: Protocol, events: list[tuple[object, str | None]], at: int
) -> None:
    sent = [event | {"type": kind} if isinstance(event, dict) and kind else event for event, kind in events]
    data = sse(*[json.dumps(event) for event in sent])
    at %= len(data) + 1
    whole = read(exchange((10, data), protocol=protocol))
    split = read(exchange((10, data[:at]), (10, data[at:]), protocol=protocol))
    assert split.model_copy(update={"reads": 1}) == whole
    assert StreamResult.model_validate_json(whole.model_dump_json()) == whole
