"""The metrics page: what a collector reads equals what was served."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from runner.replay import ReplayServer, Tokens
from runner.replay.meter import KV_CACHE_TOKENS, Meter
from runner.replay.metric_families import REQUEST_BOUNDS
from tests.replay.tapes import USAGE, request, tape

TURN = Tokens(**USAGE)
SAMPLE = re.compile(r'(vllm:[a-z0-9_]+)\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)+)\} ([0-9.e+-]+|\+Inf)')
READ_BY_COLLECTORS = {
    "prompt_tokens_total": "counter",
    "generation_tokens_total": "counter",
    "request_success_total": "counter",
    "prefix_cache_queries_total": "counter",
    "prefix_cache_hits_total": "counter",
    "num_preemptions_total": "counter",
    "num_requests_running": "gauge",
    "num_requests_waiting": "gauge",
    "kv_cache_usage_perc": "gauge",
    "time_to_first_token_seconds": "histogram",
    "time_per_output_token_seconds": "histogram",
    "inter_token_latency_seconds": "histogram",
    "e2e_request_latency_seconds": "histogram",
    "request_queue_time_seconds": "histogram",
    "request_prefill_time_seconds": "histogram",
    "request_decode_time_seconds": "histogram",
}


class Clock:
    """Seconds that go on when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def read(page: str) -> dict[tuple[str, str], float]:
    """Samples by family and labels; every line must be a comment or a sample."""
    found = {}
    for line in page.splitlines():
        if not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            assert match, line
            labels = ",".join(
                part for part in sorted(match[2].split(",")) if not part.startswith(("engine", "model"))
            )
            assert (match[1], labels) not in found
            found[(match[1].removeprefix("vllm:"), labels)] = float(match[3])
    return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReplayServer]:
    with ReplayServer(tape(tmp_path)) as running:
        yield running


def page(server: ReplayServer, path: str = "/metrics") -> dict[tuple[str, str], float]:
    response = httpx.get(server.base_url + path, trust_env=False, timeout=60)
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    return read(response.text)


def post(server: ReplayServer, *faults: str, stream: bool = False) -> None:
    url = server.url_for(run="r", scenario="demo/t", faults=faults) + "/v1/chat/completions"
    httpx.post(url, json=request(stream=stream), trust_env=False, timeout=60)


def test_all_families_that_collectors_read_stand_there_from_the_beginning(server: ReplayServer) -> None:
    text = httpx.get(server.base_url + "/metrics", trust_env=False).text
    for name, kind in READ_BY_COLLECTORS.items():
        assert f"# TYPE vllm:{name} {kind}\n" in text
        assert re.search(rf'^vllm:{name}(?:_count)?\{{engine="0",model_name="m"', text, re.MULTILINE), name
    assert not any(value for (name, _), value in read(text).items() if not name.endswith("_created"))


def test_counters_say_what_was_served(server: ReplayServer) -> None:
    for stream in (True, False, True):
        post(server, stream=stream)
    found = page(server)
    assert found[("prompt_tokens_total", "")] == 3 * TURN.prompt
    assert found[("generation_tokens_total", "")] == 3 * TURN.output
    assert found[("prefix_cache_queries_total", "")] == 3 * TURN.prompt
    assert found[("prefix_cache_hits_total", "")] == 3 * TURN.cache_read
    assert found[("request_success_total", 'finished_reason="stop"')] == 3
    for name in ("time_to_first_token", "e2e_request_latency", "request_queue_time", "request_decode_time"):
        assert found[(f"{name}_seconds_count", "")] == 3
    assert found[("inter_token_latency_seconds_count", "")] == 3 * (TURN.output - 1)
    assert found[("num_requests_running", "")] == found[("num_requests_waiting", "")] == 0


def test_a_run_finds_the_page_below_its_own_address(server: ReplayServer) -> None:
    post(server)
    assert page(server, "/r/x/demo/t/first1-e500/metrics") == page(server)
    health = server.url_for(run="x", scenario="demo/t") + "/health"
    assert httpx.get(health, trust_env=False).json() == {"status": "ok"}


