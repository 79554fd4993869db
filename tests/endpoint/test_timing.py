"""The formulas of one request: worked examples, and what is None because it was not measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.ask import ReportedUsage, StreamResult
from runner.endpoint.reading import read
from runner.endpoint.timing import Timing, buffered, burst_ratio, gaps, nearest_rank, timing, tpot, ttfo, ttft
from tests.endpoint.exchanges import DONE, MS, SENT, chunk, exchange, sse

STOP = chunk(finish="stop")


def streamed(
    *at: tuple[float, object], usage: dict[str, object] | None = None, end: int = 1000
) -> StreamResult:
    """Events at milliseconds after the request; usage and the end mark at ``end``."""
    last = STOP | ({} if usage is None else {"usage": usage})
    return read(exchange(*[(ms, sse(event)) for ms, event in at], (end, sse(last, DONE))))


def words(*at: float) -> list[tuple[float, object]]:
    return [(ms, chunk(content="x")) for ms in at]


def test_a_thinking_model_has_two_first_tokens_and_neither_stands_for_the_other() -> None:
    result = streamed(
        (40, chunk(role="assistant", content="")),
        (100, chunk(reasoning_content="hm")),
        (400, chunk(content="a")),
        (500, chunk(content="b")),
        usage={"prompt_tokens": 90, "completion_tokens": 12, "reasoning_tokens": 9},
        end=800,
    )
    found = timing(result)
    assert found.first_event_ms == 40
    assert (found.ttft_ms, found.first_reasoning_ms) == (100, 100)
    assert (found.ttfo_ms, found.first_visible_ms) == (400, 400)
    assert (found.latency_ms, found.last_visible_ms) == (500, 500)
    assert (found.done_ms, found.total_ms) == (800, 800)
    assert found.queue_ms == 5
    assert found.scheduled_latency_ms == 505
    assert found.tpot_ms == pytest.approx(400 / 11)
    assert found.output_tps == pytest.approx(11 / 0.4)
    assert found.visible_tps == pytest.approx(2 / 0.1)
    assert found.e2e_tps == pytest.approx(12 / 0.5)
    assert found.tokens_per_chunk == 4


def test_a_turn_that_only_calls_a_tool_has_a_first_token_and_no_visible_one() -> None:
    call = chunk(tool_calls=[{"index": 0, "id": "c", "function": {"name": "look", "arguments": "{}"}}])
    result = streamed((120, call))
    assert (ttft(result), ttfo(result)) == (120, 120)
    assert timing(result).first_visible_ms is None
    assert timing(result).first_tool_ms == 120


def test_a_slow_close_is_not_charged_to_the_tokens() -> None:
    usage: dict[str, object] = {"completion_tokens": 3}
    quick = streamed(*words(100, 110, 120), usage=usage, end=130)
    slow = streamed(*words(100, 110, 120), usage=usage, end=9000)
    assert tpot(quick) == tpot(slow) == 10
    assert timing(quick).latency_ms == timing(slow).latency_ms
    assert timing(quick).total_ms != timing(slow).total_ms


def test_tokens_of_the_first_chunk_are_taken_off_where_they_are_told() -> None:
    events = [
        (100, chunk(content="abcde") | {"usage": {"completion_tokens": 5}}),
        (200, chunk(content="f") | {"usage": {"completion_tokens": 6}}),
    ]
    assert tpot(streamed(*events, usage={"completion_tokens": 6})) == 100
    assert tpot(streamed(*events, usage={"completion_tokens": 5})) is None


@pytest.mark.parametrize(
    ("at", "tokens"),
    [([100], 5), ([100, 200], 1), ([100, 200], 0), ([100, 200], None), ([], 5), ([100, 100], 5)],
)
def test_there_is_no_time_per_token_where_nothing_can_be_divided(at: list[int], tokens: int | None) -> None:
    result = streamed(*words(*at), usage=None if tokens is None else {"completion_tokens": tokens})
    assert tpot(result) is None
    assert timing(result).output_tps is None


@pytest.mark.parametrize(("tokens", "speed"), [(2, 10), (1, None), (0, None), (None, None)])
def test_a_visible_speed_takes_two_visible_tokens(tokens: int | None, speed: float | None) -> None:
    usage: dict[str, object] = {} if tokens is None else {"completion_tokens": tokens}
    assert timing(streamed(*words(100, 200), usage=usage)).visible_tps == speed


@pytest.mark.parametrize(
    ("at", "tokens"),
    [
        ([*range(955, 995)], 40),
        ([500, 500.5], 24),
    ],
    ids=["held back, then sent at once", "two fragments that travelled together"],
)
def test_an_answer_that_came_at_once_has_no_speed_of_its_model(at: list[float], tokens: int) -> None:
    found = timing(streamed(*words(*at), usage={"completion_tokens": tokens}))
    assert found.tpot_ms is not None
    assert found.latency_ms is not None
    assert (found.output_tps, found.visible_tps) == (None, None)


def test_every_phase_before_the_first_event_has_its_own_time() -> None:
    made = exchange((10, sse(STOP)), (30, sse(DONE)))
    bare = timing(read(made))
    assert (bare.slot_ms, bare.connect_ms, bare.tls_ms) == (None, None, None)
    at = made.stamps
    at.released, at.connect_begun, at.connected, at.secured = (SENT - n * MS for n in (4, 4, 3, 1))
    at.first_byte, at.headers, at.ended = (SENT + n * MS for n in (7, 8, 33))
    found = timing(read(made))
    assert (found.queue_ms, found.slot_ms, found.connect_ms, found.tls_ms) == (5, 1, 1, 2)
    assert (found.first_byte_ms, found.headers_ms, found.first_event_ms) == (7, 8, 10)
    assert (found.done_ms, found.total_ms) == (30, 33)


def test_input_speed_counts_only_what_no_cache_gave() -> None:
    usage: dict[str, object] = {
        "prompt_tokens": 1000,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 900},
    }
    assert timing(streamed(*words(200, 210), usage=usage)).prefill_tps == pytest.approx(500)
    del usage["prompt_tokens_details"]
    assert timing(streamed(*words(200, 210), usage=usage)).prefill_tps is None


def test_gaps_are_those_between_all_fragments() -> None:
    found = gaps([0, 10 * MS, 20 * MS, 70 * MS])
    assert (found.count, found.p50, found.p95, found.max) == (3, 10, 50, 50)
    assert gaps([5]).count == 0
    assert gaps([5]).max is None


def test_a_lump_at_the_end_of_a_long_answer_is_buffered() -> None:
    usage: dict[str, object] = {"completion_tokens": 40}
    lump = streamed(*words(*[960] * 40), usage=usage)
    assert (burst_ratio(lump), buffered(lump), lump.buffered) == (1, True, True)
    flowing = streamed(*words(*range(100, 900, 20)), usage=usage)
    assert (burst_ratio(flowing), buffered(flowing)) == (0, False)


def test_a_lump_of_tool_arguments_is_buffered_too() -> None:
    call = chunk(tool_calls=[{"index": 0, "function": {"name": "x", "arguments": "{"}}])
    assert buffered(streamed(*[(950, call)] * 3, usage={"completion_tokens": 64}))


def test_a_short_answer_and_one_without_counts_say_nothing_of_buffering() -> None:
    assert buffered(streamed(*words(950), usage={"completion_tokens": 31})) is None
    assert buffered(streamed(*words(950))) is None


def test_what_never_happened_has_no_figure_and_no_zero() -> None:
    found = timing(read(exchange(status=500)))
    measured = found.model_dump(exclude={"gaps", "queue_ms", "headers_ms", "first_byte_ms", "total_ms"})
    assert set(measured.values()) == {None}


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.floats(0.01, 1))
def test_the_nearest_rank_is_of_the_sample_and_covers_its_share(values: list[float], share: float) -> None:
    ordered = sorted(values)
    found = nearest_rank(ordered, share)
    assert found in ordered
    assert sum(value <= found for value in ordered) >= share * len(ordered) - 1e-6
    assert sum(value < found for value in ordered) < share * len(ordered) + 1e-6


@given(
    at=st.lists(st.integers(1, 900), max_size=30).map(sorted),
    tokens=st.none() | st.integers(0, 200),
)
def test_figures_of_any_stream_fit_together(at: list[int], tokens: int | None) -> None:
    result = streamed(*words(*at), usage=None if tokens is None else {"completion_tokens": tokens})
    found = timing(result)
    assert Timing.model_validate_json(found.model_dump_json()) == found
    assert found.gaps.count == max(0, len(at) - 1)
    if found.tpot_ms is not None:
        assert found.ttft_ms is not None
        assert found.latency_ms is not None
        assert tokens is not None
        assert found.ttft_ms + found.tpot_ms * (tokens - 1) == pytest.approx(found.latency_ms)
    if found.burst_ratio is not None:
        assert 0 <= found.burst_ratio <= 1


def test_usage_without_output_has_no_visible_part() -> None:
    assert ReportedUsage(prompt_tokens=3).visible_tokens is None
    assert ReportedUsage(completion_tokens=3, reasoning_tokens=9).visible_tokens == 0
