"""A chart of lines shows the numbers of its table, breaks where one is unknown, and stays in its frame."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.charts.lines import Line, LinesPlan, lines_chart
from generators.charts.lines_svg import stretches, tick_text

SWEEP = LinesPlan(
    places=(1.0, 5.0, 10.0),
    lines=(Line("mean", (2040.0, 3162.3, None)), Line("upper bound of p90", (2500.0, 7500.0, 20000.0))),
    across="Concurrent sessions",
    up="milliseconds",
    marked=((5.0, "cheapest level"),),
)
VALUES = st.one_of(st.none(), st.floats(-1e6, 1e9))


def html(plan: LinesPlan) -> str:
    return str(lines_chart(plan, slug="c", title="Time to first token", scope="all").html("c.json"))


def test_the_table_has_every_value_of_every_line() -> None:
    page = html(SWEEP)
    assert '<td data-value="5">5</td>' in page
    assert '<td data-value="3162.3">3,162</td>' in page
    assert '<td data-value="">unknown</td>' in page
    assert "upper bound of p90, milliseconds" in page


def test_an_unknown_value_breaks_the_line_and_is_said() -> None:
    assert stretches((1.0, None, 2.0, 3.0, None)) == [[0], [2, 3]]
    assert "broken where its figure is unknown" in html(SWEEP)


def test_a_marked_place_is_told_in_words_and_drawn_in_every_form() -> None:
    page = html(SWEEP)
    assert "Cheapest level: 5." in page
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) >= 2
    for drawing in drawings[:2]:
        [line] = re.findall(r'<path class="hm-grid hm-place" d="M([\d.]+) ', drawing)
        assert f'<text class="hm-x hm-label" x="{line}"' in drawing
        assert ">cheapest level</text>" in drawing
    layout = json.loads(lines_chart(SWEEP, slug="c", title="T", scope="all").json())["layout"]
    assert [(each["x0"], each["x1"]) for each in layout["shapes"]] == [(5.0, 5.0)]
    assert [(each["x"], each["text"]) for each in layout["annotations"]] == [(5.0, "cheapest level")]


def test_one_line_needs_no_legend_and_two_do() -> None:
    assert html(SWEEP).count("hm-swatch") == 2
    alone = LinesPlan(SWEEP.places, SWEEP.lines[:1], SWEEP.across, SWEEP.up)
    assert "hm-swatch" not in html(alone)


def test_where_nothing_is_known_no_chart_is_drawn() -> None:
    page = html(LinesPlan((1.0, 2.0), (Line("x", (None, None)),), "c", "u"))
    assert "None of these figures is known." in page
    assert "data-chart" not in page


def test_the_interactive_form_has_the_same_numbers() -> None:
    figure = json.loads(lines_chart(SWEEP, slug="c", title="T", scope="all").json())
    assert [trace["y"] for trace in figure["data"]] == [[2040.0, 3162.3, None], [2500.0, 7500.0, 20000.0]]
    assert figure["data"][0]["x"] == [1.0, 5.0, 10.0]


@pytest.mark.parametrize(("value", "written"), [(0.25, "$0.25"), (9_999, "$9999"), (20_000, "$20k")])
def test_ticks_are_short(value: float, written: str) -> None:
    assert tick_text(value, "$") == written


def test_a_fifth_line_and_a_line_of_another_length_are_refused() -> None:
    line = Line("x", (1.0,))
    with pytest.raises(ValueError, match="5 lines cannot be told apart"):
        lines_chart(LinesPlan((1.0,), (line,) * 5, "c", "u"), slug="c", title="T", scope="all")
    with pytest.raises(ValueError, match="has 1 values for 2 places"):
        lines_chart(LinesPlan((1.0, 2.0), (line,), "c", "u"), slug="c", title="T", scope="all")


def test_labels_are_escaped_in_every_form() -> None:
    plan = LinesPlan((1.0,), (Line("<img src=x onerror=alert(1)>", (1.0,)),), "<b>", "</svg><script>")
    assert "<img" not in html(plan)
    assert "<script" not in html(plan)
    assert "<img" not in lines_chart(plan, slug="c", title="T", scope="all").json()


@given(st.lists(st.tuples(st.floats(1, 500), VALUES, VALUES), min_size=1, max_size=12))
def test_every_mark_lies_inside_the_drawing(rows: list[tuple[float, float | None, float | None]]) -> None:
    places = tuple(sorted(place for place, _, _ in rows))
    lines = (Line("a", tuple(row[1] for row in rows)), Line("b", tuple(row[2] for row in rows)))
    page = html(LinesPlan(places, lines, "c", "u"))
    for width, height, body in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)".*?>(.*?)</svg>', page):
        for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", body):
            assert -6 <= float(x) <= float(width) + 6
            assert -6 <= float(y) <= float(height) + 6


def test_places_that_only_order_have_names_in_every_form() -> None:
    days = tuple(f"2026-11-{day:02}" for day in range(1, 31))
    places = tuple(float(place) for place in range(1, 31))
    plan = LinesPlan(places, (Line("a", places),), "Run", "ms", names=days)
    chart = lines_chart(plan, slug="c", title="T", scope="all")
    assert len(re.findall(r">2026-11-\d\d</td>", str(chart.table))) == 30
    assert str(chart.static).count(">2026-11-01<") == str(chart.static).count(">2026-11-30<") == 2
    assert len(re.findall(r">2026-11-\d\d<", str(chart.static))) == 9, "six wide and three narrow"
    axis = json.loads(chart.json())["layout"]["xaxis"]
    assert axis["ticktext"][0] == "2026-11-01"
    assert axis["tickvals"][-1] == 30.0
    with pytest.raises(ValueError, match="for 2 places"):
        lines_chart(
            LinesPlan((1.0, 2.0), (Line("a", (1.0, 2.0)),), "c", "u", names=("x",)),
            slug="c",
            title="T",
            scope="all",
        )
