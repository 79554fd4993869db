"""Workers: real processes that share a load; their circuit, their death, and where the key is not."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, ParamSpec

import pytest

from runner.endpoint.address import EndpointAddress
from runner.endpoint.ask import AskRequest, CutInFlight, Outcome
from runner.endpoint.breaker import CircuitBreaker
from runner.endpoint.exchange import Exchange
from runner.endpoint.load import Batch, Session
from runner.endpoint.metronome.beat import Beat
from runner.endpoint.metronome.process import Metronome
from runner.endpoint.worker_words import GivenUp, Opening
from runner.endpoint.workers import Worker, Workers, play_in_workers
from runner.errors import ConfigurationError, EndpointError
from tests.endpoint.exchanges import chunk, exchange, question, sse
from tests.endpoint.servers import HEAD, WHOLE, Peer, Server, serving

QUICK = Beat(first_ms=30, gap_ms=2, chunks=5)
KEY = "sk-correct-horse-battery-staple-0123456789"
FILES = ("cmdline", "environ")
BROKEN = b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\n\r\n{}"
Given = ParamSpec("Given")
NOBODY = EndpointAddress("http://127.0.0.1:9/v1")


def looped(test: Callable[Given, Coroutine[Any, Any, None]]) -> Callable[Given, None]:
    """The test, run in a loop of its own."""

    @functools.wraps(test)
    def run(*arguments: Given.args, **named: Given.kwargs) -> None:
        asyncio.run(test(*arguments, **named))

    return run


def children() -> set[int]:
    """Worker processes of this one."""
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = (entry / "stat").read_text().rpartition(") ")[2].split()
            if int(stat[1]) == os.getpid() and b"worker_process" in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found


@pytest.fixture
def nobody_is_left() -> Iterator[None]:
    """No process outlives its load."""
    before = children()
    yield
    assert children() == before


def test_a_load_in_two_processes_is_the_same_load(nobody_is_left: None) -> None:
    with Metronome(QUICK) as metronome:
        sessions = [
            Session(tuple(question(headers={"x-metronome-id": f"{stream}-{n}"}) for n in range(2)))
            for stream in range(3)
        ]
        batch = Batch(metronome.address, tuple(sessions), read_at_once=True)
        played = play_in_workers(batch, 2, "asyncio")
        noted = {truth.identifier for truth in metronome.log()}
    assert played.workers == 2
    assert {result.request_id for result in played.results} == noted
    assert len(noted) == 6
    assert {result.outcome for result in played.results} == {Outcome.OK}
    assert all(len(result.fragments) == QUICK.chunks for result in played.results)
    assert played.cpu_seconds > 0
    assert played.largest_lag_ms is not None


@looped
async def test_the_key_goes_through_a_pipe_alone_and_a_death_ends_the_load(nobody_is_left: None) -> None:
    heads: list[bytes] = []

    async def script(peer: Peer) -> None:
        while (asked := await peer.request()) is not None:
            heads.append(asked[0])
            if b"endless" in asked[1]:
                await peer.send(HEAD)
                await peer.until_client_leaves()
            else:
                await peer.send(WHOLE)

    async def load(server: Server) -> None:
        address = EndpointAddress(server.address.base_url, KEY)
        assert KEY not in repr(Opening(address, 1))
        async with Workers(Opening(address, 1), 2) as workers, asyncio.timeout(60):
            assert [(await worker(question())).text for worker in workers] == ["yes", "yes"]
            seen = [(Path("/proc") / str(pid) / name).read_bytes() for pid in children() for name in FILES]
            assert len(seen) == 4
            assert not any(KEY.encode() in text for text in seen)
            # Ctrl-C of a terminal goes to the group of the run.
            assert os.getpgid(0) not in {os.getpgid(pid) for pid in children()}
            with pytest.raises(ConfigurationError, match="set by the client itself"):
                await workers[0](question(headers={"host": "elsewhere"}))
            endless = [asyncio.create_task(worker(question(model="endless"))) for worker in workers]
            while len(heads) < 4:
                await asyncio.sleep(0.005)
            endless[0].cancel()
            while server.open == 2:
                await asyncio.sleep(0.005)
            for pid in children():
                os.kill(pid, signal.SIGKILL)
            await endless[1]

    async with serving(script) as server:
        with pytest.raises(EndpointError, match="share of the load died") as caught:
            await load(server)
    assert caught.value.exit_code == 4
    assert all(KEY.encode() in head for head in heads)


@looped
async def test_a_run_given_up_while_its_workers_start_leaves_none_behind(
    nobody_is_left: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, begin = asyncio.Event(), Worker.__aenter__

    async def one_alone_begins(worker: Worker) -> Worker:
        if worker is not workers.each[0]:
            await asyncio.Event().wait()
        entered = await begin(worker)
        begun.set()
        return entered

    monkeypatch.setattr(Worker, "__aenter__", one_alone_begins)
    workers = Workers(Opening(NOBODY, 1), 2)
    beginning = asyncio.create_task(workers.__aenter__())
    await begun.wait()
    beginning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await beginning


@looped
async def test_a_worker_that_is_ready_too_late_is_told_as_not_started(
    nobody_is_left: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.endpoint.workers.START_SECONDS", 0.0)
    monkeypatch.setattr("runner.endpoint.workers.END_SECONDS", 60.0)
    with pytest.raises(EndpointError, match="did not start"):
        await Worker(Opening(NOBODY, 1)).__aenter__()


def test_what_a_load_took_is_no_sum_over_some_of_its_processes(
    nobody_is_left: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They never hear that it is the end, and are killed when nobody waits any more.
    monkeypatch.setattr("runner.endpoint.workers.End", lambda: GivenUp(0))
    monkeypatch.setattr("runner.endpoint.workers.END_SECONDS", 0.0)
    batch = Batch(NOBODY, (Session((question(),)),) * 2, read_at_once=True)
    with pytest.raises(EndpointError, match="did not say what it took"):
        play_in_workers(batch, 2)


@looped
async def test_workers_share_one_circuit_and_what_waits_is_not_sent(nobody_is_left: None) -> None:
    go_on, bodies = asyncio.Event(), []

    async def script(peer: Peer) -> None:
        while (asked := await peer.request()) is not None:
            bodies.append(asked[1])
            if b"slow" in asked[1]:
                await go_on.wait()
                await peer.send(WHOLE)
            else:
                await peer.send(BROKEN)

    breaker = CircuitBreaker(window=3, ratio=0.5)
    async with serving(script) as server, Workers(Opening(server.address, 1), 2, breaker) as (one, other):
        # Either of them alone sees too few failures.
        assert (await one(question(model="bad"))).outcome is Outcome.HTTP_ERROR
        slow = asyncio.create_task(one(question(model="slow")))
        while len(bodies) < 2:
            await asyncio.sleep(0.005)
        waiting = asyncio.create_task(one(question(model="waiting")))
        failed = [await other(question(model="bad")) for _ in range(2)]
        go_on.set()
        after = [await waiting, await other(question())]
        assert (await slow).outcome is Outcome.OK
    assert {each.outcome for each in failed} == {Outcome.HTTP_ERROR}
    assert {each.failure and each.failure.code for each in after} == {"circuit_open"}
    assert {each.outcome for each in after} == {Outcome.HARNESS_ERROR}
    assert len(bodies) == 4


@looped
async def test_an_answer_that_is_given_up_while_it_is_read_had_been_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def answered(_worker: Worker, _request: AskRequest) -> Exchange:
        return exchange((10.0, sse(*(chunk(content="word ") for _ in range(1_000)))))

    monkeypatch.setattr(Worker, "exchange", answered)
    reading = asyncio.create_task(Workers(Opening(NOBODY, 1), 1).each[0](question()))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(CutInFlight):
        await reading
