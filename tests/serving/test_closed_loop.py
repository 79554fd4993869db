"""The truth that sweeps are held against: worked out by hand, and true to the laws of queues."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.records import SessionShape
from runner.serving.closed_loop import Request, ServerSpeed, requests_of, run_loop, truth_of
from runner.serving.talks import Talk, TurnPlan, talks

SHAPE = SessionShape(shared_tokens=40, first_tokens=20, added_tokens=15, output_tokens=6, turns=4)
ONE = ServerSpeed(1, 0.1, 1.0, 16)


def alike(words: int = 7, output: int = 3) -> list[Talk]:
    """Talks of one turn without instructions: ten tokens and three more for the roles."""
    return [Talk(str(number), 0, (TurnPlan(words, output),)) for number in range(1000)]


def test_one_session_on_one_place_by_hand() -> None:
    # Two roles and the place of the answer: 10 tokens, 1 s of prefill, 2 s for the two other tokens.
    found = run_loop(iter(alike()), ONE, slots=1, until=7.0)
    assert [(each.begun, each.first, each.ended) for each in found] == [(0, 1, 3), (3, 4, 6), (6, 7, 9)]
    truth = truth_of(found, ONE, 7.0)
    assert truth.prompt_tokens_per_second == pytest.approx(30 / 7)
    assert truth.output_tokens_per_second == pytest.approx(7 / 7)
    assert truth.requests_per_second == pytest.approx(2 / 7)
    assert (truth.ttft_ms_mean, truth.queue_ms_mean, truth.e2e_ms_mean) == (1000, 0, 3000)
    assert (truth.running_mean, truth.waiting_mean, truth.prefix_cache_hit_rate) == (1, 0, 0)


def test_two_sessions_on_one_place_take_turns() -> None:
    found = run_loop(iter(alike()), ONE, slots=2, until=12.0)
    assert [each.begun for each in found if each.begun < 12] == [0, 3, 6, 9]
    truth = truth_of(found, ONE, 12.0)
    assert truth.queue_ms_mean == pytest.approx((0 + 3 + 3 + 3) / 4 * 1000)
    assert (truth.running_mean, truth.waiting_mean) == (1, 1)


def test_a_pause_between_turns_leaves_the_place_idle() -> None:
    talk = Talk("t", 0, (TurnPlan(7, 3), TurnPlan(1, 1)))
    found = run_loop(iter([talk] * 10), ONE, slots=1, until=5.0, think_seconds=1.5)
    assert [each.arrived for each in found] == [0, 4.5]


def test_the_cache_holds_what_was_said_before_in_whole_blocks() -> None:
    talk = Talk("t", 30, (TurnPlan(10, 5), TurnPlan(20, 5)))
    # Instructions with their role and the role of the first turn are 32 tokens: two blocks.
    assert list(requests_of(talk, 16)) == [(43, 32, 5), (43 + 5 + 1 + 20 + 1, 48, 5)]


def test_a_whole_prompt_is_never_cached() -> None:
    ((prompt, cached, _),) = requests_of(Talk("t", 30, (TurnPlan(1, 1),)), 1)
    assert cached < prompt


@settings(max_examples=60)
@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 1000), st.floats(0, 0.5))
def test_the_laws_of_queues_hold(capacity: int, slots: int, seed: int, stagger: float) -> None:
    speed = ServerSpeed(capacity, 0.01, 0.05, 16)
    found = run_loop(talks(SHAPE, seed, "x"), speed, slots=slots, until=20.0, stagger_seconds=stagger)
    begun = [each for each in found if each.begun < float("inf")]
    assert [each.arrived for each in begun] == sorted(each.arrived for each in begun)
    for each in islice(begun, 30):
        at_once = [other for other in begun if other.begun <= each.begun < other.ended]
        assert len(at_once) <= capacity
        assert each.first - each.begun == pytest.approx((each.prompt - each.cached) * 0.01)
        assert each.ended - each.first == pytest.approx((each.output - 1) * 0.05)
    truth = truth_of(found, speed, 20.0)
    assert truth.running_mean <= min(capacity, slots) + 1e-9
    assert truth.running_mean + truth.waiting_mean <= slots + 1e-9
    if slots <= capacity:
        assert truth.waiting_mean == 0


@given(st.floats(0.1, 100))
def test_nothing_is_measured_of_nothing(seconds: float) -> None:
    truth = truth_of([], ONE, seconds)
    assert (truth.prompt_tokens_per_second, truth.ttft_ms_mean, truth.prefix_cache_hit_rate) == (
        0,
        None,
        None,
    )


def test_an_answer_on_its_way_counts_the_tokens_that_are_there() -> None:
    request = Request(arrived=0, begun=0, first=1, ended=6, prompt=10, cached=0, output=6)
    assert truth_of([request], ONE, 3.5).output_tokens_per_second == pytest.approx(3 / 3.5)
    assert truth_of([request], ONE, 0.5).output_tokens_per_second == 0
