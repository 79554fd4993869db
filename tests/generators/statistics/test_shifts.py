"""Shifts: what counts as noise, and which of two submissions was ranked first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.shifts import Shift, noise_limit, orders, share_above_noise

POINTS = st.floats(min_value=-100, max_value=100, allow_nan=False)


def shifts(*points: float) -> list[Shift]:
    """Shifts of pairs that were scored once on each side."""
    return [Shift(each, 1, 1) for each in points]


def test_the_limit_is_that_of_a_difference_of_two_scores() -> None:
    assert noise_limit(10.0, 1, 1) == pytest.approx(1.959964 * 10 * 2**0.5)
    assert noise_limit(10.0, 4, 4) == pytest.approx(noise_limit(10.0, 1, 1) / 2)
    assert noise_limit(0.0, 1, 1) == 0.0


def test_by_chance_about_one_pair_in_forty_exceeds_it() -> None:
    generator = np.random.default_rng(7)
    drawn = generator.normal(60, 5, size=(20_000, 2))
    found = share_above_noise(shifts(*(drawn[:, 1] - drawn[:, 0])), 5.0)
    assert found is not None
    assert found.estimate == pytest.approx(0.025, abs=0.004)


def test_of_a_judge_without_noise_every_rise_counts_and_nothing_else() -> None:
    found = share_above_noise(shifts(0.0, 1e-12, -5.0, 0.25), 0.0)
    assert found is not None
    assert (found.estimate, found.count) == (0.25, 4)


def test_without_shifts_there_is_no_share() -> None:
    assert share_above_noise([], 1.0) is None
    assert orders([]).share is None


def test_ranks_are_right_tied_or_wrong() -> None:
    found = orders(shifts(-10, -0.5, 0, 1e-12, 3))
    assert (found.right, found.tied, found.wrong) == (2, 2, 1)
    assert found.share is not None
    assert found.share.estimate == pytest.approx(0.4)


@given(st.lists(POINTS, min_size=1, max_size=30))
def test_every_pair_has_one_rank(points: list[float]) -> None:
    found = orders(shifts(*points))
    assert found.right + found.tied + found.wrong == len(points)
    mirrored = orders(shifts(*(-each for each in points)))
    assert (mirrored.wrong, mirrored.tied) == (found.right, found.tied)


@given(st.lists(POINTS, min_size=1, max_size=30), st.floats(0, 50), st.floats(0, 50))
def test_more_noise_never_makes_more_pairs_stand_out(points: list[float], one: float, two: float) -> None:
    less, more = sorted((one, two))
    quiet, loud = share_above_noise(shifts(*points), less), share_above_noise(shifts(*points), more)
    assert quiet is not None
    assert loud is not None
    assert quiet.estimate >= loud.estimate
