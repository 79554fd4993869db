"""Service: injected service times of a model server: places for requests, a queue, prefill, output speed."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from runner.errors import ConfigurationError
from runner.replay.meter import KV_CACHE_TOKENS
from runner.replay.turns import Tokens

BLOCK_TOKENS = 16
"""Tokens that the prefix cache keeps or forgets together; vLLM's own default."""
LOOK_SECONDS = 0.05
FLAG_NAMES = {
    "capacity": "capacity",
    "prefill": "prefill_seconds_per_token",
    "output": "output_seconds_per_token",
    "kv": "kv_cache_tokens",
}
WHOLE = frozenset({"capacity", "kv_cache_tokens"})
REMEDY = "write it like capacity=4,prefill=0.0001,output=0.02,kv=1000000 (seconds per token, tokens)"


class ClientLeft(ConnectionError):
    """The client has gone away while its request waited or was worked on."""


@dataclass(frozen=True)
class ServiceTimes:
    """What a server can do, and how fast.

    Each request runs at its own speed; those beyond ``capacity``, or without room in the key-value cache,
    wait in the order of their arrival.
    """

    capacity: int = 8
    """Requests that run at once."""
    prefill_seconds_per_token: float = 0.0001
    """For each input token that is not in the prefix cache."""
    output_seconds_per_token: float = 0.01
    """From one output token to the next; the first one comes with the end of the prefill."""
    kv_cache_tokens: int = KV_CACHE_TOKENS
    """Tokens of running requests that fit, and as many that the prefix cache remembers."""

    def __post_init__(self) -> None:
        times = (self.prefill_seconds_per_token, self.output_seconds_per_token)
        if (
            self.capacity < 1
            or self.kv_cache_tokens < BLOCK_TOKENS
            or not all(0 <= each < 3600 for each in times)
        ):
            raise ConfigurationError("the service times make no sense", where="--service", remedy=REMEDY)

    def prefill_seconds(self, prompt: int, cached: int) -> float:
        """From the beginning of work to the first token."""
        return (prompt - cached) * self.prefill_seconds_per_token

    def decode_seconds(self, output: int) -> float:
        """From the first token to the last."""
        return max(output - 1, 0) * self.output_seconds_per_token


def parse_service(text: str) -> ServiceTimes:
    """The service times that ``text`` names, such as ``capacity=4,prefill=0.0001,output=0.02``.

    Raises:
        ConfigurationError: a name is unknown or a value is no number.
    """
    given: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        try:
            field = FLAG_NAMES[name.strip()]
            given[field] = int(value) if field in WHOLE else float(value)
        except (KeyError, ValueError):
            raise ConfigurationError(
                f"{part!r} is no service time", where="--service", remedy=REMEDY
            ) from None
    return ServiceTimes(**given)  # type: ignore[arg-type]


class PrefixCache:
    """Remembers whole blocks of token sequences, the least recently used forgotten first."""

    def __init__(self, tokens: int) -> None:
        self._most = max(tokens // BLOCK_TOKENS, 1)
        self._blocks: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()

    def look_up(self, tokens: Sequence[str]) -> int:
        """Tokens at the beginning of ``tokens`` that are remembered; the last one never is."""
        with self._lock:
            for known, chain in enumerate(_chains(tokens[:-1])):
                if chain not in self._blocks:
                    return known * BLOCK_TOKENS
                self._blocks.move_to_end(chain)
        return max(len(tokens) - 1, 0) // BLOCK_TOKENS * BLOCK_TOKENS

    def remember(self, tokens: Sequence[str]) -> None:
        """Keep all whole blocks of ``tokens``."""
        with self._lock:
            for chain in _chains(tokens):
                self._blocks[chain] = None
                self._blocks.move_to_end(chain)
            while len(self._blocks) > self._most:
                self._blocks.popitem(last=False)


def _chains(tokens: Sequence[str]) -> Iterator[int]:
    """A number for each whole block that stands for it and for all before it."""
    before = 0
    for start in range(0, len(tokens) - BLOCK_TOKENS + 1, BLOCK_TOKENS):
        before = hash((before, *tokens[start : start + BLOCK_TOKENS]))
        yield before


@dataclass(frozen=True)
class Delivery:
    """When each part of one answer is due, counted from the moment its work began."""

    service: Service
    begun: float
    prefill_seconds: float
    decode_seconds: float
    pace: float
    """Seconds from one output token to the next."""
    gone: Callable[[], bool]

    def wait(self, share: float = 0.0) -> None:
        """Wait until ``share`` of the answer is due; 0 is its first token, 1 its last.

        Raises:
            ClientLeft: nobody waits for the answer any more.
        """
        self.service.wait_until(self.begun + self.prefill_seconds + share * self.decode_seconds, self.gone)


class Service:
    """The places of a server with injected service times. Safe to use from many threads."""

    def __init__(self, times: ServiceTimes, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.times = times
        self.prefixes = PrefixCache(times.kv_cache_tokens)
        self._clock = clock
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()
        self._running = 0
        self._held = 0

    @contextmanager
    def place(self, tokens: int, gone: Callable[[], bool]) -> Iterator[None]:
        """A place for a request of so many tokens, input and output; waits for its turn.

        Raises:
            ClientLeft: nobody waits for the answer any more.
        """
        # A request larger than the whole cache would wait for ever.
        wanted, ticket = min(tokens, self.times.kv_cache_tokens), object()
        with self._changed:
            self._queue.append(ticket)
            try:
                while not self._has_room(ticket, wanted):
                    if gone():
                        raise ClientLeft
                    self._changed.wait(LOOK_SECONDS)
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
            self._running += 1
            self._held += wanted
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._held -= wanted
                self._changed.notify_all()

    def _has_room(self, ticket: object, wanted: int) -> bool:
        room = self._held + wanted <= self.times.kv_cache_tokens
        return self._queue[0] is ticket and self._running < self.times.capacity and room

    def wait_until(self, moment: float, gone: Callable[[], bool]) -> None:
        """Wait until the clock says ``moment``.

        Raises:
            ClientLeft: nobody waits for the answer any more.
        """
        while (left := moment - self._clock()) > 0:
            if gone():
                raise ClientLeft
            time.sleep(min(left, LOOK_SECONDS))

    def delivery(self, tokens: Tokens, gone: Callable[[], bool]) -> Delivery:
        """The times of an answer whose work begins now."""
        return Delivery(
            self,
            self._clock(),
            self.times.prefill_seconds(tokens.prompt, tokens.cache_read),
            self.times.decode_seconds(tokens.output),
            self.times.output_seconds_per_token,
            gone,
        )
