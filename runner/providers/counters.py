"""ServerCounters: what a model server has counted since it started, read from its page for Prometheus."""

from __future__ import annotations

import contextlib
import math
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families

METRICS_SECONDS = 2.0
PAGE_SECONDS = 5.0
"""For the whole page: agents wait meanwhile."""
MAX_PAGE_BYTES = 5_000_000
SAMPLES: Mapping[str, str] = {
    "vllm:prompt_tokens_total": "prompt_tokens",
    "vllm:generation_tokens_total": "generation_tokens",
    "vllm:prefix_cache_queries_total": "prefix_cache_queries",
    "vllm:prefix_cache_hits_total": "prefix_cache_hits",
    "vllm:request_success_total": "requests_finished",
    "vllm:num_preemptions_total": "preemptions",
}
"""Sample of the page by the counter's name here. vLLM's names; other servers that keep them are read too."""


@dataclass(frozen=True)
class ServerCounters:
    """Counts over all clients since the server started; one that it does not have is None."""

    prompt_tokens: int | None = None
    generation_tokens: int | None = None
    prefix_cache_queries: int | None = None
    prefix_cache_hits: int | None = None
    requests_finished: int | None = None
    preemptions: int | None = None

    def since(self, earlier: ServerCounters) -> ServerCounters:
        """What was counted since ``earlier``. A counter that went back was reset: None."""
        return ServerCounters(
            **{name: _grown(getattr(self, name), getattr(earlier, name)) for name in SAMPLES.values()}
        )


def read_counters(
    address: str, model: str, *, transport: httpx.BaseTransport | None = None
) -> ServerCounters | None:
    """The counters of ``model`` as the page at ``address`` has them; None where there is no such page.

    Args:
        address: the whole address of the page.
        model: as it is sent on the wire. A page that knows one model only is taken to mean that one, since
            its label may be another name of it.
        transport: carries the question; None for the real network.
    """
    ends = time.monotonic() + PAGE_SECONDS
    with (
        contextlib.suppress(httpx.HTTPError),
        httpx.Client(
            transport=transport or httpx.HTTPTransport(), timeout=METRICS_SECONDS, trust_env=False
        ) as client,
        client.stream("GET", address) as response,
    ):
        if response.status_code != 200:
            return None
        body = b""
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > MAX_PAGE_BYTES or time.monotonic() > ends:
                return None
        return counters_in(body.decode("utf-8", "replace"), model)
    return None


def counters_in(page: str, model: str) -> ServerCounters | None:
    """The counters of ``model`` in the text of a page; None where it holds none of them."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    try:
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                counter = SAMPLES.get(sample.name)
                if counter is not None:
                    label = sample.labels.get("model_name", "")
                    found[label][counter] = found[label].get(counter, 0.0) + sample.value
    except (ValueError, KeyError, IndexError):
        return None
    counts = found.get(model) or (next(iter(found.values())) if len(found) == 1 else None)
    if not counts:
        return None
    return ServerCounters(**{name: _whole(value) for name, value in counts.items()})


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) and value >= 0 else None


def _grown(now: int | None, earlier: int | None) -> int | None:
    return now - earlier if now is not None and earlier is not None and now >= earlier else None
