"""Dumbbells and differences show the numbers given, escape what others wrote, and stay inside their frame."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from generators.charts.difference import REACHES, Difference, difference_svg, reach_of
from generators.charts.dumbbell import Dumbbell, dumbbell_chart

SCORES = st.one_of(st.none(), st.floats(0, 100))
NAMES = ("one", "two")


def html(rows: list[Dumbbell], *, points: bool = True, names: tuple[str, str] = NAMES) -> str:
    chart = dumbbell_chart(
        rows, names, slug="c", title="Task by task", scope="all", unit="score", points=points
    )
    return str(chart.html(""))


def marks(page: str) -> int:
    return len(re.findall(r'class="hm-series-[01]" d="[^"]*z', page.partition('<ul class="hm-legend">')[0]))


def test_a_row_has_both_marks_and_the_line_between_them() -> None:
    page = html([Dumbbell("task-a", 40.0, 80.0, "40.0", "80.0")])
    assert marks(page) == 4
    assert page.count("hm-neutral hm-line") == 2
    assert '<td data-value="40">40.0</td>' in page
    assert "data-chart" not in page


def test_what_is_unknown_has_no_mark_and_no_line_and_is_said() -> None:
    page = html([Dumbbell("task-a", None, 80.0, "failed", "80.0"), Dumbbell("task-b", None, None)])
    assert marks(page) == 2
    assert "hm-neutral hm-line" not in page
    assert '<td data-value="">failed</td>' in page
    assert '<td data-value="">unknown</td>' in page


def test_nothing_to_show_is_said() -> None:
    assert "There is nothing to show." in html([])
    assert "There is nothing to show." in html([Dumbbell("task-a", None, None)])


def test_names_and_labels_are_escaped() -> None:
    bad = "<img src=x onerror=alert(1)>"
    page = html([Dumbbell(bad, 1.0, 2.0, bad, bad)], names=(bad, bad))
    assert "<img" not in page


@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=9), st.booleans())
def test_every_mark_lies_inside_the_drawing(
    rows: list[tuple[float | None, float | None]], points: bool
) -> None:
    page = html([Dumbbell(f"row {n}", *row) for n, row in enumerate(rows)], points=points)
    for width, height, body in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)" role.*?>(.*?)</svg>', page):
        for x, y in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", body):
            assert 0 <= float(x) <= float(width)
            assert 0 <= float(y) <= float(height)


def test_an_interval_without_ends_has_no_line() -> None:
    assert 'hm-line" d=""' in str(difference_svg(Difference(3.0, None, None, 5.0)))
    assert 'hm-line" d=""' not in str(difference_svg(Difference(3.0, -1.0, 7.0, 5.0)))


def test_without_an_estimate_nothing_is_drawn() -> None:
    assert difference_svg(Difference(None, None, None, 5.0)) == ""


@given(st.floats(-100, 100), st.floats(0, 150), st.floats(0, 150))
def test_zero_stays_in_the_middle_and_the_scale_holds_what_it_can(
    mean: float, down: float, up: float
) -> None:
    difference = Difference(mean, mean - down, mean + up, 5.0)
    reach = reach_of(difference)
    assert reach in REACHES
    assert reach == REACHES[-1] or reach >= max(abs(mean - down), abs(mean + up))
    for width, body in re.findall(r'viewBox="0 0 ([\d.]+) .*?>(.*?)</svg>', str(difference_svg(difference))):
        assert f'x="{float(width) / 2:g}"' in body
        for x in re.findall(r"[MH](-?[\d.]+)", body):
            assert 0 <= float(x) <= float(width)
