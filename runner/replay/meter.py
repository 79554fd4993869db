"""Meter: times and counts of served requests, as a page that Prometheus and its like can read.

The families are those of a vLLM server, since collectors look for them by name; the values are this server's
own. Tokens of answers that broke off count whole, as in the tally.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from runner.replay.turns import Tokens

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
KV_CACHE_TOKENS = 1_000_000
"""Size of the key-value cache that this server pretends to have; the gauge is a share of it."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

COUNTERS: Mapping[str, str] = {
    "prompt_tokens": "Input tokens of served answers, cached ones included.",
    "generation_tokens": "Output tokens of served answers.",
    "prefix_cache_queries": "Input tokens that were looked up in the prefix cache.",
    "prefix_cache_hits": "Input tokens that were read from the prefix cache.",
    "num_preemptions": "Requests that had to make room for others; never here.",
}
GAUGES: Mapping[str, str] = {
    "num_requests_running": "Requests being answered.",
    "num_requests_waiting": "Requests that wait to be answered.",
    "kv_cache_usage_perc": "Input tokens of running requests over the size of the cache; 1 is all of it.",
}
HISTOGRAMS: Mapping[str, str] = {
    "time_to_first_token_seconds": "From the arrival of a request to the first byte of its answer.",
    "inter_token_latency_seconds": "Between two output tokens, on average over an answer, once per token.",
    "time_per_output_token_seconds": "The same under the name that older servers have.",
    "request_time_per_output_token_seconds": "Between two output tokens, on average over an answer.",
    "e2e_request_latency_seconds": "From the arrival of a request to the end of its answer.",
    "request_queue_time_seconds": "Between arrival and the beginning of work.",
    "request_prefill_time_seconds": "Between the beginning of work and the first byte.",
    "request_decode_time_seconds": "Between the first byte and the end.",
    "request_inference_time_seconds": "Between the beginning of work and the end.",
}
FINISHED = "request_success"
OTHER = "unknown"
"""Label of models that there are no recordings of."""


@dataclass
class Histogram:
    """Counts below each bound, number and sum."""

    counts: list[int] = field(default_factory=lambda: [0] * len(BOUNDS))
    number: int = 0
    total: float = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        """Note ``value``, ``times`` times."""
        for index, bound in enumerate(BOUNDS):
            if value <= bound:
                self.counts[index] += times
        self.number += times
        self.total += value * times


@dataclass
class _Book:
    """What is known of one model."""

    created: float
    counters: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))
    finished: dict[str, int] = field(default_factory=lambda: {"stop": 0, "length": 0, "abort": 0})
    histograms: dict[str, Histogram] = field(
        default_factory=lambda: {name: Histogram() for name in HISTOGRAMS}
    )
    waiting: int = 0
    running: int = 0
    held: int = 0


class Ticket:
    """One request on its way. Waits until :meth:`begin`, runs until :meth:`end`."""

    def __init__(self, meter: Meter, model: str) -> None:
        self._meter, self._model = meter, model
        self._arrived = meter.clock()
        self._begun: float | None = None
        self._first: float | None = None
        self._tokens = Tokens()
        self._ended = False
        with meter.book(model) as book:
            book.waiting += 1

    def begin(self, tokens: Tokens) -> None:
        """Work begins, on an answer of so many tokens."""
        self._begun, self._tokens = self._meter.clock(), tokens
        with self._meter.book(self._model) as book:
            book.waiting -= 1
            book.running += 1
            book.held += tokens.prompt

    def first_byte(self) -> None:
        """The answer begins to flow."""
        self._first = self._meter.clock()

    def end(self, reason: str = "abort") -> None:
        """The answer is complete (``stop``) or broke off (``abort``). Later calls change nothing."""
        if self._ended:
            return
        self._ended = True
        with self._meter.book(self._model) as book:
            if self._begun is None:
                book.waiting -= 1
                return
            book.running -= 1
            book.held -= self._tokens.prompt
            book.finished[reason] += 1
            book.counters["prompt_tokens"] += self._tokens.prompt
            book.counters["generation_tokens"] += self._tokens.output
            book.counters["prefix_cache_queries"] += self._tokens.prompt
            book.counters["prefix_cache_hits"] += self._tokens.cache_read
            for name, (value, times) in self._times(self._begun).items():
                book.histograms[name].observe(value, times)

    def _times(self, begun: float) -> dict[str, tuple[float, int]]:
        """Value of each histogram and how often it counts."""
        now = self._meter.clock()
        first = now if self._first is None else self._first
        gaps = max(self._tokens.output - 1, 0)
        per_token = (now - first) / gaps if gaps else 0.0
        return {
            "time_to_first_token_seconds": (first - self._arrived, 1),
            "inter_token_latency_seconds": (per_token, gaps),
            "time_per_output_token_seconds": (per_token, gaps),
            "request_time_per_output_token_seconds": (per_token, min(gaps, 1)),
            "e2e_request_latency_seconds": (now - self._arrived, 1),
            "request_queue_time_seconds": (begun - self._arrived, 1),
            "request_prefill_time_seconds": (first - begun, 1),
            "request_decode_time_seconds": (now - first, 1),
            "request_inference_time_seconds": (now - begun, 1),
        }


