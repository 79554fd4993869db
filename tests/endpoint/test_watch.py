"""Deadlines: which comes first at each stage, and that each is found without a timer per read."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

import pytest

from runner.endpoint.ask import Deadlines, Outcome, Phase
from runner.endpoint.exchange import Exchange
from runner.endpoint.watch import Watch, next_deadline
from tests.endpoint.exchanges import question

S = 1_000_000_000
ALL = Deadlines(connect=1, headers=3, stall=2, total=10)


def at(deadlines: Deadlines = ALL, **stamps: int) -> Exchange:
    exchange = Exchange(question(deadlines=deadlines), datetime(2026, 1, 31, tzinfo=UTC))
    for name, seconds in stamps.items():
        setattr(exchange.stamps, name, seconds * S)
    return exchange


@pytest.mark.parametrize(
    ("exchange", "seconds", "outcome"),
    [
        (at(sent=5), 8, Outcome.TIMEOUT_HEADERS),
        (at(sent=5, written=7), 10, Outcome.TIMEOUT_HEADERS),
        (at(connect_begun=4, sent=5, written=12), 14, Outcome.TIMEOUT_TOTAL),
        (at(sent=5, headers=6, ended=6), 8, Outcome.TIMEOUT_STALL),
        (at(sent=5, headers=6, ended=14), 15, Outcome.TIMEOUT_TOTAL),
        (at(sent=5, ended=6), 8, Outcome.TIMEOUT_HEADERS),
        (at(Deadlines(headers=None, total=None), sent=5, headers=6, ended=6), 66, Outcome.TIMEOUT_STALL),
        (at(Deadlines(headers=None, stall=None), sent=5), 605, Outcome.TIMEOUT_TOTAL),
    ],
)
def test_the_earliest_deadline_is_that_of_the_stage(
    exchange: Exchange, seconds: int, outcome: Outcome
) -> None:
    found = next_deadline(exchange)
    assert found is not None
    assert found[:2] == (seconds * S, outcome)


def test_without_deadlines_there_is_none() -> None:
    never = Deadlines(connect=None, headers=None, stall=None, total=None)
    assert next_deadline(at(never, sent=5)) is None
    assert next_deadline(at(Deadlines(headers=None, total=None), sent=5)) is None


def watched(
    deadlines: Deadlines, *, reads: int = 0, head: bool = True, begun: bool = False
) -> list[tuple[Outcome, Phase]]:
    """What a watch gives up as, while ``reads`` come every 20 ms and then none.

    ``begun``: the head is there before the watch; ``head``: it comes with the first of the reads.
    """
    given_up: list[tuple[Outcome, Phase]] = []

    async def run() -> None:
        exchange = at(deadlines)
        exchange.stamps.sent = exchange.stamps.written = time.perf_counter_ns()
        if begun:
            exchange.stamps.headers = exchange.stamps.ended = exchange.stamps.sent
        watch = Watch(exchange, lambda outcome, _code, _text, phase: given_up.append((outcome, phase)))
        for _ in range(reads):
            await asyncio.sleep(0.02)
            exchange.stamps.ended = time.perf_counter_ns()
            if head:
                exchange.stamps.headers = exchange.stamps.headers or exchange.stamps.ended
        until = time.monotonic() + 60
        while not given_up and time.monotonic() < until:
            await asyncio.sleep(0.01)
        watch.stop()
        await asyncio.sleep(0.05)

    asyncio.run(run())
    return given_up


def test_a_stall_is_found_though_the_wait_for_the_head_was_set_much_longer() -> None:
    slow = Deadlines(headers=60, stall=0.1, total=60)
    assert watched(slow, reads=2) == [(Outcome.TIMEOUT_STALL, Phase.STREAM)]


def test_a_head_that_does_not_come_is_given_up_once() -> None:
    assert watched(Deadlines(headers=0.05, total=60)) == [(Outcome.TIMEOUT_HEADERS, Phase.HEADERS)]


def test_half_a_head_is_no_head() -> None:
    deadlines = Deadlines(headers=0.1, stall=60, total=60)
    assert watched(deadlines, reads=2, head=False) == [(Outcome.TIMEOUT_HEADERS, Phase.HEADERS)]


def test_a_total_ends_a_stream_that_flows() -> None:
    deadlines = Deadlines(headers=60, stall=60, total=0.1)
    assert watched(deadlines, reads=2, begun=True) == [(Outcome.TIMEOUT_TOTAL, Phase.STREAM)]


def test_a_watch_that_is_stopped_gives_nothing_up_and_leaves_no_timer() -> None:
    given_up: list[Outcome] = []

    async def run() -> None:
        exchange = at(Deadlines(headers=0.02, total=0.02))
        exchange.stamps.sent = time.perf_counter_ns()
        Watch(exchange, lambda outcome, *_: given_up.append(outcome)).stop()
        await asyncio.sleep(0.1)

    asyncio.run(run())
    assert given_up == []
