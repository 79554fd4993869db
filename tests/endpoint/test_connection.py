"""One connection without a network: a clock that is set by hand, and reads that are handed in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.ask import Outcome, Phase
from runner.endpoint.connection import Connection
from runner.endpoint.exchange import Bounds, Exchange
from tests.endpoint.exchanges import question
from tests.endpoint.servers import ANSWER, END, HEAD, WHOLE, framed

REQUEST = b"POST / HTTP/1.1\r\n\r\n"


class Clock:
    """Nanoseconds that only a test moves."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class Wire:
    """As much of a transport as a connection uses; takes at most ``room`` bytes at once."""

    def __init__(self, room: int = 1_000_000) -> None:
        self.room = room
        self.written = b""
        self.closed = False

    def set_write_buffer_limits(self, high: int) -> None:
        assert high == 0

    def write(self, data: bytes) -> None:
        self.written += data

    def get_write_buffer_size(self) -> int:
        return max(0, len(self.written) - self.room)

    def is_closing(self) -> bool:
        return self.closed

    def abort(self) -> None:
        self.closed = True


class Bench:
    """A connection with everything around it in the hands of a test."""

    def __init__(self, room: int = 1_000_000, bounds: Bounds = Bounds()) -> None:  # noqa: B008 - frozen
        self.clock = Clock()
        self.wire = Wire(room)
        self.connection = Connection(None, bounds, self.clock)
        self.clock.now = 5
        self.connection.connection_made(cast(asyncio.Transport, self.wire))
        self.exchange = Exchange(question(), datetime(2026, 1, 31, tzinfo=UTC))

    def begin(self, at: int = 10) -> asyncio.Future[None]:
        self.clock.now = at
        return self.connection.begin(self.exchange, REQUEST)

    def read(self, data: bytes, at: int) -> None:
        self.clock.now = at
        place = 0
        while place < len(data):
            buffer = self.connection.get_buffer(-1)
            size = min(len(buffer), len(data) - place)
            buffer[:size] = data[place : place + size]
            self.connection.buffer_updated(size)
            place += size


def at_the_bench(test: Callable[[Bench], None], room: int = 1_000_000, bounds: Bounds | None = None) -> None:
    async def run() -> None:
        test(Bench(room, bounds or Bounds()))

    asyncio.run(run())


def test_every_read_is_stamped_and_its_body_kept_beside_the_stamp() -> None:
    def check(bench: Bench) -> None:
        done = bench.begin()
        bench.read(HEAD, 200)
        bench.read(framed(b"one"), 300)
        bench.read(framed(b"two")[:4], 400)
        bench.read(framed(b"two")[4:] + END, 500)
        assert done.done()
        exchange = bench.exchange
        assert exchange.piece_stamps == [300, 400, 500]
        assert exchange.pieces == [b"one", b"t", b"wo"]
        stamps = exchange.stamps
        assert (stamps.sent, stamps.written, stamps.first_byte, stamps.headers) == (10, 10, 200, 200)
        assert stamps.ended == 500
        assert (exchange.complete, exchange.broken, exchange.reads) == (True, None, 4)
        assert bench.connection.connected_ns == 5
        assert bench.connection.usable

    at_the_bench(check)


def test_a_head_in_two_reads_has_its_first_byte_before_its_end() -> None:
    def check(bench: Bench) -> None:
        bench.begin()
        bench.read(WHOLE[:20], 100)
        bench.read(WHOLE[20:], 150)
        stamps = bench.exchange.stamps
        assert (stamps.first_byte, stamps.headers) == (100, 150)

    at_the_bench(check)


def test_when_the_system_takes_the_request_late_that_is_when_it_was_written() -> None:
    def check(bench: Bench) -> None:
        bench.begin(at=10)
        written: list[int | None] = [bench.exchange.stamps.written]
        for now in (70, 90):
            bench.clock.now = now
            bench.connection.resume_writing()
            written.append(bench.exchange.stamps.written)
        assert written == [None, 70, 70]

    at_the_bench(check, room=3)


def test_an_answer_to_half_a_request_ends_the_connection() -> None:
    def check(bench: Bench) -> None:
        done = bench.begin()
        bench.read(WHOLE, 20)
        assert done.done()
        assert bench.exchange.complete
        assert bench.wire.closed
        assert not bench.connection.usable

    at_the_bench(check, room=3)


def test_bytes_that_nobody_asked_for_end_the_connection() -> None:
    def check(bench: Bench) -> None:
        bench.read(b"HTTP/1.1 200 OK\r\n\r\n", 7)
        assert bench.wire.closed

    at_the_bench(check)