class Meter:
    """Counts by model. Safe to use from many threads.

    Args:
        models: models that stand on the page, from the beginning with zeros. All others share one name.
        clock: seconds that never go back.
        now: seconds since 1970, for the time at which counting began.
    """

    def __init__(
        self,
        models: tuple[str, ...] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.clock = clock
        self._created = now()
        self._lock = threading.Lock()
        self._books = {model: _Book(self._created) for model in models}

    def arrive(self, model: str) -> Ticket:
        """A request for ``model`` has come in."""
        return Ticket(self, model if model in self._books else OTHER)

    def book(self, model: str) -> _Locked:
        """What is known of ``model``, for as long as the context is open."""
        return _Locked(self._lock, self._books.setdefault(model, _Book(self._created)))

    def page(self) -> str:
        """All families as text."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for name, text in COUNTERS.items():
            yield from _head(f"{name}_total", "counter", text)
            for labels, book in self._labelled():
                yield f"vllm:{name}_total{{{labels}}} {float(book.counters[name])}"
            yield from self._creations(name)
        yield from _head(f"{FINISHED}_total", "counter", "Requests that ended, by the reason of their end.")
        for labels, book in self._labelled():
            for reason, number in book.finished.items():
                yield f'vllm:{FINISHED}_total{{{labels},finished_reason="{reason}"}} {float(number)}'
        yield from self._creations(FINISHED)
        for name, text in GAUGES.items():
            yield from _head(name, "gauge", text)
            for labels, book in self._labelled():
                yield f"vllm:{name}{{{labels}}} {_gauge(name, book)}"
        for name, text in HISTOGRAMS.items():
            yield from _head(name, "histogram", text)
            for labels, book in self._labelled():
                yield from _histogram_lines(name, labels, book.histograms[name])
            yield from self._creations(name)

    def _labelled(self) -> Iterator[tuple[str, _Book]]:
        for model, book in sorted(self._books.items()):
            yield f'engine="0",model_name="{_escaped(model)}"', book

    def _creations(self, name: str) -> Iterator[str]:
        yield from _head(f"{name}_created", "gauge", f"When the counting of {name} began.")
        for labels, book in self._labelled():
            yield f"vllm:{name}_created{{{labels}}} {book.created}"


class _Locked:
    """A book that nobody else touches while the context is open."""

    def __init__(self, lock: threading.Lock, book: _Book) -> None:
        self._lock, self._book = lock, book

    def __enter__(self) -> _Book:
        self._lock.acquire()
        return self._book

    def __exit__(self, *_details: object) -> None:
        self._lock.release()


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP vllm:{name} {text}"
    yield f"# TYPE vllm:{name} {kind}"


def _gauge(name: str, book: _Book) -> float:
    values = {
        "num_requests_running": float(book.running),
        "num_requests_waiting": float(book.waiting),
        "kv_cache_usage_perc": min(book.held / KV_CACHE_TOKENS, 1.0),
    }
    return values[name]


def _histogram_lines(name: str, labels: str, found: Histogram) -> Iterator[str]:
    for bound, count in zip(BOUNDS, found.counts, strict=True):
        yield f'vllm:{name}_bucket{{{labels},le="{bound}"}} {float(count)}'
    yield f'vllm:{name}_bucket{{{labels},le="+Inf"}} {float(found.number)}'
    yield f"vllm:{name}_count{{{labels}}} {float(found.number)}"
    yield f"vllm:{name}_sum{{{labels}}} {found.total}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
