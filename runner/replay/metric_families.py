"""Metric families: names, kinds, labels and buckets of what a vLLM server tells Prometheus, as text.

They are those of vLLM's own logger (``vllm/v1/metrics/loggers.py``, version 1 engine), since collectors look
for them by name and quantiles depend on where the bounds of the buckets lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SHORT = (0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
FIRST_TOKEN_BOUNDS = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    *SHORT,
    160.0,
    640.0,
    2560.0,
)
TOKEN_BOUNDS = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, *SHORT)
MINUTES = (60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0)
REQUEST_BOUNDS = (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, *MINUTES)
COUNT_BOUNDS = tuple(float(step * 10**power) for power in range(6) for step in (1, 2, 5))
"""Of tokens per request; vLLM ends them at the model's context window."""

COUNTERS: Mapping[str, str] = {
    "prompt_tokens": "Input tokens of served answers, cached ones included.",
    "prompt_tokens_cached": "Input tokens of served answers that came from the prefix cache.",
    "generation_tokens": "Output tokens of served answers.",
    "prefix_cache_queries": "Input tokens that were looked up in the prefix cache.",
    "prefix_cache_hits": "Input tokens that were read from the prefix cache.",
    "num_preemptions": "Requests that had to make room for others; never here.",
}
GAUGES: Mapping[str, str] = {
    "num_requests_running": "Requests being answered.",
    "num_requests_waiting": "Requests that wait to be answered.",
    "kv_cache_usage_perc": "Tokens of running requests over the size of the cache; 1 is all of it.",
}
HISTOGRAMS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "time_to_first_token_seconds": (
        "From the arrival of a request to the first byte of its answer.",
        FIRST_TOKEN_BOUNDS,
    ),
    "inter_token_latency_seconds": (
        "Between two output tokens, on average over an answer, once per token.",
        TOKEN_BOUNDS,
    ),
    "time_per_output_token_seconds": ("The same under the name that older servers have.", TOKEN_BOUNDS),
    "request_time_per_output_token_seconds": (
        "Between two output tokens, on average over an answer.",
        TOKEN_BOUNDS,
    ),
    "e2e_request_latency_seconds": ("From the arrival of a request to its end.", REQUEST_BOUNDS),
    "request_queue_time_seconds": ("Between arrival and the beginning of work.", REQUEST_BOUNDS),
    "request_prefill_time_seconds": (
        "Between the beginning of work and the first byte.",
        REQUEST_BOUNDS,
    ),
    "request_decode_time_seconds": ("Between the first byte and the end.", REQUEST_BOUNDS),
    "request_inference_time_seconds": ("Between the beginning of work and the end.", REQUEST_BOUNDS),
    "request_prompt_tokens": ("Input tokens of a request.", COUNT_BOUNDS),
    "request_generation_tokens": ("Output tokens of a request.", COUNT_BOUNDS),
}
FINISHED = "request_success"
REASONS = ("stop", "length", "abort", "error", "repetition")
"""How a request can end, in vLLM's words."""


@dataclass
class Histogram:
    """Counts between the bounds, number and sum."""

    bounds: tuple[float, ...]
    counts: list[int] = field(init=False)
    number: int = 0
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * len(self.bounds)

    def observe(self, value: float, times: int = 1) -> None:
        """Note ``value``, ``times`` times."""
        place = next((index for index, bound in enumerate(self.bounds) if value <= bound), None)
        if place is not None:
            self.counts[place] += times
        self.number += times
        self.total += value * times

    def lines(self, name: str, labels: str) -> Iterator[str]:
        """Its samples: cumulative buckets, number and sum."""
        for bound, count in zip(self.bounds, accumulate(self.counts), strict=True):
            yield f'vllm:{name}_bucket{{{labels},le="{bound}"}} {float(count)}'
        yield f'vllm:{name}_bucket{{{labels},le="+Inf"}} {float(self.number)}'
        yield f"vllm:{name}_count{{{labels}}} {float(self.number)}"
        yield f"vllm:{name}_sum{{{labels}}} {self.total}"


def head(name: str, kind: str, text: str) -> Iterator[str]:
    """The two lines before the samples of a family."""
    yield f"# HELP vllm:{name} {text}"
    yield f"# TYPE vllm:{name} {kind}"


def labels_of(model: str) -> str:
    """The labels that every sample of a model has."""
    return f'engine="0",model_name="{_escaped(model)}"'


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
