"""Self-calibration: the server in another process, levels, flags, and loads in several processes."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest

from runner.endpoint.ask import Outcome
from runner.endpoint.calibration import (
    Calibration,
    CalibrationLevel,
    Spread,
    calibrate,
    gap_errors,
    level_of,
    spread,
)
from runner.endpoint.load import Batch, Played, Session
from runner.endpoint.loops import event_loop_named, run
from runner.endpoint.metronome.beat import Beat, Truth
from runner.endpoint.metronome.process import Metronome
from runner.endpoint.reading import read
from runner.endpoint.workers import play_in_workers
from runner.errors import ConfigurationError, EndpointError, UsageError
from tests.endpoint.exchanges import DONE, MS, chunk, exchange, question, sse

QUICK = Beat(first_ms=30, gap_ms=2, chunks=5)
WORDS = [(100 + 10 * number, sse(chunk(content="x"))) for number in range(3)]
LAST = (130, sse(chunk(finish="stop"), DONE))


def level(streams: int, p50: float, p99: float, **more: object) -> CalibrationLevel:
    fields: dict[str, object] = {
        "streams": streams,
        "transport": "asyncio",
        "tls": False,
        "workers": 1,
        "requests": 10,
        "failed": 0,
        "ttft_bias": Spread(count=10, p50=p50, p99=p99, largest=p99),
        "arrival_lag": Spread(count=0),
        "gap_error": Spread(count=0),
        "largest_loop_lag_ms": 1.0,
        "chunks_per_second": 100.0,
        "cpu_us_per_chunk": 30.0,
    }
    return CalibrationLevel.model_validate(fields | more)


@pytest.mark.parametrize("tls", [False, True])
def test_the_client_is_measured_against_another_process_and_the_value_can_be_stored(tls: bool) -> None:
    found = calibrate([1, 4], beat=QUICK, rounds=2, tls=tls)
    assert [(each.streams, each.requests, each.failed) for each in found.levels] == [(1, 2, 0), (4, 8, 0)]
    for each in found.levels:
        assert each.ttft_bias.count == each.requests
        assert each.gap_error.count == each.requests * (QUICK.chunks - 1)
        assert each.ttft_bias.p50 is not None
        # A busy machine makes it late; nothing makes it early by more than the clock's grain.
        assert each.ttft_bias.p50 > -1
        assert each.arrival_lag.p50 is not None
        assert each.arrival_lag.p50 >= 0
        assert each.cpu_us_per_chunk is not None
        assert each.chunks_per_second is not None
    assert Calibration.model_validate_json(found.model_dump_json()) == found


def test_the_server_notes_what_it_sent_and_keeps_its_delays() -> None:
    with Metronome(QUICK) as metronome:
        batch = Batch(metronome.address, (Session((question(headers={"x-metronome-id": "seven"}),)),))
        result = play_in_workers(batch, 1, "asyncio").results[0]
        truth = metronome.log()[0]
        assert metronome.log() == []
    assert (truth.identifier, result.request_id) == ("seven", "seven")
    assert len(truth.sends_ns) == QUICK.chunks + 1
    assert truth.ttft_ms >= QUICK.first_ms
    assert truth.sends_ns[-1] - truth.received_ns >= (QUICK.first_ms + QUICK.gap_ms * QUICK.chunks) * MS
    assert result.outcome is Outcome.OK
    assert len(result.fragments) == QUICK.chunks
    assert result.usage is not None
    assert result.usage.output_tokens == QUICK.chunks
    first = result.milestones.first_any
    assert first is not None
    assert first > truth.sends_ns[0]


def test_an_answer_whose_client_left_is_not_sent_to_the_next_one_that_connects() -> None:
    with Metronome(Beat(first_ms=150, gap_ms=2, chunks=5)) as metronome:
        address = ("127.0.0.1", int(metronome.address.base_url.rpartition(":")[2].partition("/")[0]))
        with socket.create_connection(address) as leaving:
            leaving.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
            time.sleep(0.02)
        time.sleep(0.02)
        # The server gives it the number that has just become free.
        with socket.create_connection(address, timeout=0.3) as silent, pytest.raises(TimeoutError):
            silent.recv(1)


def test_bias_is_measured_less_true() -> None:
    made = exchange(*WORDS, LAST, headers={"x-request-id": "a"})
    result = read(made)
    sends = [1_000_000_000 + at * MS for at in (99, 108, 120, 130)]
    truth = Truth("a", 1_000_000_000 + MS, sends)
    found = level_of(1, Played((result,), 0.003, None), [truth], transport="asyncio", tls=False)
    assert found.ttft_bias.p50 == pytest.approx(100 - 98)
    assert found.arrival_lag.p50 == pytest.approx(1)
    assert gap_errors(result, truth) == pytest.approx([1, 2])
    assert found.cpu_us_per_chunk == pytest.approx(1000)


def test_failed_requests_are_counted_and_in_no_figure() -> None:
    cut = read(exchange(*WORDS, headers={"x-request-id": "a"}))
    found = level_of(1, Played((cut,), 0.1, None), [], transport="asyncio", tls=False)
    assert (found.requests, found.failed, found.ttft_bias) == (1, 1, Spread(count=0))
    assert found.within is None
    assert found.cpu_us_per_chunk is None


def test_a_result_that_the_server_knows_nothing_of_is_a_fault() -> None:
    result = read(exchange(*WORDS, LAST, headers={"x-request-id": "b"}))
    with pytest.raises(EndpointError, match="noted no such request"):
        level_of(1, Played((result,), 0.1, None), [], transport="asyncio", tls=False)


@pytest.mark.parametrize(
    ("streams", "tls", "p50", "p99", "within"),
    [
        (1, False, 0.5, 2.0, True),
        (100, False, 0.6, 1.0, False),
        (101, False, 0.6, 5.0, True),
        (256, False, 0.2, 5.1, False),
        (512, False, 5.0, 15.0, True),
        (2000, False, 5.0, 15.1, False),
        (100, True, 1.0, 4.0, True),
        (100, False, -0.6, 0.1, False),
    ],
)
def test_each_level_has_its_limit(streams: int, tls: bool, p50: float, p99: float, within: bool) -> None:
    assert level(streams, p50, p99, tls=tls).within is within


def test_a_run_above_the_limits_is_flagged() -> None:
    made = calibrate([], beat=QUICK).model_copy(
        update={"levels": (level(100, 0.2, 1.0), level(256, 3.0, 9.0))}
    )
    assert made.floor_ms == 0.2
    assert made.flags(50, 200.0, 1.0) == ()
    assert made.level(101) == made.levels[1]
    assert "at 256 streams is 3.0 / 9.0 ms" in made.flags(200, None, None)[0]
    assert "above 1 %" in made.flags(200, 200.0, None)[1]
    assert "loop lag of 2.5 ms" in made.flags(50, 200.0, 2.5)[0]
    assert "not calibrated at 300 streams" in made.flags(300, None, None)[0]


def test_a_spread_is_of_nearest_ranks() -> None:
    assert spread([3, 1, 2]) == Spread(count=3, p50=2, p99=3, largest=3)
    assert spread([]) == Spread(count=0)


def test_a_loop_that_is_not_installed_is_named() -> None:
    assert event_loop_named("uvloop", lambda _name: "found") == "uvloop"
    assert event_loop_named("asyncio", lambda _name: "found") == "asyncio", (
        "what is installed decides nothing"
    )
    with pytest.raises(ConfigurationError, match="uvloop is not installed"):
        event_loop_named("uvloop", lambda _name: None)
    with pytest.raises(UsageError, match="there is no event loop 'trio'"):
        event_loop_named("trio")


async def _module_of_the_loop() -> str:
    return type(asyncio.get_running_loop()).__module__


@pytest.mark.parametrize("name", ["asyncio", "uvloop"])
def test_what_runs_runs_on_the_loop_that_was_asked_for(name: str) -> None:
    assert run(_module_of_the_loop(), name).partition(".")[0] == name
