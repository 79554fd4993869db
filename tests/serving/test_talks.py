"""Made-up talks have the shape they are asked for, and the same seed makes the same ones."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.records import SessionShape
from runner.serving.talks import DEFAULT_SHAPE, ratio, talks

SMALL = SessionShape(shared_tokens=50, first_tokens=20, added_tokens=10, output_tokens=4, turns=6)
shapes = st.builds(
    SessionShape,
    shared_tokens=st.integers(0, 100),
    first_tokens=st.integers(0, 50),
    added_tokens=st.integers(0, 50),
    output_tokens=st.integers(1, 20),
    turns=st.integers(1, 12),
)


def test_the_shape_that_nobody_changes_is_as_prefill_heavy_as_real_agents() -> None:
    # Published sweeps of agents at work on repositories send 150 to 660 input tokens for one of output.
    assert 150 <= ratio(DEFAULT_SHAPE) <= 660


def test_the_ratio_is_that_of_many_talks() -> None:
    shape = DEFAULT_SHAPE
    sent = answered = 0
    for talk in islice(talks(shape, 1, "x"), 400):
        size = talk.shared
        for turn in talk.turns:
            size += turn.words
            sent += size
            size += turn.output
            answered += turn.output
    # Long talks weigh more than short ones, so the mean of many lies above that of the mean talk.
    assert ratio(shape) < sent / answered < 1.15 * ratio(shape)


@given(shapes, st.integers(0, 2**31))
def test_the_same_seed_makes_the_same_talks(shape: SessionShape, seed: int) -> None:
    first, second = (list(islice(talks(shape, seed, "5"), 4)) for _ in range(2))
    assert first == second
    assert [each.said(0) for each in first] == [each.said(0) for each in second]


@given(shapes)
def test_every_turn_says_as_many_words_as_planned_and_asks_for_something(shape: SessionShape) -> None:
    for talk in islice(talks(shape, 3, "1"), 3):
        assert len(talk.instructions().split()) == talk.shared
        for number, turn in enumerate(talk.turns):
            assert len(talk.said(number).split()) == turn.words >= 1
            assert turn.output >= 1


def test_talks_share_their_instructions_and_no_first_word() -> None:
    many = [talk for label in ("1", "2", "5") for talk in islice(talks(SMALL, 7, label), 20)]
    assert len({talk.instructions() for talk in many}) == 1
    openings = [talk.said(turn).split()[0] for talk in many for turn in range(len(talk.turns))]
    assert len(set(openings)) == len(openings)


def test_another_seed_or_level_makes_other_talks() -> None:
    plans = [next(talks(SMALL, seed, label)).turns for seed, label in ((1, "1"), (2, "1"), (1, "2"))]
    assert len({str(each) for each in plans}) == 3


@given(shapes, st.integers(60, 400))
def test_a_talk_stays_within_the_window_but_for_its_first_turn(shape: SessionShape, most: int) -> None:
    for talk in islice(talks(shape, 5, "1", most_tokens=most), 5):
        total = talk.shared + sum(turn.words + turn.output for turn in talk.turns)
        assert len(talk.turns) == 1 or total <= most


@pytest.mark.parametrize("turns", [1, 2])
def test_a_single_turn_sends_its_prompt_once(turns: int) -> None:
    shape = SessionShape(shared_tokens=100, first_tokens=50, added_tokens=30, output_tokens=10, turns=turns)
    assert ratio(shape) == (150 + (turns - 1) / 2 * 40) / 10
