"""A server with injected service times takes its time, keeps its queue, and counts as vLLM does."""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError
from runner.replay import STAND_IN, ReplayServer, ServiceTimes, Tokens, parse_service
from runner.replay.meter import Meter
from runner.replay.service import BLOCK_TOKENS, PrefixCache, Service
from tests.replay.tapes import request, tape
from tests.replay.test_meter import TURN, Clock, page, read

TIMES = ServiceTimes(
    capacity=1, prefill_seconds_per_token=0.01, output_seconds_per_token=0.02, kv_cache_tokens=10_000
)
words = st.lists(st.sampled_from("abcdefgh"), max_size=120)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReplayServer]:
    with ReplayServer(tape(tmp_path), service=TIMES) as running:
        yield running


def talk(server: ReplayServer, text: str, output: int = 5, **more: object) -> httpx.Response:
    body = {"model": STAND_IN, "messages": [{"role": "user", "content": text}], "max_tokens": output, **more}
    url = f"{server.base_url}/v1/chat/completions"
    return httpx.post(url, json=body, trust_env=False, timeout=60)


def usage_of(response: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = response.json()["usage"]
    return found


def test_the_stand_in_answers_as_many_tokens_as_are_asked_for_and_counts_words(server: ReplayServer) -> None:
    response = talk(server, "one two three", output=7)
    choice = response.json()["choices"][0]
    assert choice["message"]["content"].split() == ["word"] * 7
    assert choice["finish_reason"] == "length"
    usage = usage_of(response)
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (5, 7)
    found = page(server)
    assert found[("request_success_total", 'finished_reason="length"')] == 1
    assert found[("generation_tokens_total", "")] == 7


def test_an_answer_takes_its_prefill_and_its_output_time(server: ReplayServer) -> None:
    begun = time.monotonic()
    talk(server, " ".join(["a"] * 18), output=6)
    took = time.monotonic() - begun
    found = page(server)
    assert took >= 20 * 0.01 + 5 * 0.02
    assert found[("request_prefill_time_seconds_sum", "")] >= 0.2
    assert found[("e2e_request_latency_seconds_sum", "")] >= 0.3
    assert found[("inter_token_latency_seconds_sum", "")] == pytest.approx(5 * 0.02)
    assert found[("inter_token_latency_seconds_count", "")] == 5


@pytest.fixture
def crowd() -> Iterator[None]:
    """So many descriptors are open that the next one has a number above 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("so many descriptors are not allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    with ExitStack() as stack:
        while stack.enter_context(Path(os.devnull).open("rb")).fileno() < 1100:
            continue
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("crowd")
def test_a_server_under_the_load_of_a_thousand_connections_drops_none(tmp_path: Path) -> None:
    with ReplayServer(tape(tmp_path), service=TIMES) as server:
        assert talk(server, "one").status_code == 200


def stream(server: ReplayServer, output: int) -> AbstractContextManager[httpx.Response]:
    """An answer of so many tokens as a stream."""
    body = {
        "model": STAND_IN,
        "messages": [{"role": "user", "content": "x"}],
        "max_tokens": output,
        "stream": True,
    }
    url = f"{server.base_url}/v1/chat/completions"
    return httpx.stream("POST", url, json=body, trust_env=False, timeout=60)


def test_a_stream_is_not_over_before_its_tokens_are_due(server: ReplayServer) -> None:
    begun = time.monotonic()
    with stream(server, 11) as response:
        response.read()
    assert time.monotonic() - begun >= 10 * 0.02


def test_a_stream_flows_while_its_later_tokens_are_not_due_however_busy_its_reader(tmp_path: Path) -> None:
    # An answer that takes minutes: a reader who sees its beginning can only have seen it early.
    slow = ServiceTimes(capacity=1, prefill_seconds_per_token=0, output_seconds_per_token=60)
    with ReplayServer(tape(tmp_path), service=slow) as server, stream(server, 11) as response:
        first = next(line for line in response.iter_lines() if line.startswith("data:"))
        assert json.loads(first.removeprefix("data:"))["choices"][0]["finish_reason"] is None
        assert page(server)[("generation_tokens_total", "")] < 11


def test_recorded_turns_take_their_time_too(tmp_path: Path) -> None:
    slow = ServiceTimes(prefill_seconds_per_token=0.3 / TURN.uncached, output_seconds_per_token=0)
    with ReplayServer(tape(tmp_path), service=slow) as server:
        begun = time.monotonic()
        url = server.url_for(run="r", scenario="demo/t") + "/v1/chat/completions"
        httpx.post(url, json=request(stream=False), trust_env=False, timeout=60)
        assert time.monotonic() - begun >= 0.3
        text = httpx.get(server.base_url + "/metrics", trust_env=False).text
    assert f'vllm:prompt_tokens_total{{engine="0",model_name="m"}} {float(TURN.prompt)}' in text


def test_places_are_given_in_the_order_of_arrival() -> None:
    service, waiting, served = Service(TIMES), set[str](), list[str]()

    def ask(name: str) -> None:
        def has_left() -> bool:
            waiting.add(name)
            return False

        with service.place(1, has_left):
            served.append(name)

    with ThreadPoolExecutor(3) as pool, service.place(1, lambda: False):
        for name in ("first", "second", "third"):
            pool.submit(ask, name)
            deadline = time.monotonic() + 60
            while name not in waiting:
                assert time.monotonic() < deadline
                time.sleep(0.001)
    assert served == ["first", "second", "third"]


def test_requests_beyond_the_places_wait_and_are_counted(server: ReplayServer) -> None:
    with ThreadPoolExecutor(3) as pool:
        for number in range(1, 4):
            pool.submit(talk, server, "a " * 20, output=1)
            wait_for(server, number)
    found = page(server)
    assert found[("request_queue_time_seconds_count", "")] == 3
    assert found[("request_queue_time_seconds_sum", "")] > 0
    assert found[("num_requests_running", "")] == found[("num_requests_waiting", "")] == 0


def wait_for(server: ReplayServer, number: int) -> None:
    """Wait until so many requests run, wait or have ended."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = page(server)
        busy = found[("num_requests_running", "")] + found[("num_requests_waiting", "")]
        if busy + ended_requests(found) >= number:
            return
        time.sleep(0.005)
    raise AssertionError(f"never saw {number} requests")


def ended_requests(found: dict[tuple[str, str], float]) -> float:
    """Requests that ended, in whatever way."""
    return sum(value for (name, _), value in found.items() if name == "request_success_total")


def test_whoever_leaves_the_queue_is_forgotten(server: ReplayServer) -> None:
    # A minute of prefill: the one place is taken for as long as the test lasts.
    with asking(server, "a " * 6000):
        wait_for(server, 1)
        with asking(server, "b"):
            wait_for(server, 2)
        deadline = time.monotonic() + 60
        while page(server)[("num_requests_waiting", "")] and time.monotonic() < deadline:
            time.sleep(0.01)
        found = page(server)
        assert (found[("num_requests_running", "")], found[("num_requests_waiting", "")]) == (1, 0)
        assert ended_requests(found) == 0


def asking(server: ReplayServer, text: str) -> socket.socket:
    """A connection of a client that asks and leaves before its answer."""
    body = json.dumps({"model": STAND_IN, "messages": [{"role": "user", "content": text}]})
    host, port = server.base_url.removeprefix("http://").split(":")
    client = socket.create_connection((host, int(port)))
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    client.sendall((head + body).encode())
    return client


def test_the_beginning_of_an_earlier_talk_is_found_in_the_cache(server: ReplayServer) -> None:
    text = " ".join(f"w{number}" for number in range(40))
    assert usage_of(talk(server, text))["prompt_tokens_details"]["cached_tokens"] == 0
    again = usage_of(talk(server, text + " and more"))
    assert again["prompt_tokens_details"]["cached_tokens"] == 41 // BLOCK_TOKENS * BLOCK_TOKENS


def test_a_request_larger_than_the_cache_is_served_all_the_same(tmp_path: Path) -> None:
    small = ServiceTimes(
        capacity=2, prefill_seconds_per_token=0, output_seconds_per_token=0, kv_cache_tokens=16
    )
    with ReplayServer(tape(tmp_path), service=small) as server:
        assert talk(server, "a " * 100).status_code == 200


def test_without_service_times_nothing_stands_in_and_nowhere_is_no_scenario(tmp_path: Path) -> None:
    with ReplayServer(tape(tmp_path)) as server:
        assert talk(server, "x").status_code == 404
        models = httpx.get(server.url_for(run="r", scenario="demo/t") + "/v1/models", trust_env=False).json()
        assert STAND_IN not in {each["id"] for each in models["data"]}


@pytest.mark.parametrize("output", [0, -1, "many", 10**9])
def test_a_number_of_tokens_that_is_none_is_refused(server: ReplayServer, output: Any) -> None:
    response = talk(server, "x", output=output)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_max_tokens")


@given(words, words)
def test_what_was_remembered_is_found_in_whole_blocks_but_for_the_last_token(
    known: list[str], more: list[str]
) -> None:
    cache = PrefixCache(10_000)
    cache.remember(known)
    asked = [*known, *more]
    found = cache.look_up(asked)
    assert found % BLOCK_TOKENS == 0
    assert found <= max(len(asked) - 1, 0)
    assert found >= min(len(known), max(len(asked) - 1, 0)) // BLOCK_TOKENS * BLOCK_TOKENS


@given(words)
def test_an_empty_cache_finds_nothing(asked: list[str]) -> None:
    assert PrefixCache(10_000).look_up(asked) == 0


def test_the_least_recently_used_is_forgotten_first() -> None:
    cache = PrefixCache(2 * BLOCK_TOKENS)
    first, second, third = (["x", *[name] * 16] for name in "abc")
    cache.remember(first)
    cache.remember(second)
    assert cache.look_up(first) == BLOCK_TOKENS
    cache.remember(third)
    assert (cache.look_up(first), cache.look_up(second)) == (BLOCK_TOKENS, 0)


def test_service_times_are_read_from_words() -> None:
    assert parse_service("capacity=3,prefill=0.001,output=0.5,kv=64") == ServiceTimes(3, 0.001, 0.5, 64)
    assert parse_service("") == ServiceTimes()


@pytest.mark.parametrize(
    "text",
    [
        "speed=1",
        "capacity",
        "capacity=0",
        "output=-1",
        "prefill=x",
        "kv=1",
        "output=nan",
        "capacity=inf",
        "output=inf",
    ],
)
def test_service_times_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_service(text)
    assert "capacity=4" in str(caught.value.remedy)


def test_a_paced_answer_counts_as_it_flows() -> None:
    clock = Clock()
    meter = Meter(("m",), clock=clock, paced=True, kv_cache_tokens=100)
    ticket = meter.arrive("m")
    ticket.begin(Tokens(uncached=10, cache_read=20, output=5))
    assert read(meter.page())[("prompt_tokens_total", "")] == 0
    clock.now += 1
    ticket.first_byte(0.5)
    seen = read(meter.page())
    assert (seen[("prompt_tokens_total", "")], seen[("generation_tokens_total", "")]) == (30, 1)
    assert seen[("prefix_cache_hits_total", "")] == seen[("prompt_tokens_cached_total", "")] == 20
    assert seen[("time_to_first_token_seconds_count", "")] == 1
    clock.now += 1.1
    seen = read(meter.page())
    assert seen[("generation_tokens_total", "")] == 3
    assert seen[("kv_cache_usage_perc", "")] == pytest.approx(0.33)
    assert seen[("e2e_request_latency_seconds_count", "")] == 0
    clock.now += 5
    ticket.end("length")
    seen = read(meter.page())
    assert seen[("generation_tokens_total", "")] == 5
    assert seen[("inter_token_latency_seconds_count", "")] == 4
    assert seen[("request_success_total", 'finished_reason="length"')] == 1
    assert seen[("kv_cache_usage_perc", "")] == 0


def test_a_paced_answer_that_broke_off_counts_what_flowed_and_none_of_its_times() -> None:
    clock = Clock()
    meter = Meter(("m",), clock=clock, paced=True)
    flowing, waiting, early = meter.arrive("m"), meter.arrive("m"), meter.arrive("m")
    for ticket in (flowing, early):
        ticket.begin(Tokens(uncached=10, output=5))
    flowing.first_byte(1.0)
    clock.now += 1.5
    for ticket in (flowing, waiting, early):
        ticket.end()
    seen = read(meter.page())
    assert seen[("generation_tokens_total", "")] == 2
    assert seen[("prompt_tokens_total", "")] == 10
    assert seen[("request_success_total", 'finished_reason="abort"')] == 2
    assert seen[("e2e_request_latency_seconds_count", "")] == 0
    assert seen[("num_requests_running", "")] == seen[("num_requests_waiting", "")] == 0


def test_the_buckets_are_those_of_vllm() -> None:
    text = Meter(("m",)).page()
    bounds = {
        name: re.findall(rf'vllm:{name}_bucket\{{[^}}]*le="([^"]+)"', text)
        for name in (
            "time_to_first_token_seconds",
            "request_queue_time_seconds",
            "inter_token_latency_seconds",
        )
    }
    assert [len(each) for each in bounds.values()] == [23, 22, 20]
    assert bounds["request_queue_time_seconds"][:3] == ["0.3", "0.5", "0.8"]
    assert bounds["time_to_first_token_seconds"][-3:] == ["640.0", "2560.0", "+Inf"]
    assert bounds["inter_token_latency_seconds"][:2] == ["0.01", "0.025"]
