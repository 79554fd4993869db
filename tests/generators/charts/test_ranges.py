"""A chart of intervals shows the numbers of its table, and no end that the data cannot carry."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from generators.charts.ranges import Range, ranges_chart

SIX = [
    Range("score 0 to 20", 0.1, 0.02, 0.4, 10, expected=0.12),
    Range("score 80 to 100", 1.0, None, None, 2),
]
FLOATS = st.floats(-1e6, 1e6)


def html(ranges: list[Range], **more: object) -> str:
    return str(
        ranges_chart(
            ranges,
            slug="c",
            title="Passed",
            scope="all",
            unit="share",
            counted="trials",
            at=more.get("at"),  # type: ignore[arg-type]
        ).html("")
    )


def test_the_table_has_the_numbers_of_the_drawing() -> None:
    page = html(SIX)
    assert '<td data-value="0.1">0.1</td>' in page
    assert '<td data-value="">unknown</td>' in page
    assert '<td data-value="10">10</td>' in page
    assert page.count("<svg") == 2


def test_an_end_that_is_unknown_is_not_drawn_and_said() -> None:
    page = html(SIX)
    assert page.count("hm-series-0 hm-line") == 2
    assert page.count("hm-neutral hm-off") == 2
    assert "too few values" in page
    assert "Open marks" in page


def test_nothing_to_show_is_said() -> None:
    assert "There is nothing to show." in html([])


def test_labels_are_escaped_and_cut() -> None:
    page = html([Range("<img src=x onerror=alert(1)>" * 5, 0.5, 0.4, 0.6, 3)])
    assert "<img" not in page


def test_the_chart_needs_no_script_and_no_file() -> None:
    assert "data-chart" not in html(SIX)


@given(st.lists(st.tuples(FLOATS, st.floats(0, 1e5), st.booleans()), min_size=1, max_size=8), FLOATS)
def test_every_mark_lies_inside_the_drawing(rows: list[tuple[float, float, bool]], at: float) -> None:
    ranges = [
        Range(f"row {n}", value, value - half if known else None, value + half if known else None, 3)
        for n, (value, half, known) in enumerate(rows)
    ]
    page = html(ranges, at=at)
    for width, height, body in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)".*?>(.*?)</svg>', page):
        for x, y in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", body):
            assert -1 <= float(x) <= float(width) + 1
            assert -1 <= float(y) <= float(height) + 1


def test_marks_that_are_all_alike_do_not_stand_on_a_scale_of_ten_millionths() -> None:
    page = html([Range("all", 0.0, None, None, 9), Range("some", 0.0, None, None, 9)])
    ticks = re.findall(r'class="hm-x"[^>]*>([^<]*)<', page)
    assert ticks
    assert all(float(tick) == round(float(tick), 1) for tick in ticks)
