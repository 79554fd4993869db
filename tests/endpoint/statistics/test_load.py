"""Load: the window in which a level was held, what is counted in it, the knee and the search."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.statistics.goodput import goodput_search, keeps, verdict_of, why_undecided
from runner.endpoint.statistics.knee import STILL_RISING, knee, knee_index
from runner.endpoint.statistics.load import completion_slices, curves, load_point, saturation
from runner.endpoint.statistics.window import (
    Span,
    Window,
    closed_window,
    in_flight,
    open_window,
    output_tokens,
    sent_of,
)
from runner.records.bench_trial import BenchTrial
from tests.endpoint.statistics.trials import loaded, request, stage, trial


def two_at_once() -> list[BenchTrial]:
    """Two workers without a pause, 100 ms each: sent at 0, 0, 100, 100, ... 400, 400."""
    return [loaded(number, 100.0 * (number // 2), 100.0) for number in range(10)]


def test_the_window_of_a_closed_loop_begins_when_the_level_is_reached_and_ends_when_it_cannot_be_held() -> (
    None
):
    spans = [Span(0.0, 100.0), Span(50.0, 150.0), Span(100.0, 200.0), Span(150.0, 260.0)]
    assert closed_window(spans, 2) == Window(50.0, 200.0)


def test_warm_ups_push_the_window_back() -> None:
    spans = [Span(0.0, 100.0, warm_up=True), Span(0.0, 130.0, warm_up=True), Span(100.0, 200.0)]
    assert closed_window([*spans, Span(130.0, 240.0)], 2) == Window(130.0, 200.0)


def test_a_level_that_was_never_reached_has_no_window() -> None:
    assert closed_window([Span(0.0, 100.0)], 2) is None
    assert closed_window([], 1) is None
    point = load_point(stage(2.0), [loaded(0, 0.0, 100.0)], {})
    assert (point.window_seconds, point.requests_per_second) == (None, None)
    assert point.requests == 1
    assert "never held" in point.flags[0]


@given(st.lists(st.tuples(st.floats(0, 1000), st.floats(1, 500)), min_size=1, max_size=40), st.integers(1, 8))
def test_a_window_lies_inside_of_what_was_sent(times: list[tuple[float, float]], level: int) -> None:
    spans = sorted(Span(begin, begin + lasts) for begin, lasts in times)
    window = closed_window(spans, level)
    if window is not None:
        assert spans[0].begins_ms <= window.begins_ms < window.ends_ms <= max(span.ends_ms for span in spans)


def test_throughput_counts_good_ends_inside_of_the_window_only() -> None:
    point = load_point(stage(2.0), two_at_once(), {"latency_ms": 150.0})
    assert (point.window_begins_ms, point.window_ends_ms) == (0.0, 500.0)
    # Ends at 100 to 400: the last two end with the window, which does not hold its own end.
    assert point.requests_per_second == pytest.approx(8 / 0.5)
    assert point.goodput_per_second == pytest.approx(8 / 0.5)
    assert point.in_flight_mean == pytest.approx(2.0)
    assert point.in_flight_peak == 2
    assert (point.requests, point.outside_window) == (10, 0)


def test_what_lies_outside_of_the_window_or_was_never_sent_is_counted_and_paid_for() -> None:
    warm_up = [loaded(20, -150.0, 140.0, warm_up=True, cost_usd=2.0).model_copy(update={"warm_up": True})]
    measured = [loaded(number, 100.0 * (number // 2), 100.0, cost_usd=0.5) for number in range(10)]
    cut = loaded(30, 0.0, 0.0).model_copy(update={"requests": (), "skipped": "no time", "outcome": None})
    point = load_point(stage(2.0), [*warm_up, *measured, cut], {})
    assert (point.requests, point.outside_window, point.skipped) == (10, 1, {"no time": 1})
    assert point.measures["ttft_ms"].tally.skipped == {"no time": 1}
    assert (point.money.total_usd, point.money.solved, point.money.attempts) == (7.0, 11, 11)
    (curve,) = curves([stage(2.0)], [cut], {}, 1)
    assert curve.points == ()


def test_throughput_of_the_whole_stage_stands_beside_that_of_the_window() -> None:
    told = ((50.0, "c", 1, None), (90.0, "c", 1, None))
    trials = [loaded(number, 100.0 * number, 100.0, fragments=told) for number in range(4)]
    point = load_point(stage(1.0), trials, {})
    assert point.whole_seconds == pytest.approx(0.4)
    assert point.whole_requests_per_second == pytest.approx(10.0)
    assert point.whole_output_tokens_per_second == pytest.approx(100.0)
    untold = loaded(4, 400.0, 100.0, fragments=told, usage=None)
    assert load_point(stage(1.0), [*trials, untold], {}).whole_output_tokens_per_second is None


def test_failed_requests_are_no_throughput() -> None:
    failed = [loaded(number, 100.0 * (number // 2), 100.0, outcome="http_error") for number in range(10)]
    point = load_point(stage(2.0), failed, {})
    assert point.requests_per_second == 0.0
    assert point.succeeded.rate == 0.0
    assert point.goodput_per_second is None


def test_an_open_loop_is_measured_from_planned_times() -> None:
    trials = [
        loaded(
            number,
            100.0 * number + 40.0,
            30.0,
            scheduled_ms=100.0 * number,
            lateness_ms=40.0,
            queue_ms=40.0,
            scheduled_latency_ms=70.0,
        )
        for number in range(6)
    ]
    point = load_point(stage(10.0, closed=False), trials, {})
    assert (point.window_begins_ms, point.window_ends_ms) == (0.0, 500.0)
    assert point.offered_per_second == pytest.approx(10.0)
    late, latency = point.lateness_ms, point.measures["scheduled_latency_ms"]
    assert late is not None
    assert (late.maximum, latency.maximum) == (40.0, 70.0)
    assert open_window(sent_of(trials[:1])) is None


def test_the_turns_of_a_session_hold_one_place() -> None:
    def session(number: int, begin: float) -> BenchTrial:
        turns = [request(offset_ms=begin + 100.0 * turn, total_ms=90.0, latency_ms=90.0) for turn in range(3)]
        return loaded(number, begin, 1.0).model_copy(update={"requests": tuple(turns)})

    trials = [session(0, 0.0), session(1, 10.0), session(2, 300.0), session(3, 310.0)]
    point = load_point(stage(2.0), trials, {})
    # Until the first session ends after the last one began, not until the last request was sent.
    assert (point.window_begins_ms, point.window_ends_ms) == (10.0, 590.0)
    assert point.requests == 11


def test_a_stage_that_was_interrupted_is_the_sum_of_its_sittings() -> None:
    first, second = (
        two_at_once(),
        [loaded(number + 10, 100.0 * (number // 2), 100.0, sitting=2) for number in range(10)],
    )
    point = load_point(stage(2.0), [*first, *second], {})
    assert point.window_seconds == pytest.approx(1.0)
    assert point.requests_per_second == pytest.approx(16.0)
    assert point.window_begins_ms is None


def test_tokens_count_when_they_arrive() -> None:
    half = loaded(0, 0.0, 100.0, fragments=((20.0, "c", 1, None), (80.0, "c", 1, None)))
    sent = sent_of([half])
    assert output_tokens(sent, Window(0.0, 50.0)) == pytest.approx(5.0)
    mean, peak = in_flight(sent, Window(0.0, 200.0))
    assert mean == pytest.approx(0.5)
    assert peak == 1
    untold = loaded(0, 0.0, 100.0, fragments=((20.0, "c", 1, None),), usage=None)
    assert output_tokens(sent_of([untold]), Window(0.0, 50.0)) is None


def test_ends_are_sliced_over_the_window() -> None:
    slices = completion_slices(stage(2.0), two_at_once())
    assert len(slices) == 10
    assert sum(slices) * 0.05 == pytest.approx(8.0)


@pytest.mark.parametrize(
    ("throughput", "index"),
    [
        ([10.0, 20.0, 39.0, 40.0, 40.0], 2),
        ([10.0, 20.0, 40.0, 80.0], None),
        ([10.0, 10.0, 10.0], 0),
        ([10.0, 30.0, 25.0, 20.0], 1),
        ([], None),
        ([0.0, 0.0, 0.0], None),
    ],
)
def test_the_knee_is_where_more_load_brings_no_more(throughput: list[float], index: int | None) -> None:
    assert knee_index(throughput) == index


def test_a_knee_has_an_interval_that_is_the_same_for_the_same_seed() -> None:
    slices = {1.0: [10.0] * 10, 2.0: [19.0, 21.0] * 5, 4.0: [30.0, 50.0] * 5, 8.0: [39.0, 41.0] * 5}
    found = knee(slices, 7)
    assert found.level == 4.0
    assert found.share_found is not None
    assert found.share_found > 0.9
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 4.0 <= found.high
    assert knee(slices, 7) == found


def test_a_knee_that_cannot_be_told_says_why() -> None:
    assert "fewer than 3" in (knee({1.0: [1.0], 2.0: [2.0]}, 1).missing_reason or "")
    rising = knee({1.0: [10.0] * 10, 2.0: [20.0] * 10, 4.0: [40.0] * 10}, 1)
    assert (rising.level, rising.missing_reason) == (None, STILL_RISING)


def test_a_lowest_level_without_an_answer_does_not_hide_how_the_others_degrade() -> None:
    def at(level: int, lasts: float, outcome: str = "ok") -> BenchTrial:
        return loaded(0, 0.0, lasts, stage=f"s{level}", level=float(level), outcome=outcome)

    stages = [stage(float(level), key=f"s{level}") for level in (1, 2, 4)]
    (curve,) = curves(stages, [at(1, 9.0, "http_error"), at(2, 50.0), at(4, 150.0)], {}, 1)
    assert [point.degradation for point in curve.points] == [None, 1.0, 3.0]
    assert curve.saturation_level == 4.0


def test_saturation_is_never_the_lowest_level() -> None:
    first = load_point(stage(1.0), [loaded(0, 0.0, 10.0, outcome="http_error")], {})
    slow = first.model_copy(update={"level": 2.0, "degradation": 2.5})
    assert saturation([first]) is None
    assert saturation([first, slow]) == 2.0


@pytest.mark.parametrize(
    ("good", "of", "verdict"),
    [
        (20, 20, "kept"),
        (100, 100, "kept"),
        (3, 3, "undecided"),
        (19, 20, "undecided"),
        (10, 20, "missed"),
        (0, 0, "undecided"),
    ],
)
def test_a_level_keeps_its_limits_only_where_the_sample_can_say_so(good: int, of: int, verdict: str) -> None:
    assert verdict_of(good, of, 0.95) == verdict


def test_limits_are_highest_times_and_lowest_speeds() -> None:
    assert keeps({"ttft_ms": 100.0, "output_tps": 50.0}, {"ttft_ms": 100.0, "output_tps": 50.0})
    assert not keeps({"ttft_ms": 101.0}, {"ttft_ms": 100.0})
    assert not keeps({"output_tps": 49.0}, {"output_tps": 50.0})
    assert not keeps({"ttft_ms": None}, {"ttft_ms": 100.0})


def test_a_search_reports_the_highest_level_kept_and_the_lowest_that_was_not() -> None:
    search = stage(1.0, key="search", shape="goodput", group="goodput", adaptive=True, levels=(1.0, 8.0))
    trials = [
        loaded(
            number, 10.0 * number, 9.0 if level < 4 else 900.0, stage=f"search@{level}", level=float(level)
        ).model_copy(update={"key": f"search@{level}|{number}"})
        for level in (1, 2, 4)
        for number in range(24)
    ]
    (curve,) = curves([search], trials, {"latency_ms": 100.0}, 1)
    assert [point.level for point in curve.points] == [1.0, 2.0, 4.0]
    assert curve.goodput is not None
    assert (curve.goodput.best_level, curve.goodput.failing_level) == (2.0, 4.0)
    assert goodput_search([]).missing_reason == "no level was measured"


def test_trials_of_no_stage_are_in_no_curve() -> None:
    (curve,) = curves([stage()], [trial()], {}, 1)
    assert curve.points == ()


@pytest.mark.parametrize(
    ("good", "of", "why"),
    [
        (0, 0, "no request is in the steady window"),
        (1, 1, "the one request of the steady window keeps the limits, and 20 are needed"),
        (12, 12, "all 12 requests of the steady window keep the limits, and 20 are needed"),
        (39, 40, "39 of 40 requests of the steady window keep the limits, too few to tell whether 95 % do"),
        (95, 100, "no number that can be paid would"),
    ],
)
def test_what_is_undecided_says_why_and_what_to_do(good: int, of: int, why: str) -> None:
    assert verdict_of(good, of, 0.95) == "undecided"
    said = why_undecided(good, of, 0.95)
    assert why in said
    assert said.endswith("ask for more with --load-requests")


def test_a_search_without_enough_requests_is_undecided_in_its_report_and_its_reason() -> None:
    search = stage(1.0, key="search", shape="goodput", group="goodput", adaptive=True, levels=(1.0, 8.0))
    trials = [
        loaded(number, 10.0 * number, 9.0, stage="search@1", level=1.0).model_copy(
            update={"key": f"search@1|{number}"}
        )
        for number in range(6)
    ]
    (curve,) = curves([search], trials, {"latency_ms": 100.0}, 1)
    assert curve.goodput is not None
    assert curve.goodput.best_level is None
    assert curve.goodput.missing_reason == "no level is known to keep the limits: some are undecided"
    assert "20 are needed" in curve.goodput.undecided["search@1"]