def test_the_next_exchange_begins_with_nothing_of_the_one_before() -> None:
    def check(bench: Bench) -> None:
        bench.begin()
        bench.read(WHOLE, 20)
        first, bench.exchange = bench.exchange, Exchange(question(), datetime(2026, 1, 31, tzinfo=UTC))
        bench.begin(at=30)
        bench.read(WHOLE, 40)
        assert (first.reused, bench.exchange.reused) == (False, True)
        assert bench.exchange.stamps.first_byte == 40
        assert b"".join(bench.exchange.pieces) == b"".join(first.pieces) == ANSWER

    at_the_bench(check)


def test_two_exchanges_at_once_are_a_mistake_of_ours() -> None:
    def check(bench: Bench) -> None:
        bench.begin()
        with pytest.raises(RuntimeError, match="one exchange at a time"):
            bench.begin()

    at_the_bench(check)


@pytest.mark.parametrize(
    ("data", "error", "code", "phase"),
    [
        (b"", None, "connection_closed", Phase.HEADERS),
        (HEAD[:9], None, "connection_closed", Phase.HEADERS),
        (HEAD + framed(b"x"), None, "connection_closed", Phase.STREAM),
        (HEAD + framed(b"x"), ConnectionResetError("gone"), "connection_reset", Phase.STREAM),
        (b"", ConnectionResetError("gone"), "connection_reset", Phase.HEADERS),
    ],
)
def test_a_connection_that_is_lost_is_told_by_how_and_where(
    data: bytes, error: Exception | None, code: str, phase: Phase
) -> None:
    def check(bench: Bench) -> None:
        done = bench.begin()
        bench.read(data, 20)
        bench.connection.connection_lost(error)
        assert done.done()
        assert bench.exchange.broken is not None
        assert bench.exchange.broken.outcome is Outcome.STREAM_ERROR
        failure = bench.exchange.broken.failure
        assert (failure.code, failure.phase) == (code, phase)

    at_the_bench(check)


def test_a_body_that_ends_with_the_connection_is_complete() -> None:
    def check(bench: Bench) -> None:
        done = bench.begin()
        bench.read(b"HTTP/1.1 200 OK\r\n\r\nrest", 20)
        assert not done.done()
        bench.connection.eof_received()
        assert bench.exchange.complete
        assert bench.exchange.pieces == [b"rest"]
        assert bench.wire.closed

    at_the_bench(check)


def test_what_is_given_up_ends_when_it_is_given_up() -> None:
    def check(bench: Bench) -> None:
        done = bench.begin()
        bench.read(HEAD, 20)
        bench.clock.now = 900
        bench.connection.give_up(Outcome.TIMEOUT_STALL, "timeout_stall", "nothing for 1 s", Phase.STREAM)
        assert done.done()
        assert bench.exchange.stamps.ended == 900
        assert bench.wire.closed
        bench.connection.connection_lost(None)
        assert bench.exchange.broken is not None
        assert bench.exchange.broken.outcome is Outcome.TIMEOUT_STALL

    at_the_bench(check)


def test_a_body_beyond_its_bound_is_given_up_with_what_came() -> None:
    def check(bench: Bench) -> None:
        done = bench.begin()
        bench.read(HEAD + framed(b"x" * 60), 20)
        assert not done.done()
        bench.read(framed(b"y" * 60), 30)
        assert done.done()
        assert bench.exchange.broken is not None
        assert bench.exchange.broken.failure.code == "body_too_large"
        assert sum(map(len, bench.exchange.pieces)) == 120

    at_the_bench(check, bounds=Bounds(body=100))


@given(places=st.lists(st.integers(0, len(WHOLE)), max_size=8))
def test_any_reads_give_the_same_body_and_stamps_that_never_go_back(places: list[int]) -> None:
    edges = [0, *sorted(places), len(WHOLE)]

    def check(bench: Bench) -> None:
        done = bench.begin()
        for number, (begin, end) in enumerate(pairwise(edges)):
            bench.read(WHOLE[begin:end], 100 + number)
        assert done.done()
        exchange = bench.exchange
        assert b"".join(exchange.pieces) == ANSWER
        assert exchange.piece_stamps == sorted(exchange.piece_stamps)
        assert len(exchange.piece_stamps) == len(exchange.pieces)
        assert exchange.bytes_received == len(WHOLE)

    at_the_bench(check)
