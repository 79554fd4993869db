"""Load shapes: planned times, what a user may ask for, sessions, transcripts and how they are played."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.ask import AskRequest, Milestones, Outcome, StreamResult
from runner.endpoint.request import Protocol
from runner.endpoint.shapes.arrivals import constant, poisson, ramp
from runner.endpoint.shapes.playing import Done, StageMeans, Unit, play_stage
from runner.endpoint.shapes.stages import LoadOptions, probe_stage, profile_stages, stages_of
from runner.endpoint.shapes.talks import AGENT, TALK
from runner.endpoint.shapes.transcript import read_transcript
from runner.endpoint.shapes.wanted import WantedLoad, parse_loads
from runner.endpoint.suites.asking import Manner
from runner.endpoint.suites.case import Slot
from runner.endpoint.suites.streaming import LEVEL_CASES
from runner.errors import ConfigurationError, UsageError
from tests.endpoint.statistics.trials import stage
from tests.endpoint.suites.stage import target

COUNTS = st.integers(1, 300)
RATES = st.floats(0.01, 1000)


@given(COUNTS, RATES, st.integers(0, 2**32))
def test_poisson_arrivals_come_in_order_within_their_time(count: int, rate: float, seed: int) -> None:
    offsets = poisson(count, rate, seed)
    assert list(offsets) == sorted(offsets)
    assert len(offsets) == count
    assert all(0 <= each <= 1000 * count / rate * (1 + 1e-9) for each in offsets)
    assert offsets == poisson(count, rate, seed)


def test_gaps_of_poisson_arrivals_spread_as_much_as_they_are_long() -> None:
    gaps = [after - before for before, after in itertools.pairwise(poisson(20_000, 10.0, 1))]
    assert statistics.fmean(gaps) == pytest.approx(100.0, rel=0.02)
    assert statistics.stdev(gaps) == pytest.approx(100.0, rel=0.05)


@given(COUNTS, RATES)
def test_constant_arrivals_have_equal_gaps(count: int, rate: float) -> None:
    offsets = constant(count, rate)
    assert offsets[0] == 0.0
    assert all(after - before == pytest.approx(1000 / rate) for before, after in itertools.pairwise(offsets))


@given(st.integers(2, 300), st.floats(0.1, 100), st.floats(0.1, 100))
def test_a_ramp_has_the_rate_it_says_at_both_ends(count: int, begin: float, end: float) -> None:
    offsets = ramp(count, begin, end)
    assert list(offsets) == sorted(offsets)
    # Arrivals by time t: begin t + (end - begin) t^2 / 2T.
    seconds = 2 * count / (begin + end)
    for number in (1, count // 2, count - 1):
        at = offsets[number] / 1000
        assert begin * at + (end - begin) * at * at / (2 * seconds) == pytest.approx(number, abs=1e-4)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "burst=3",
        "concurrency",
        "concurrency=0",
        "concurrency=1.5",
        "sweep=1,1",
        "rate=-1",
        "rate=x",
        "ramp=3",
        "goodput=8-2",
        "transcript",
        "concurrency=5000",
        "rate=nan",
    ],
)
def test_a_load_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_loads([text])


def test_loads_are_read_and_none_is_given_twice() -> None:
    assert parse_loads(["sweep=4,1", "goodput=1-64"]) == (
        WantedLoad("sweep", (4.0, 1.0)),
        WantedLoad("goodput", (1.0, 64.0)),
    )
    with pytest.raises(UsageError, match="twice"):
        parse_loads(["rate=1", "rate=2"])


def test_every_request_of_a_stage_is_planned_with_its_send_time() -> None:
    options = LoadOptions(1, requests=10, warm_up=2)
    (planned,) = stages_of(parse_loads(["poisson=5"]), "one", options, None)
    assert len(planned.units) == len(planned.stage.send_offsets_ms) == 12
    assert sum(slot.warm_up for _, slot in planned.units) == 2
    assert len({entry.key for entry in planned.planned()}) == 12
    assert not planned.stage.closed_loop


def test_levels_rise_and_a_probe_has_enough_requests_for_its_level() -> None:
    levels = stages_of(parse_loads(["sweep=4,1,2"]), "one", LoadOptions(1), None)
    assert [each.stage.level for each in levels] == [1.0, 2.0, 4.0]
    (search,) = stages_of(parse_loads(["goodput=1-64"]), "one", LoadOptions(1), None)
    probe = probe_stage(search.stage, 64, LEVEL_CASES[0])
    assert probe.stage.requests - probe.stage.warm_up_requests == 256
    assert probe.stage.key.startswith(search.stage.key)


def test_sessions_grow_and_agents_send_much_more_than_they_get() -> None:
    for case, turns, least in ((TALK, 6, 200), (AGENT, 10, 4000)):
        puzzle = case.puzzle(1, Slot(1))
        assert len(puzzle.messages[0].content.split()) > least
        assert puzzle.follow is not None
        result = StreamResult(
            protocol=Protocol.CHAT_COMPLETIONS, started_at=datetime.now(UTC), outcome=Outcome.OK
        )
        said = [puzzle.follow(number, result) for number in range(1, turns + 1)]
        assert all(each is not None for each in said[:-1])
        assert said[-1] is None
        assert case.puzzle(1, Slot(2)).expected != puzzle.expected


LINE = '{"messages": [{"role": "user", "content": "Hello"}], "max_output_tokens": 9}\n'


def test_a_transcript_is_asked_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "agent.jsonl"
    path.write_text(LINE + "\n" + LINE, encoding="utf-8")
    found = read_transcript(path, "agent.jsonl")
    first, second = found.cases()
    assert (first.max_output_tokens, first.identifier == second.identifier) == (9, False)
    assert first.puzzle(1, Slot(1)).messages[0].content == "Hello"
    assert not found.timed
    assert str(tmp_path) not in repr(first.parameters)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no requests"),
        ("{}\n", "line 1"),
        ("not json\n", "line 1"),
        (LINE.replace("}]", '}], "at_ms": 5') + LINE, "some lines say at_ms"),
        (LINE.replace("}]", '}], "at_ms": 5') + LINE.replace("}]", '}], "at_ms": 1'), "goes back"),
        (LINE.replace('"user"', '"robot"'), "line 1"),
    ],
)
def test_a_broken_transcript_is_refused_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "agent.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=why):
        read_transcript(path)


@dataclass
class Server:
    """An ask that takes a fixed time and notes how many are asked at once."""

    together: int = 0
    """Nobody is answered before so many were asked at once."""
    now: int = 0
    most: int = 0
    requests: list[AskRequest] = field(default_factory=list)

    async def __call__(self, request: AskRequest) -> StreamResult:
        self.requests.append(request)
        self.now += 1
        self.most = max(self.most, self.now)
        if request.scheduled_ns is not None:
            await asyncio.sleep(max(0.0, (request.scheduled_ns - time.perf_counter_ns()) / 1e9))
        sent = time.perf_counter_ns()
        await asyncio.sleep(0.01)
        async with asyncio.timeout(60):
            while self.most < self.together:
                await asyncio.sleep(0.005)
        self.now -= 1
        at = Milestones(sent=sent, ended=time.perf_counter_ns())
        return StreamResult(
            protocol=request.protocol, started_at=datetime.now(UTC), outcome=Outcome.OK, milestones=at
        )


def played(
    level: float,
    offsets: list[float] | None,
    count: int,
    *,
    stop_after: int = 10_000,
    together: int = 0,
) -> tuple[Server, list[Done], str]:
    server, done = Server(together), list[Done]()
    units = [
        Unit(f"unit-{number}", number, LEVEL_CASES[0], Slot(number + 1), offsets[number] if offsets else None)
        for number in range(count)
    ]
    means = StageMeans(
        (server,),
        target(),
        Manner("salt"),
        lambda: "enough" if len(done) >= stop_after else "",
        done.append,
        lambda *_: None,
    )
    reason = asyncio.run(play_stage(stage(level, closed=offsets is None), units, 1, means))
    return server, done, reason


@pytest.mark.parametrize("count", [3, 12])
def test_a_closed_loop_has_exactly_its_level_in_flight(count: int) -> None:
    case = replace(LEVEL_CASES[0], concurrency=3, runs=count, warm_ups=0)
    (planned,) = profile_stages([case], "one", 1)
    assert (planned.stage.level, len(planned.units)) == (3.0, count)
    server, done, reason = played(planned.stage.level, None, count)
    assert (server.most, len(done), reason) == (3, count, "")
    assert all(each.place.scheduled_ms is None for each in done)


def test_an_open_loop_sends_at_its_times_whatever_is_still_in_flight() -> None:
    server, done, _ = played(100.0, [0.0, 1.0, 2.0, 3.0, 60.0], 5, together=4)
    assert server.most >= 4
    planned = sorted(each.place.scheduled_ms or 0.0 for each in done)
    assert planned == pytest.approx([0.0, 1.0, 2.0, 3.0, 60.0], abs=0.01)
    assert all((each.place.lateness_ms or 0.0) >= 0.0 for each in done)
    assert [request.scheduled_ns is not None for request in server.requests] == [True] * 5


def test_nothing_more_is_sent_once_there_is_a_reason_against_it() -> None:
    server, done, reason = played(1.0, None, 10, stop_after=2)
    assert (len(server.requests), len(done), reason) == (2, 2, "enough")


def test_no_two_requests_of_a_stage_share_a_nonce() -> None:
    server, _, _ = played(2.0, None, 6)
    fronts = {request.messages[0].content.splitlines()[0] for request in server.requests}
    assert len(fronts) == 6