def test_refused_requests_count_nowhere_and_broken_ones_as_aborted(server: ReplayServer) -> None:
    post(server, "e500")
    with pytest.raises(httpx.RemoteProtocolError):
        post(server, "cut", stream=True)
    found = page(server)
    assert found[("request_success_total", 'finished_reason="abort"')] == 1
    assert found[("request_success_total", 'finished_reason="stop"')] == 0
    assert found[("prompt_tokens_total", "")] == TURN.prompt
    assert found[("num_requests_waiting", "")] == 0


def test_the_page_equals_the_tally_after_many_clients(server: ReplayServer) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: post(server, stream=number % 2 == 0), range(30)))
    found, count = page(server), server.count("r")
    served = count.reported + count.unreported
    assert found[("prompt_tokens_total", "")] == served.prompt
    assert found[("generation_tokens_total", "")] == served.output
    assert found[("request_success_total", 'finished_reason="stop"')] == count.answered == 30


def test_requests_wait_and_run_and_hold_a_share_of_the_cache() -> None:
    meter = Meter(("m",))
    waiting, running = meter.arrive("m"), meter.arrive("m")
    running.begin(TURN)
    found = read(meter.page())
    assert (found[("num_requests_waiting", "")], found[("num_requests_running", "")]) == (1, 1)
    assert found[("kv_cache_usage_perc", "")] == pytest.approx(TURN.prompt / KV_CACHE_TOKENS)
    running.end("stop")
    waiting.end()
    found = read(meter.page())
    assert (found[("num_requests_waiting", "")], found[("num_requests_running", "")]) == (0, 0)
    assert found[("kv_cache_usage_perc", "")] == 0
    assert found[("request_success_total", 'finished_reason="stop"')] == 1


def test_times_are_told_apart() -> None:
    clock = Clock()
    meter = Meter(("m",), clock=clock, now=lambda: 5.0)
    ticket = meter.arrive("m")
    clock.now += 1
    ticket.begin(Tokens(uncached=10, output=5))
    clock.now += 2
    ticket.first_byte()
    clock.now += 4
    ticket.end("stop")
    ticket.end("abort")
    found = read(meter.page())
    sums = {
        "request_queue_time": 1.0,
        "request_prefill_time": 2.0,
        "time_to_first_token": 3.0,
        "request_decode_time": 4.0,
        "request_inference_time": 6.0,
        "e2e_request_latency": 7.0,
        "inter_token_latency": 4.0,
        "request_time_per_output_token": 1.0,
    }
    assert {name: found[(f"{name}_seconds_sum", "")] for name in sums} == sums
    assert found[("inter_token_latency_seconds_count", "")] == 4
    assert found[("request_success_total", 'finished_reason="abort"')] == 0
    assert found[("prompt_tokens_created", "")] == 5.0


def test_buckets_are_cumulative_and_end_with_all() -> None:
    clock = Clock()
    meter = Meter(("m",), clock=clock)
    for seconds in (0.0, 0.4, 1e9):
        ticket = meter.arrive("m")
        ticket.begin(Tokens())
        clock.now += seconds
        ticket.end("stop")
    found = read(meter.page())
    counts = [found[("e2e_request_latency_seconds_bucket", f'le="{bound}"')] for bound in REQUEST_BOUNDS]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (1, 2)
    assert found[("e2e_request_latency_seconds_bucket", 'le="+Inf"')] == 3
    assert math.isclose(found[("e2e_request_latency_seconds_sum", "")], 1e9, rel_tol=1e-6)


def test_models_that_nobody_recorded_share_one_line_and_strange_names_are_escaped() -> None:
    meter = Meter(('a"b\\c\nd',))
    for name in ("x", "y"):
        meter.arrive(name).end()
    page_text = meter.page()
    assert 'model_name="unknown"' in page_text
    assert '"x"' not in page_text
    assert r'model_name="a\"b\\c\nd"' in page_text
    assert read(page_text)
