"""The client: slots, TLS, waits outside measured time, the circuit breaker, its own lateness."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runner.endpoint.address import EndpointAddress
from runner.endpoint.ask import Ask, Counted, Outcome, Phase, StreamResult
from runner.endpoint.breaker import CircuitBreaker
from runner.endpoint.client import StreamClient, Transport
from runner.endpoint.lag import LagMonitor
from runner.endpoint.metronome.process import make_certificate
from runner.endpoint.retry_after import retry_after_seconds
from runner.endpoint.timing import timing
from tests.endpoint.exchanges import question
from tests.endpoint.servers import WHOLE, Peer, saying, serving

SLOW_DOWN = b"HTTP/1.1 429 Too Many Requests\r\nretry-after-ms: 600\r\ncontent-length: 0\r\n\r\n"
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize("transport", ["asyncio", "httpx"])
def test_tls_is_spoken_checked_and_timed(certificate: Path, transport: Transport) -> None:
    async def run() -> list[StreamResult]:
        script = saying(WHOLE, then="go on")
        async with (
            serving(script, certificate) as server,
            StreamClient(server.address, transport=transport) as client,
        ):
            return [await client(question()) for _ in range(2)]

    first, second = asyncio.run(run())
    assert [first.outcome, second.outcome] == [Outcome.OK, Outcome.OK]
    assert timing(first).tls_ms is not None
    assert timing(second).tls_ms is None
    assert (first.connection_reused, second.connection_reused) == (False, True)


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path) -> None:
    async def run() -> StreamResult:
        async with (
            serving(saying(WHOLE), certificate) as server,
            StreamClient(EndpointAddress(server.address.base_url)) as client,
        ):
            return await client(question())

    result = asyncio.run(run())
    assert result.outcome is Outcome.CONNECT_ERROR
    assert result.failure is not None
    assert (result.failure.code, result.failure.phase) == ("certificate", Phase.CONNECT)


def test_tls_towards_a_server_without_it_is_a_failure_to_connect() -> None:
    async def script(peer: Peer) -> None:
        await peer.reader.read(100)
        await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def run() -> StreamResult:
        async with serving(script) as server:
            address = EndpointAddress(server.address.base_url.replace("http:", "https:"))
            async with StreamClient(address) as client:
                return await client(question())

    result = asyncio.run(run())
    assert result.outcome is Outcome.CONNECT_ERROR
    assert result.failure is not None
    assert result.failure.code == "tls"


def test_no_more_requests_are_in_flight_than_there_are_slots() -> None:
    most = 0

    async def run() -> list[StreamResult]:
        async def script(peer: Peer) -> None:
            nonlocal most
            while await peer.request() is not None:
                most = max(most, server.open)
                await asyncio.sleep(0.02)
                await peer.send(WHOLE)

        async with serving(script) as server, StreamClient(server.address, slots=3) as client:
            ask: Ask = client
            return list(await asyncio.gather(*(ask(question()) for _ in range(9))))

    results = asyncio.run(run())
    assert most == 3
    waits = sorted(timing(result).queue_ms or 0 for result in results)
    assert waits[-1] > 30


def test_a_planned_time_is_kept_and_lateness_shows_as_queue() -> None:
    async def run() -> list[StreamResult]:
        async with serving(saying(WHOLE, then="go on")) as server, StreamClient(server.address) as client:
            now = time.perf_counter_ns()
            planned = [question(scheduled_ns=now + ahead) for ahead in (80_000_000, -500_000_000)]
            return [await client(request) for request in planned]

    early, late = (result.milestones for result in asyncio.run(run()))
    assert early.scheduled is not None
    assert early.sent is not None
    assert early.sent >= early.scheduled
    assert late.sent is not None
    assert late.scheduled is not None
    assert late.sent - late.scheduled >= 500_000_000


@pytest.mark.parametrize("transport", ["asyncio", "httpx"])
def test_a_request_that_is_given_up_says_whether_it_had_been_sent(transport: Transport) -> None:
    heard = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.request()
        heard.set()
        await peer.request()

    async def run() -> None:
        async with serving(script) as server, StreamClient(server.address, transport=transport) as client:
            first, waiting = Counted(client), Counted(client)
            asked = [asyncio.ensure_future(each(question())) for each in (first, waiting)]
            async with asyncio.timeout(60):
                await heard.wait()
            for each in asked:
                each.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            assert (first.sent, waiting.sent) == (1, 0), "there is one connection for both"

    asyncio.run(run())


def test_a_server_that_wants_a_pause_gets_it_outside_measured_time() -> None:
    answers = [SLOW_DOWN, WHOLE]

    async def script(peer: Peer) -> None:
        while await peer.request() is not None:
            await peer.send(answers.pop(0))

    async def run() -> tuple[StreamResult, StreamResult]:
        async with serving(script) as server, StreamClient(server.address) as client:
            return await client(question()), await client(question())

    limited, after = asyncio.run(run())
    assert (limited.outcome, limited.retry_after_seconds) == (Outcome.RATE_LIMITED, 0.6)
    assert after.outcome is Outcome.OK
    assert limited.milestones.ended is not None
    assert after.milestones.scheduled is not None
    # The wait is in no time, since all are counted from here on, and is not forgotten either.
    assert after.milestones.scheduled - limited.milestones.ended >= 595_000_000
    assert limited.paced_ms == 0.0
    assert 0 < after.paced_ms <= 600


def test_a_pause_is_not_kept_where_that_is_switched_off() -> None:
    async def run() -> int:
        long = SLOW_DOWN.replace(b"-ms: 600", b": 3600")
        async with (
            serving(saying(long, then="go on")) as server,
            StreamClient(server.address, pace_seconds=0) as client,
        ):
            return len([await client(question()) for _ in range(3)])

    assert asyncio.run(run()) == 3


def test_a_dead_gateway_opens_the_circuit_and_nothing_more_is_sent() -> None:
    async def run() -> list[StreamResult]:
        async with StreamClient(
            EndpointAddress("http://127.0.0.1:9/v1"), breaker=CircuitBreaker(refusals=3)
        ) as client:
            return [await client(question()) for _ in range(5)]

    results = asyncio.run(run())
    assert [result.outcome for result in results] == [Outcome.CONNECT_ERROR] * 3 + [Outcome.HARNESS_ERROR] * 2
    last = results[-1]
    assert last.failure is not None
    assert (last.failure.code, last.failure.phase) == ("circuit_open", Phase.HARNESS)
    assert "nobody is there" in last.failure.message
    assert last.milestones.sent is None


def test_requests_that_waited_for_a_slot_are_not_sent_into_an_open_circuit() -> None:
    async def run() -> list[StreamResult]:
        address = EndpointAddress("http://127.0.0.1:9/v1")
        async with StreamClient(address, breaker=CircuitBreaker(refusals=2)) as client:
            return list(await asyncio.gather(*(client(question()) for _ in range(5))))

    results = asyncio.run(run())
    assert [result.outcome for result in results].count(Outcome.CONNECT_ERROR) == 2
    assert [result.outcome for result in results].count(Outcome.HARNESS_ERROR) == 3


def test_malformed_answers_open_the_circuit_too() -> None:
    bad = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\ndata: {\n\n\n"

    async def run() -> CircuitBreaker:
        breaker = CircuitBreaker(window=4)
        async with (
            serving(saying(bad, then="go on")) as server,
            StreamClient(server.address, breaker=breaker) as client,
        ):
            for _ in range(4):
                await client(question())
        return breaker

    assert asyncio.run(run()).reason == "4 of the last 4 requests failed"


@pytest.mark.parametrize(
    ("outcomes", "open_"),
    [
        ([Outcome.HTTP_ERROR] * 3, False),
        ([Outcome.HTTP_ERROR] * 4, True),
        ([Outcome.OK, Outcome.LENGTH, Outcome.REFUSED, Outcome.OK, Outcome.TIMEOUT_STALL], False),
        ([Outcome.OK, Outcome.PARSE_ERROR] * 2, True),
        ([Outcome.CANCELLED] * 9, False),
        ([Outcome.CONNECT_ERROR, Outcome.CONNECT_ERROR, Outcome.OK, Outcome.CONNECT_ERROR][:3], False),
        ([Outcome.CONNECT_ERROR] * 2 + [Outcome.CANCELLED] + [Outcome.CONNECT_ERROR], True),
        ([Outcome.HTTP_ERROR] * 4 + [Outcome.OK] * 9, True),
    ],
)
def test_the_circuit_opens_on_a_share_of_failures_and_stays_open(
    outcomes: list[Outcome], open_: bool
) -> None:
    breaker = CircuitBreaker(window=4, ratio=0.5, refusals=3)
    for outcome in outcomes:
        breaker.observe(outcome)
    assert (breaker.reason is not None) is open_


@pytest.mark.parametrize(
    ("statuses", "reason"),
    [
        ([401] * 3, "3 answers in a row were 401 Unauthorized: check the key and the address"),
        ([403, 401, 404], "3 answers in a row were 404 Not Found: check the key and the address"),
        ([401, 401, 500, 401, 401], None),
        ([400] * 9, None),
        ([401], None),
    ],
)
def test_the_circuit_opens_where_the_endpoint_lets_nobody_in(statuses: list[int], reason: str | None) -> None:
    breaker = CircuitBreaker(refusals=3)
    for status in statuses:
        breaker.observe(Outcome.HTTP_ERROR, status)
    assert breaker.reason == reason


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sat, 31 Jan 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Sat, 31 Jan 2026 10:00:30 GMT", "date": "Sat, 31 Jan 2026 10:00:00 GMT"}, 30),
        ({"retry-after": "Fri, 30 Jan 2026 12:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e99"}, 86400),
        ({"retry-after": "Sat, 99 Jan 20266 12:00:30"}, None),
    ],
)
def test_what_a_server_asks_to_wait_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, NOW) == seconds


def test_the_largest_lag_since_any_moment_is_known() -> None:
    monitor = LagMonitor()
    for at, lag in [(10, 5), (20, 9), (30, 2), (40, 4), (50, 1)]:
        monitor.note(at, lag * 1_000_000)
    assert [monitor.largest_ms_since(at) for at in (0, 20, 21, 40, 41, 51)] == [9, 9, 4, 4, 1, None]


def test_a_blocked_loop_is_noticed() -> None:
    async def run() -> float | None:
        monitor = LagMonitor(0.005)
        monitor.start()
        await asyncio.sleep(0.02)
        begun = time.perf_counter_ns()
        time.sleep(0.08)  # what is to be noticed
        await asyncio.sleep(0.02)
        monitor.stop()
        return monitor.largest_ms_since(begun)

    lag = asyncio.run(run())
    assert lag is not None
    assert lag >= 70
