"""A server's own counters are read from its page for Prometheus, and unknown ones stay unknown."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.providers import counters
from runner.providers.base import ProviderSettings
from runner.providers.compatible import CompatibleEndpoint
from runner.providers.counters import MAX_PAGE_BYTES, Histogram, ServerCounters, counters_in, read_counters
from runner.providers.registry import provider

PAGE = """# HELP vllm:prompt_tokens_total Number of prefill tokens processed.
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="m"} 364184.0
vllm:prompt_tokens_total{engine="1",model_name="m"} 8000.0
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="m"} 9388.0
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 197340.0
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 5.0
vllm:request_success_total{engine="0",finished_reason="length",model_name="m"} 2.0
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
"""


def answering(status: int = 200, body: bytes = PAGE.encode()) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(status, content=body))


def test_counters_are_summed_over_engines_and_reasons() -> None:
    found = counters_in(PAGE, "m")
    assert found == ServerCounters(
        prompt_tokens=372_184,
        generation_tokens=9_388,
        prefix_cache_hits=197_340,
        requests_finished=7,
    )


def test_a_counter_that_the_page_does_not_have_is_unknown_and_not_zero() -> None:
    found = counters_in(PAGE, "m")
    assert found is not None
    assert found.preemptions is None
    assert found.prefix_cache_queries is None


def test_a_page_with_one_model_means_that_one_whatever_it_calls_it() -> None:
    assert counters_in(PAGE, "another-name-of-m") == counters_in(PAGE, "m")


def test_of_several_models_only_the_asked_one_counts() -> None:
    page = PAGE + 'vllm:other 1\nvllm:num_preemptions_total{model_name="n"} 4\n'
    found = counters_in(page, "n")
    assert found == ServerCounters(preemptions=4)
    assert counters_in(page, "neither") is None


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1"])
def test_a_value_that_is_no_count_is_unknown(value: str) -> None:
    page = f"vllm:prompt_tokens_total {value}\nvllm:generation_tokens_total 1\n"
    assert counters_in(page, "m") == ServerCounters(generation_tokens=1)


def test_growth_is_the_difference_and_a_reset_counter_is_unknown() -> None:
    before = ServerCounters(prompt_tokens=100, generation_tokens=50, requests_finished=3)
    after = ServerCounters(prompt_tokens=160, generation_tokens=10, requests_finished=3, preemptions=2)
    assert after.since(before) == ServerCounters(prompt_tokens=60, requests_finished=0)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_growth_is_never_negative(one: int, other: int) -> None:
    grown = ServerCounters(prompt_tokens=one).since(ServerCounters(prompt_tokens=other)).prompt_tokens
    assert grown is None if one < other else grown == one - other


@given(st.text(max_size=400))
def test_a_page_of_anything_never_fails(page: str) -> None:
    found = counters_in(page, "m")
    assert found is None or isinstance(found, ServerCounters)


@given(st.integers(0, len(PAGE)), st.text(max_size=5))
def test_a_damaged_page_never_fails(place: int, damage: str) -> None:
    counters_in(PAGE[:place] + damage + PAGE[place:], "m")


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_server_that_refuses_the_page_cannot_be_asked(status: int) -> None:
    assert read_counters("http://s/metrics", "m", transport=answering(status)) is None


def test_a_page_without_any_of_the_counters_cannot_be_used() -> None:
    html = b"<html><body>metrics</body></html>"
    assert read_counters("http://s/metrics", "m", transport=answering(body=html)) is None
    assert read_counters("http://s/metrics", "m", transport=answering(body=b"")) is None


def test_an_endless_page_is_left() -> None:
    body = b"# x\n" * (MAX_PAGE_BYTES // 4 + 10)
    assert read_counters("http://s/metrics", "m", transport=answering(body=body)) is None


def test_a_page_that_comes_byte_by_byte_does_not_hold_an_agent_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "PAGE_SECONDS", 0.2)
    begun = time.monotonic()

    def dribble() -> Iterator[bytes]:
        while time.monotonic() - begun < 20:
            time.sleep(0.05)
            yield b"#"

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=dribble()))
    assert read_counters("http://m/metrics", "m", transport=transport) is None
    assert time.monotonic() - begun < 10


def test_a_server_that_is_not_there_cannot_be_asked() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    assert read_counters("http://s/metrics", "m", transport=httpx.MockTransport(refuse)) is None


def test_a_compatible_endpoint_is_asked_beside_its_api_and_without_the_key() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, content=PAGE) if request.url.path == "/metrics" else httpx.Response(404)

    settings = ProviderSettings(base_url="http://server:8000/v1", api_key_env="SOME_KEY", context_window=1)
    found = CompatibleEndpoint(transport=httpx.MockTransport(answer))
    with found.session("m", settings, {"SOME_KEY": "a-key-of-some-length"}) as session:
        counters = session.counters()
    assert counters is not None
    assert counters.requests_finished == 7
    assert [request.url.path for request in seen] == ["/metrics"]
    assert "authorization" not in seen[0].headers


def test_a_vendors_api_has_no_such_page() -> None:
    settings = ProviderSettings(api_key_env="SOME_KEY", context_window=1)
    for name in ("anthropic", "openai"):
        with provider(name).session("m", settings, {"SOME_KEY": "a-key-of-some-length"}) as session:
            assert session.counters() is None


HISTOGRAM = """# TYPE vllm:e2e_request_latency_seconds histogram
vllm:e2e_request_latency_seconds_bucket{{engine="0",le="+Inf",model_name="m"}} {count}
vllm:e2e_request_latency_seconds_count{{engine="0",model_name="m"}} {count}
vllm:e2e_request_latency_seconds_sum{{engine="0",model_name="m"}} {total}
vllm:e2e_request_latency_seconds_count{{engine="1",model_name="m"}} 1.0
vllm:e2e_request_latency_seconds_sum{{engine="1",model_name="m"}} 0.5
# TYPE vllm:prompt_tokens_cached_total counter
vllm:prompt_tokens_cached_total{{engine="0",model_name="m"}} {cached}
"""


def histograms(count: float, total: float, cached: float = 0.0) -> ServerCounters:
    found = counters_in(HISTOGRAM.format(count=count, total=total, cached=cached), "m")
    assert found is not None
    return found


def test_histograms_are_read_over_all_engines_and_told_apart_from_before() -> None:
    before, after = histograms(3, 1.5, 10), histograms(5, 4.5, 25)
    assert after.histograms["e2e_request_latency_seconds"] == Histogram(6, 5.0)
    grown = after.since(before)
    assert grown.histograms == {"e2e_request_latency_seconds": Histogram(2, 3.0)}
    assert grown.cached_prompt_tokens == 15


def test_a_histogram_that_was_reset_or_is_new_tells_nothing_of_the_time_between() -> None:
    assert histograms(2, 1.0).since(histograms(3, 1.5)).histograms == {}
    assert histograms(2, 1.0).since(ServerCounters()).histograms == {}
