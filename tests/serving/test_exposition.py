"""Pages of metrics: what is kept, and which pages are refused, whatever a server sends."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import EndpointError
from runner.replay.meter import Meter
from runner.serving import exposition
from runner.serving.exposition import samples_in


def test_the_pages_of_the_built_in_server_are_kept_but_for_times_of_creation() -> None:
    page = Meter(("one", "two")).page()
    found = samples_in(page)
    names = {sample.metric for sample in found}
    assert "vllm:prompt_tokens_total" in names
    assert not any(name.endswith("_created") for name in names)
    lines = [line for line in page.splitlines() if line.startswith("vllm:") and "_created{" not in line]
    assert len(found) == len(lines)
    kinds = {sample.metric: sample.metric_type for sample in found}
    assert kinds["vllm:num_requests_running"] == "gauge"
    assert kinds["vllm:e2e_request_latency_seconds_bucket"] == "histogram"
    assert kinds["vllm:prompt_tokens_total"] == "counter"


def test_labels_are_compact_json_with_sorted_keys() -> None:
    (sample,) = samples_in('vllm:x{b="2",a="q\\"\\n<script>"} 1\n')
    assert sample.labels == '{"a":"q\\"\\n<script>","b":"2"}'
    assert json.loads(sample.labels)["a"] == 'q"\n<script>'


@pytest.mark.parametrize("text", ["NaN", "+Inf", "-Inf"])
def test_a_value_that_is_no_finite_number_is_unknown(text: str) -> None:
    (sample,) = samples_in(f"vllm:x {text}\n")
    assert sample.value is None


def test_metrics_of_others_are_left_out_and_another_prefix_can_be_asked_for() -> None:
    page = "process_cpu_seconds_total 1\nsglang:x 2\nvllm:y 3\n"
    assert [sample.metric for sample in samples_in(page)] == ["vllm:y"]
    assert [sample.metric for sample in samples_in(page, "sglang:")] == ["sglang:x"]


def test_of_a_label_set_that_stands_twice_the_last_value_counts() -> None:
    (sample,) = samples_in('vllm:x{a="1"} 1\nvllm:x{a="1"} 2\n')
    assert sample.value == 2.0


MANY = "".join(f'vllm:x{{i="{index}"}} 1\n' for index in range(exposition.MAX_SAMPLES + 1))


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("", "no metric whose name begins with vllm:"),
        ("<html><body>vllm: welcome</body></html>", "no metric"),
        ('{"vllm:x": 1}', "no metric"),
        ("vllm:x{ 1\n", "cannot be read as metrics"),
        ("vllm:x one\n", "cannot be read as metrics"),
        ('vllm:x{a="' + "y" * 1001 + '"} 1\n', "label of more than"),
        ("vllm:" + "y" * 300 + " 1\n", "out of bounds"),
        ("vllm:x{" + ",".join(f'l{index}="1"' for index in range(40)) + "} 1\n", "out of bounds"),
        ('vllm:x{a="' + "y" * 20_000 + '"} 1\n', "line of more than"),
        (MANY, "more than 20,000 samples"),
    ],
    ids=["empty", "html", "json", "brace", "word", "label", "name", "labels", "line", "many"],
)
def test_a_page_that_cannot_be_served_is_refused_with_the_reason(page: str, why: str) -> None:
    with pytest.raises(EndpointError, match=why):
        samples_in(page)


@given(st.text(max_size=200), st.text(alphabet='{}",= \\#le1.e+-Inf', max_size=60))
def test_whatever_stands_on_the_page_it_is_read_or_refused(text: str, tail: str) -> None:
    try:
        found = samples_in(f"vllm:{text}\n# TYPE vllm:x {text}\nvllm:x{tail} 1\n")
    except EndpointError:
        return
    assert all(sample.metric.startswith("vllm:") for sample in found)
