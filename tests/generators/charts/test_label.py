"""Label placement: nothing overlaps, nothing is cut off."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from generators.charts.label import POSITIONS, Anchor, Box, label_box, place

AREA = Box(50, 6, 718, 378)
coordinates = st.tuples(st.floats(56, 700), st.floats(20, 370))
names = st.text("abcdefgh-0123", min_size=1, max_size=28)


def _place(anchors: list[Anchor]) -> list[Box]:
    placed = place(anchors, area=AREA, font_size=12, radius=6)
    assert len(placed) == len(anchors)
    return [label.box for label in placed if label.text]


@given(st.lists(st.tuples(coordinates, names), max_size=25))
def test_labels_never_overlap_and_stay_inside(drawn: list[tuple[tuple[float, float], str]]) -> None:
    anchors = [Anchor(x, y, name, str(index)) for index, ((x, y), name) in enumerate(drawn)]
    boxes = _place(anchors)
    assert all(box.within(AREA) for box in boxes)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


@given(st.lists(coordinates, max_size=15, unique=True))
def test_no_label_covers_another_point(places: list[tuple[float, float]]) -> None:
    anchors = [Anchor(x, y, "a-long-model-name", "7") for x, y in places]
    placed = place(anchors, area=AREA, font_size=12, radius=6)
    for index, label in enumerate(placed):
        if label.text:
            for number, (x, y) in enumerate(places):
                assert number == index or not label.box.overlaps(Box(x - 6, y - 6, x + 6, y + 6))


def test_a_lone_label_stands_to_the_right() -> None:
    (label,) = place([Anchor(300, 200, "model", "1")], area=AREA, font_size=12, radius=6)
    assert (label.text, label.position) == ("model", "middle right")


def test_at_the_right_edge_a_label_moves_to_the_left() -> None:
    (label,) = place([Anchor(700, 200, "a-long-model", "1")], area=AREA, font_size=12, radius=6)
    assert label.position == "middle left"


def test_without_room_the_number_is_used_and_without_any_nothing() -> None:
    narrow = Box(0, 0, 60, 30)
    (label,) = place([Anchor(10, 15, "far-too-long-a-name", "12")], area=narrow, font_size=12, radius=6)
    assert label.text == "12"
    (none,) = place([Anchor(10, 15, "long", "12")], area=Box(0, 0, 20, 30), font_size=12, radius=6)
    assert none.text == ""


def test_a_label_prefers_a_place_that_crosses_no_line() -> None:
    line = Box(306, 199, 500, 201)
    (label,) = place([Anchor(300, 200, "model", "1")], area=AREA, font_size=12, radius=6, lines=[line])
    assert not label.box.overlaps(line)


def test_every_position_keeps_off_its_own_point() -> None:
    own = Box(94, 94, 106, 106)
    for position in POSITIONS:
        assert not label_box(100, 100, "model", position, 12, 6).overlaps(own)
