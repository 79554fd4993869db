"""Holm's adjustment, tie groups and rank ranges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.multiplicity import RankRange, holm, rank_ranges, tie_groups

P_VALUES = st.lists(st.floats(0, 1), max_size=20)


def test_the_known_example_is_adjusted_as_in_the_literature() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(P_VALUES)
def test_adjusting_lowers_no_p_and_changes_no_order(values: list[float]) -> None:
    adjusted = holm(values)
    for (one, before), (two, after) in zip(
        sorted(zip(adjusted, values, strict=True), key=lambda pair: pair[1])[:-1],
        sorted(zip(adjusted, values, strict=True), key=lambda pair: pair[1])[1:],
        strict=True,
    ):
        assert before <= after
        assert one <= two
    assert all(value <= each <= 1 for value, each in zip(values, adjusted, strict=True))


@given(P_VALUES)
def test_it_is_never_stricter_than_bonferroni(values: list[float]) -> None:
    for value, adjusted in zip(values, holm(values), strict=True):
        assert adjusted <= min(1.0, len(values) * value) + 1e-12


@given(P_VALUES)
def test_the_order_of_the_table_does_not_matter(values: list[float]) -> None:
    assert holm(values[::-1])[::-1] == pytest.approx(holm(values))


def test_a_number_that_is_no_p_value_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, 1.5])


def test_cells_that_nothing_tells_apart_are_one_group() -> None:
    assert tie_groups([2, 0, 1], set()) == [[2, 0, 1]]
    assert rank_ranges(3, set()) == [RankRange(1, 3)] * 3


def test_a_cell_that_beats_all_others_stands_alone() -> None:
    assert tie_groups([0, 1, 2], {(0, 1), (0, 2)}) == [[0], [1, 2]]
    assert rank_ranges(3, {(0, 1), (0, 2)}) == [RankRange(1, 1), RankRange(2, 3), RankRange(2, 3)]


def test_a_chain_of_ties_joins_even_cells_that_are_told_apart() -> None:
    assert tie_groups([0, 1, 2], {(0, 2)}) == [[0, 1, 2]]
    assert rank_ranges(3, {(0, 2)}) == [RankRange(1, 2), RankRange(1, 3), RankRange(2, 3)]


@given(st.integers(1, 7), st.data())
def test_every_cell_is_in_one_group_and_groups_are_told_apart(count: int, data: st.DataObject) -> None:
    places = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    claims = data.draw(st.sets(places.filter(lambda pair: pair[0] < pair[1])))
    groups = tie_groups(list(range(count)), claims)
    assert sorted(cell for group in groups for cell in group) == list(range(count))
    for one in groups:
        for other in groups:
            if one is not other:
                assert all((min(a, b), max(a, b)) in claims for a in one for b in other)
    for place in rank_ranges(count, claims):
        assert place.best >= 1
        assert place.worst <= count
