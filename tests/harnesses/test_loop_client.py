"""The client of the loop on an injected transport: what it takes for an answer, and what it tries again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.loop_agent.answer import Answer, Assembler, BrokenAnswer, RefusedInStream, read_spent
from runner.harnesses.loop_agent.client import Client, GaveUp, Trouble
from runner.harnesses.loop_agent.job import Patience

PATIENCE = Patience(attempts=4, base_seconds=1.0, cap_seconds=20.0)
DONE = b"data: [DONE]\n\n"


def chunk(delta: object, finish: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice], **more}).encode() + b"\n\n"


WHOLE = [chunk({"content": "hel"}), chunk({"content": "lo"}), chunk({}, "stop"), DONE]


class Talk:
    """Answers requests in turn and keeps what the client did."""

    def __init__(self, answers: Sequence[httpx.Response | Exception]) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.slept: list[float] = []
        self.troubles: list[Trouble] = []
        self.now = 0.0

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def ask(self, *, deadline: float | None = None, patience: Patience = PATIENCE) -> Answer:
        with httpx.Client(transport=httpx.MockTransport(self.handle)) as http:
            client = Client(http, "http://m/v1/x", patience, deadline, lambda: self.now, self.sleep)
            return client.ask(
                {"model": "m"}, lambda _: None, lambda _n, why, _wait: self.troubles.append(why)
            )


def stream(pieces: Sequence[bytes]) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=iter(pieces))


def refusal(status: int, message: str = "no", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message, "code": "c"}}, headers=headers)


def test_an_answer_is_put_together_from_its_pieces() -> None:
    assert Talk([stream(WHOLE)]).ask().text == "hello"


@pytest.mark.parametrize("end", [b"\r\n\r\n", b"\r\r", b"\n\n"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_every_line_end_and_every_way_to_cut_the_stream_gives_the_same_answer(end: bytes, size: int) -> None:
    data = b": a comment" + end + b"event: x" + end + b"".join(WHOLE).replace(b"\n\n", end)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert Talk([stream(pieces)]).ask().text == "hello"


def test_line_separators_inside_a_text_end_no_line() -> None:
    text = "one\u2028two\u0085three"
    choice = {"delta": {"content": text}, "finish_reason": "stop"}
    event = "data: " + json.dumps({"choices": [choice]}, ensure_ascii=False) + "\n\n"
    assert Talk([stream([event.encode()])]).ask().text == text


def test_a_server_that_does_not_stream_is_understood_too() -> None:
    body = {
        "choices": [
            {
                "message": {
                    "content": None,
                    "tool_calls": [{"id": "7", "function": {"name": "f", "arguments": "{}"}}],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }
    answer = Talk([httpx.Response(200, json=body)]).ask()
    assert [(call.identifier, call.name, call.arguments) for call in answer.calls] == [("7", "f", "{}")]
    assert answer.spent is not None
    assert (answer.spent.prompt, answer.spent.cached) == (5, None)


def test_calls_in_parallel_are_kept_apart_by_their_index() -> None:
    def piece(index: int, **more: str) -> bytes:
        identifier = {"id": more.pop("id")} if "id" in more else {}
        return chunk({"tool_calls": [{"index": index, **identifier, "function": more}]})

    pieces = [
        piece(0, id="a", name="f", arguments=""),
        piece(1, id="b", name="g", arguments='{"x'),
        piece(0, arguments="{}"),
        piece(1, arguments='": 1}'),
        chunk({}, "tool_calls"),
        DONE,
    ]
    calls = Talk([stream(pieces)]).ask().calls
    assert [(call.identifier, call.name, call.arguments) for call in calls] == [
        ("a", "f", "{}"),
        ("b", "g", '{"x": 1}'),
    ]


def test_a_call_without_an_identifier_gets_one() -> None:
    event = chunk({"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}, "tool_calls")
    assert Talk([stream([event, DONE])]).ask().calls[0].identifier


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_passing_failure_is_tried_again_with_growing_waits(status: int) -> None:
    talk = Talk([refusal(status), refusal(status), stream(WHOLE)])
    assert talk.ask().text == "hello"
    assert [trouble.status for trouble in talk.troubles] == [status, status]
    assert 0.75 <= talk.slept[0] <= 1.25
    assert 1.5 <= talk.slept[1] <= 2.5


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
def test_a_failure_that_will_not_pass_is_final(status: int) -> None:
    talk = Talk([refusal(status, "because")])
    with pytest.raises(GaveUp) as caught:
        talk.ask()
    assert (caught.value.kind, len(talk.requests)) == ("model-error", 1)
    assert f"HTTP {status}: because (c)" in str(caught.value)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 8192 tokens, you asked for 9000"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (413, "Input is too long for requested model."),
        (500, "the request exceeds the context window"),
    ],
)
def test_a_conversation_that_is_too_long_is_final_and_named(status: int, message: str) -> None:
    talk = Talk([refusal(status, message)])
    with pytest.raises(GaveUp) as caught:
        talk.ask()
    assert (caught.value.kind, len(talk.requests)) == ("context-length", 1)


def test_attempts_are_bounded() -> None:
    talk = Talk([refusal(500)])
    with pytest.raises(GaveUp) as caught:
        talk.ask()
    assert (caught.value.kind, len(talk.requests), len(talk.slept)) == ("model-error", 4, 3)


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("7", 7, 7),
        ("0", 0.75, 1.25),
        ("3600", 20, 20),
        ("-5", 0.75, 1.25),
        ("soon", 0.75, 1.25),
        ("nan", 0.75, 1.25),
        ("inf", 0.75, 1.25),
    ],
)
def test_retry_after_is_honoured_up_to_a_cap(value: str, low: float, high: float) -> None:
    talk = Talk([refusal(429, **{"retry-after": value}), stream(WHOLE)])
    talk.ask()
    assert low <= talk.slept[0] <= high


def test_retry_after_may_be_a_date() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=12), usegmt=True)
    talk = Talk([refusal(503, **{"retry-after": when}), stream(WHOLE)])
    talk.ask()
    assert 8 <= talk.slept[0] <= 12.5


def test_no_wait_outlasts_the_run() -> None:
    talk = Talk([refusal(429, **{"retry-after": "15"})])
    with pytest.raises(GaveUp) as caught:
        talk.ask(deadline=10.0)
    assert (caught.value.kind, talk.slept) == ("time", [])


@pytest.mark.parametrize(
    ("error", "kind", "lost"),
    [
        (httpx.ConnectError("refused"), "connection", False),
        (httpx.ConnectTimeout("nobody"), "silence", False),
        # Asked and silent: it may have worked on the prompt, which is not nothing.
        (httpx.ReadTimeout("slow"), "silence", True),
        (httpx.RemoteProtocolError("cut"), "connection", False),
    ],
)
def test_trouble_on_the_line_is_tried_again(error: Exception, kind: str, lost: bool) -> None:
    talk = Talk([error, stream(WHOLE)])
    assert talk.ask().text == "hello"
    assert [(trouble.kind, trouble.usage_lost) for trouble in talk.troubles] == [(kind, lost)]


def broken_streams() -> Iterator[tuple[str, list[bytes]]]:
    yield "cut before the end", WHOLE[:2]
    yield "nothing at all", []
    yield "only the end mark", [DONE]
    yield "half an event", [WHOLE[0], b'data: {"choices": [{"del\n\n', *WHOLE[2:]]
    yield "no object", [b"data: 7\n\n", *WHOLE]
    yield "very deep", [b"data: " + b"[" * 100_000 + b"\n\n", *WHOLE]
    yield "an error in the middle", [WHOLE[0], b'data: {"error": {"message": "overloaded"}}\n\n']


@pytest.mark.parametrize(("name", "pieces"), list(broken_streams()))
def test_an_answer_that_breaks_off_is_asked_for_again_and_counts_as_lost(
    name: str, pieces: list[bytes]
) -> None:
    talk = Talk([stream(pieces), stream(WHOLE)])
    assert talk.ask().text == "hello", name
    assert [trouble.usage_lost for trouble in talk.troubles] == [True]


def test_an_answer_without_usage_and_end_mark_is_still_an_answer() -> None:
    answer = Talk([stream(WHOLE[:3])]).ask()
    assert (answer.text, answer.spent) == ("hello", None)


def test_an_answer_without_end_is_cut_at_a_size() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"data: " + b"x" * 1_000_000

    talk = Talk([httpx.Response(200, content=endless()), stream(WHOLE)])
    assert talk.ask().text == "hello"
    assert "larger than" in talk.troubles[0].text


def test_usage_is_taken_from_the_last_block_that_has_one() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    pieces = [chunk({"content": "x"}, "stop", usage=None), b"data: " + json.dumps({"usage": usage}).encode()]
    spent = Talk([stream([*pieces, b"\n\n", DONE])]).ask().spent
    assert spent is not None
    assert (spent.prompt, spent.cached, spent.completion, spent.reasoning) == (10, 8, 4, 1)


@pytest.mark.parametrize("value", [-1, 1.5, "7", True, None, {}])
def test_a_count_that_is_no_count_is_unknown(value: object) -> None:
    spent = read_spent({"prompt_tokens": value, "prompt_tokens_details": value})
    assert spent is not None
    assert (spent.prompt, spent.cached) == (None, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "message", "content", "tool_calls", "function", "name", "index", "usage"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(events=st.lists(JSON, max_size=4))
def test_no_event_of_any_shape_brings_the_assembler_down(events: list[object]) -> None:
    assembler = Assembler()
    try:
        for event in events:
            assembler.take(json.dumps(event))
        assembler.result()
    except (BrokenAnswer, RefusedInStream):
        return
