"""Made-up talks reach a model as an agent's would; what goes wrong ends a session and not the load."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import httpx
import pytest

from runner.errors import EndpointError
from runner.records import LoadSession, SessionShape
from runner.serving.synthetic import SyntheticLoad, Target
from runner.serving.talks import talks

SHAPE = SessionShape(shared_tokens=12, first_tokens=6, added_tokens=4, output_tokens=3, turns=3)
Answer = Callable[[dict[str, Any]], httpx.Response]


class Model:
    """Answers over an injected transport and keeps what it was asked."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self._answer = answer or self.say
        self._lock = threading.Lock()

    async def handle(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        with self._lock:
            self.asked.append(body)
            self.keys.add(request.headers.get("authorization"))
        await asyncio.sleep(0.005)
        return self._answer(body)

    def say(self, body: dict[str, Any]) -> httpx.Response:
        """As many words as are wanted, in two pieces, and the usage."""
        words = " ".join(["ja"] * body["max_tokens"])
        prompt = sum(len(message["content"].split()) for message in body["messages"])
        usage = {"prompt_tokens": prompt, "completion_tokens": body["max_tokens"]}
        events: list[dict[str, Any]] = [
            {"choices": [{"delta": {"content": words[:2]}}]},
            {"choices": [{"delta": {"content": words[2:]}}, {"delta": None}, 7]},
            {"choices": [], "usage": usage},
        ]
        return httpx.Response(200, text=stream(*map(json.dumps, events), "[DONE]"))

    def target(self, **more: Any) -> Target:
        return Target("http://model/v1", "m", transport=httpx.MockTransport(self.handle), **more)


def stream(*data: str) -> str:
    return "".join(f"data: {each}\n\n" for each in data)


def held(model: Model, slots: int = 2, seconds: float = 0.3, **more: Any) -> tuple[LoadSession, ...]:
    """The sessions of a short load."""
    load = SyntheticLoad(model.target(**more), SHAPE, 7)
    load.begin(slots, seconds)
    deadline = time.monotonic() + 60
    while len(model.asked) < 12 and time.monotonic() < deadline:
        time.sleep(0.01)
    return load.end()


def test_each_turn_repeats_all_before_it_with_the_answers_that_were_given() -> None:
    model = Model()
    held(model, slots=1)
    (talk,) = islice(talks(SHAPE, 7, "1"), 1)
    first, second = model.asked[:2]
    assert [each["role"] for each in first["messages"]] == ["system", "user"]
    assert first["messages"][0]["content"] == talk.instructions()
    assert first["max_tokens"] == talk.turns[0].output
    assert second["messages"][:2] == first["messages"]
    assert second["messages"][2] == {"role": "assistant", "content": " ".join(["ja"] * talk.turns[0].output)}
    assert second["messages"][3]["content"] == talk.said(1)
    assert first["stream_options"] == {"include_usage": True}
    assert "ignore_eos" not in first


def test_sessions_tell_what_they_used_and_the_last_ones_were_cut_off() -> None:
    sessions = held(Model(), slots=2)
    finished = [each for each in sessions if each.status == "ok"]
    assert finished
    plans = {talk.name: talk for talk in islice(talks(SHAPE, 7, "2"), 500)}
    for each in finished:
        talk = plans[each.task]
        assert each.turns == len(talk.turns)
        assert each.output_tokens == sum(turn.output for turn in talk.turns)
        assert (each.input_tokens or 0) > talk.shared * len(talk.turns)
    assert {each.status for each in sessions} <= {"ok", "cutoff"}
    assert {each.slot for each in sessions} == {0, 1}
    assert len({each.task for each in sessions}) == len(sessions)
    assert all(each.started_at <= each.ended_at for each in sessions)


def test_the_key_is_sent_and_stands_nowhere_else() -> None:
    model = Model()
    sessions = held(model, api_key="sk-a-key-of-mine")
    assert model.keys == {"Bearer sk-a-key-of-mine"}
    assert "sk-a-key" not in repr(model.target(api_key="sk-a-key-of-mine"))
    assert not any("sk-a-key" in each.model_dump_json() for each in sessions)


def test_exact_lengths_are_asked_for_where_the_server_knows_how() -> None:
    model = Model()
    held(model, ignore_eos=True)
    assert all(each["ignore_eos"] is True for each in model.asked)


def test_talks_keep_within_the_window_of_the_model() -> None:
    model = Model()
    held(model, context_window=40)
    for body in model.asked:
        assert sum(len(each["content"].split()) for each in body["messages"]) + body["max_tokens"] <= 40


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (httpx.Response(500, text="out of\nmemory " * 100), "status 500: out of memory"),
        (httpx.Response(200, text=stream("{half")), "Expecting"),
        (httpx.Response(200, text=stream("[1]")), "something else than objects"),
        (httpx.Response(200, text=stream('{"error": {"message": "too long"}}')), "too long"),
        (httpx.Response(200, text=stream('{"usage": {"prompt_tokens": null}}')), ""),
        (httpx.Response(200, text=stream("[" * 100_000)), "recursion"),
        (httpx.Response(200, text=stream('{"usage": {"prompt_tokens": Infinity}}')), "infinity"),
        (httpx.Response(200, text=stream('{"usage": {"prompt_tokens": -7}}')), "-7 tokens"),
    ],
)
def test_a_server_in_trouble_ends_sessions_and_is_not_stormed(
    reply: httpx.Response, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.serving.synthetic.PAUSE_SECONDS", 600.0)
    model = Model(lambda _: reply)
    load = SyntheticLoad(model.target(), SHAPE, 7)
    load.begin(2, 1)
    deadline = time.monotonic() + 60
    while len(model.asked) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    sessions = load.end()
    assert len(model.asked) == 2
    failed = [each for each in sessions if each.status == "error"]
    assert failed
    assert said in (failed[0].error or "")
    assert len(failed[0].error or "") <= 300


def test_a_load_that_broke_down_is_told_and_no_level() -> None:
    def broken(_: dict[str, Any]) -> httpx.Response:
        raise RuntimeError("a fault of ours")

    load = SyntheticLoad(Model(broken).target(), SHAPE, 7)
    load.begin(2, 1)
    for thread in threading.enumerate():
        if thread.name == "load":
            thread.join(60)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        load.end()


def test_a_model_that_does_not_answer_is_found_before_the_first_level() -> None:
    def broken(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    target = Target("http://model/v1", "m", transport=httpx.MockTransport(broken))
    with pytest.raises(EndpointError, match="does not answer: refused"):
        SyntheticLoad(target, SHAPE, 7).warm_up()


def test_the_warm_up_is_one_short_answer() -> None:
    model = Model()
    SyntheticLoad(model.target(), SHAPE, 7).warm_up()
    assert [each["max_tokens"] for each in model.asked] == [1]


def test_a_load_that_never_began_has_no_sessions() -> None:
    assert SyntheticLoad(Model().target(), SHAPE, 7).end() == ()
