"""Spread: each mean gets the interval that suits it, or says why it has none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.intervals import mean_interval, share_interval
from generators.tables.certainty import certainty
from generators.tables.figures import FIGURES
from generators.tables.spread import Kind, Spread
from tests.generators.tables.made import committed

POINTS = st.lists(st.floats(0, 100), min_size=2, max_size=12)


@given(POINTS)
def test_the_interval_of_scores_is_that_of_student_within_the_scale(values: list[float]) -> None:
    found, plain = Spread(tuple(values), Kind.SCORE).interval, mean_interval(values)
    assert plain is not None
    if found is None:
        assert plain.lower is None
        return
    assert found.lower is not None
    assert found.upper is not None
    assert plain.lower is not None
    assert plain.upper is not None
    assert 0 <= found.lower <= found.upper <= 100
    assert found.lower == max(0.0, plain.lower)
    assert found.upper == min(100.0, plain.upper)


def test_shares_of_tasks_tried_once_get_wilson_and_others_student() -> None:
    once = Spread((100.0, 100.0, 0.0), Kind.SHARE, (2, 3))
    wilson = share_interval(2, 3)
    assert once.interval is not None
    assert wilson is not None
    assert wilson.lower is not None
    assert once.interval.lower == pytest.approx(100 * wilson.lower)
    assert once.method == "Wilson"
    assert Spread((100.0, 50.0), Kind.SHARE).method == "Student's t"


def test_all_passed_is_no_certainty() -> None:
    found = Spread((100.0,) * 5, Kind.SHARE, (5, 5)).interval
    assert found is not None
    assert found.lower is not None
    assert found.lower < 60
    assert found.upper == 100


@pytest.mark.parametrize(
    ("spread", "reason"),
    [
        (Spread((), Kind.SCORE), "no task only"),
        (Spread((70.0,), Kind.SCORE), "one task only"),
        (Spread((70.0,), Kind.SCORE, unit="cell"), "one cell only"),
        (Spread((70.0, 70.0), Kind.SCORE), "2 tasks, all alike"),
        (Spread((1.0, 2.0, 3.0, 4.0), Kind.AMOUNT), "fewer than 5 tasks"),
        (Spread((1.0,) * 6, Kind.AMOUNT), "6 tasks, all alike"),
        (Spread((70.0, 71.0), Kind.SCORE), ""),
    ],
)
def test_what_has_no_interval_says_why(spread: Spread, reason: str) -> None:
    assert spread.reason == reason
    assert (spread.interval is None) == bool(reason)


def test_every_mean_of_the_committed_cells_has_the_interval_of_the_policy() -> None:
    for cell in committed():
        sure = certainty(cell)
        for figure in FIGURES:
            value = cell.figures[figure.name]
            assert (value.spread is not None) == (figure.is_mean and value.amount is not None), figure.name
        mean = cell.figures["mean_score"].spread
        if mean is None or sure.score is None or sure.score.lower is None or sure.score.upper is None:
            continue
        assert mean.interval is not None
        assert mean.interval.lower == pytest.approx(max(0.0, sure.score.lower))
        assert mean.interval.upper == pytest.approx(min(100.0, sure.score.upper))
        cost = cell.figures["cost_per_task"].spread
        if cost is not None and sure.cost.mean is not None:
            ends = cost.interval.lower if cost.interval else None
            assert ends == sure.cost.mean.interval.lower
