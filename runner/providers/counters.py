"""ServerCounters: what a model server has counted since it started, read from its page for Prometheus."""

from __future__ import annotations

import contextlib
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import httpx
from prometheus_client.parser import text_string_to_metric_families

METRICS_SECONDS = 2.0
PAGE_SECONDS = 5.0
"""For the whole page: agents wait meanwhile."""
MAX_PAGE_BYTES = 5_000_000
PREFIX, COUNT, SUM, BUCKET = "vllm:", "_count", "_sum", "_bucket"
SAMPLES: Mapping[str, str] = {
    "vllm:prompt_tokens_total": "prompt_tokens",
    "vllm:generation_tokens_total": "generation_tokens",
    "vllm:prefix_cache_queries_total": "prefix_cache_queries",
    "vllm:prefix_cache_hits_total": "prefix_cache_hits",
    "vllm:request_success_total": "requests_finished",
    "vllm:num_preemptions_total": "preemptions",
    "vllm:prompt_tokens_cached_total": "cached_prompt_tokens",
}
"""Sample of the page by the counter's name here. vLLM's names; other servers that keep them are read too."""


@dataclass(frozen=True)
class Histogram:
    """How much a histogram has observed since the server started."""

    count: int
    total: float

    def since(self, earlier: Histogram) -> Histogram | None:
        """What was observed since ``earlier``; None where it was reset in between."""
        if self.count < earlier.count or self.total < earlier.total:
            return None
        return Histogram(self.count - earlier.count, self.total - earlier.total)


@dataclass(frozen=True)
class ServerCounters:
    """Counts over all clients since the server started; one that it does not have is None."""

    prompt_tokens: int | None = None
    generation_tokens: int | None = None
    prefix_cache_queries: int | None = None
    prefix_cache_hits: int | None = None
    requests_finished: int | None = None
    preemptions: int | None = None
    cached_prompt_tokens: int | None = None
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    """By family, without the prefix."""

    def since(self, earlier: ServerCounters) -> ServerCounters:
        """What was counted since ``earlier``. A counter that went back was reset: None."""
        histograms = {
            name: now.since(earlier.histograms[name])
            for name, now in self.histograms.items()
            if name in earlier.histograms
        }
        return ServerCounters(
            **{name: _grown(getattr(self, name), getattr(earlier, name)) for name in SAMPLES.values()},
            histograms={name: grown for name, grown in histograms.items() if grown is not None},
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
            # Certificates take longer to load than a page to read; http uses none.
            transport=transport or httpx.HTTPTransport(verify=not address.startswith("http://")),
            timeout=METRICS_SECONDS,
            trust_env=False,
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
        for family in text_string_to_metric_families(_without_buckets(page)):
            for sample in family.samples:
                if sample.name in SAMPLES or _is_part(family.type, sample.name):
                    label = sample.labels.get("model_name", "")
                    found[label][sample.name] = found[label].get(sample.name, 0.0) + sample.value
    except (ValueError, KeyError, IndexError):
        return None
    counts = found.get(model) or (next(iter(found.values())) if len(found) == 1 else None)
    if not counts:
        return None
    return ServerCounters(
        **{counter: _whole(counts[name]) for name, counter in SAMPLES.items() if name in counts},
        histograms=dict(_histograms(counts)),
    )


def _without_buckets(page: str) -> str:
    """The page without how histograms fill, which nobody asks for here and which is most of it."""
    return "\n".join(line for line in page.split("\n") if not _is_bucket(line))


def _is_bucket(line: str) -> bool:
    return line.startswith(PREFIX) and line.partition("{")[0].endswith(BUCKET)


def _is_part(kind: str, name: str) -> bool:
    """Whether a sample is the number or the sum of what a histogram of the server observed."""
    return kind == "histogram" and name.startswith(PREFIX) and name.endswith((COUNT, SUM))


def _histograms(counts: Mapping[str, float]) -> Iterator[tuple[str, Histogram]]:
    for name in counts:
        family = name.removesuffix(COUNT)
        count, total = _whole(counts[name]), counts.get(family + SUM, math.nan)
        if family != name and count is not None and math.isfinite(total) and total >= 0:
            yield family.removeprefix(PREFIX), Histogram(count, total)


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) and value >= 0 else None


def _grown(now: int | None, earlier: int | None) -> int | None:
    return now - earlier if now is not None and earlier is not None and now >= earlier else None
