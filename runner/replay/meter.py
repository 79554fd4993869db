"""Meter: times and counts of served requests, as a page that Prometheus and its like can read.

The families are those of a vLLM server; the values are this server's own. Where the server keeps to injected
service times, it counts as vLLM does: the prompt when the first token is there, each output token when it is
due, and of an answer that broke off only what flowed, and none of its times. Otherwise answers count whole at
their end, those that broke off too, as in the tally.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from runner.replay.metric_families import (
    CONTENT_TYPE,
    COUNTERS,
    FINISHED,
    GAUGES,
    HISTOGRAMS,
    REASONS,
    Histogram,
    head,
    labels_of,
)
from runner.replay.turns import Tokens

__all__ = ["CONTENT_TYPE", "KV_CACHE_TOKENS", "Meter", "Ticket"]

KV_CACHE_TOKENS = 1_000_000
"""Size of the key-value cache that this server pretends to have; the gauge is a share of it."""
OTHER = "unknown"
"""Label of models that there are no recordings of."""


@dataclass
class _Book:
    """What is known of one model."""

    created: float
    counters: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))
    finished: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REASONS, 0))
    histograms: dict[str, Histogram] = field(
        default_factory=lambda: {name: Histogram(bounds) for name, (_, bounds) in HISTOGRAMS.items()}
    )
    waiting: int = 0
    running: int = 0
    held: int = 0
    flowing: set[Ticket] = field(default_factory=set)
    """Answers whose tokens fall due one by one."""


class Ticket:
    """One request on its way. Waits until :meth:`begin`, runs until :meth:`end`."""

    def __init__(self, meter: Meter, model: str) -> None:
        self._meter, self._model = meter, model
        self._arrived = meter.clock()
        self._begun: float | None = None
        self._first: float | None = None
        self._pace: float | None = None
        self._told = 0
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

    def first_byte(self, pace: float | None = None) -> None:
        """The answer begins to flow; an output token falls due every ``pace`` seconds from now on."""
        self._first, self._pace = self._meter.clock(), pace
        if pace is not None:
            with self._meter.book(self._model) as book:
                self._count_prompt(book)
                book.histograms["time_to_first_token_seconds"].observe(self._first - self._arrived)
                book.flowing.add(self)
                self.settle(book)

    def settle(self, book: _Book) -> None:
        """Count the tokens that are due by now; the lock of ``book`` is held."""
        if self._first is None or self._pace is None:
            return
        elapsed = self._meter.clock() - self._first
        due = (
            self._tokens.output
            if self._pace <= 0
            else min(self._tokens.output, 1 + int(elapsed / self._pace))
        )
        self._flow(book, due)

    def _flow(self, book: _Book, due: int) -> None:
        more = due - self._told
        if more <= 0 or self._pace is None:
            return
        gaps = more - (self._told == 0)
        self._told = due
        book.counters["generation_tokens"] += more
        book.held += more
        for name in ("inter_token_latency_seconds", "time_per_output_token_seconds"):
            book.histograms[name].observe(self._pace, gaps)

    def end(self, reason: str = "abort") -> None:
        """The answer is complete (``stop``, ``length``) or broke off. Later calls change nothing."""
        if self._ended:
            return
        self._ended = True
        with self._meter.book(self._model) as book:
            if self._begun is None:
                book.waiting -= 1
                return
            if self._pace is not None:
                book.flowing.discard(self)
                self.settle(book) if reason == "abort" else self._flow(book, self._tokens.output)
            book.running -= 1
            book.held -= self._tokens.prompt + self._told
            book.finished[reason] += 1
            if self._meter.paced and reason == "abort":
                return
            if self._pace is None:
                self._count_whole(book)
            for name, value in self._times(self._begun).items():
                book.histograms[name].observe(value)

    def _count_whole(self, book: _Book) -> None:
        """What an answer counts that flows at once."""
        now = self._meter.clock()
        first = now if self._first is None else self._first
        self._count_prompt(book)
        book.histograms["time_to_first_token_seconds"].observe(first - self._arrived)
        book.counters["generation_tokens"] += self._tokens.output
        gaps = max(self._tokens.output - 1, 0)
        for name in ("inter_token_latency_seconds", "time_per_output_token_seconds"):
            book.histograms[name].observe((now - first) / gaps if gaps else 0.0, gaps)

    def _count_prompt(self, book: _Book) -> None:
        book.counters["prompt_tokens"] += self._tokens.prompt
        book.counters["prompt_tokens_cached"] += self._tokens.cache_read
        book.counters["prefix_cache_queries"] += self._tokens.prompt
        book.counters["prefix_cache_hits"] += self._tokens.cache_read

    def _times(self, begun: float) -> dict[str, float]:
        """Value of each histogram that counts requests."""
        now = self._meter.clock()
        first = now if self._first is None else self._first
        output = self._tokens.output if self._pace is None else self._told
        per_token = (
            {"request_time_per_output_token_seconds": (now - first) / (output - 1)} if output > 1 else {}
        )
        return {
            **per_token,
            "e2e_request_latency_seconds": now - self._arrived,
            "request_queue_time_seconds": begun - self._arrived,
            "request_prefill_time_seconds": first - begun,
            "request_decode_time_seconds": now - first,
            "request_inference_time_seconds": now - begun,
            "request_prompt_tokens": self._tokens.prompt,
            "request_generation_tokens": output,
        }


class Meter:
    """Counts by model. Safe to use from many threads.

    Args:
        models: models that stand on the page, from the beginning with zeros. All others share one name.
        clock: seconds that never go back.
        now: seconds since 1970, for the time at which counting began.
        paced: whether answers keep to injected service times, and count as they flow.
        kv_cache_tokens: size of the key-value cache.
    """

    def __init__(
        self,
        models: tuple[str, ...] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        paced: bool = False,
        kv_cache_tokens: int = KV_CACHE_TOKENS,
    ) -> None:
        self.clock = clock
        self.paced = paced
        self._kv_cache_tokens = kv_cache_tokens
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
            for book in self._books.values():
                for ticket in book.flowing:
                    ticket.settle(book)
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for name, text in COUNTERS.items():
            yield from head(f"{name}_total", "counter", text)
            for labels, book in self._labelled():
                yield f"vllm:{name}_total{{{labels}}} {float(book.counters[name])}"
            yield from self._creations(name)
        yield from head(f"{FINISHED}_total", "counter", "Requests that ended, by the reason of their end.")
        for labels, book in self._labelled():
            for reason, number in book.finished.items():
                yield f'vllm:{FINISHED}_total{{{labels},finished_reason="{reason}"}} {float(number)}'
        yield from self._creations(FINISHED)
        for name, text in GAUGES.items():
            yield from head(name, "gauge", text)
            for labels, book in self._labelled():
                yield f"vllm:{name}{{{labels}}} {self._gauge(name, book)}"
        for name, (text, _) in HISTOGRAMS.items():
            yield from head(name, "histogram", text)
            for labels, book in self._labelled():
                yield from book.histograms[name].lines(name, labels)
            yield from self._creations(name)

    def _gauge(self, name: str, book: _Book) -> float:
        values = {
            "num_requests_running": float(book.running),
            "num_requests_waiting": float(book.waiting),
            "kv_cache_usage_perc": min(book.held / self._kv_cache_tokens, 1.0),
        }
        return values[name]

    def _labelled(self) -> Iterator[tuple[str, _Book]]:
        for model, book in sorted(self._books.items()):
            yield labels_of(model), book

    def _creations(self, name: str) -> Iterator[str]:
        yield from head(f"{name}_created", "gauge", f"When the counting of {name} began.")
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
