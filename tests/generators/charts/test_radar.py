"""The quality radar: outlines, gaps, and what the table adds."""

from __future__ import annotations

import json
import re
from typing import Any

import plotly.graph_objects as go
import pytest

from generators.charts import Chart, RadarSeries, radar_chart
from generators.charts.radar_svg import CENTRE, RADIUS, corner, runs
from generators.pages.charting import ARTIFACT_WORDS
from runner.errors import PublishError
from tests.generators.charts.examples import profile
from tests.generators.markup import read

AXES = ("completeness", "correctness", "specificity", "clarity")


def chart(series: list[RadarSeries], axes: tuple[str, ...] = AXES, maximum: float = 25) -> Chart:
    return radar_chart(
        series, axes=axes, maximum=maximum, slug="radar-pi", title="Quality", scope="pi · swe3"
    )


def traces(of: Chart) -> list[dict[str, Any]]:
    return list(json.loads(of.json())["data"])


def outlines(of: Chart) -> list[str]:
    return re.findall(r'<path class="hm-line[^"]*" d="([^"]*)"', of.static)


def test_both_renderers_and_the_table_show_the_same_numbers() -> None:
    values = (20.0, 15.5, 12.25, 5.0)
    of = chart([profile("a", *values)])
    (trace,) = traces(of)
    assert trace["r"] == [*values, values[0]]
    assert trace["theta"] == [0, 90, 180, 270, 0]
    (data,) = outlines(of)
    drawn = [tuple(map(float, pair.split())) for pair in re.split("[ML]", data) if pair]
    for index, value in enumerate(values):
        assert drawn[index] == pytest.approx(corner(index, 4, value / 25), abs=0.06)
    assert drawn[-1] == drawn[0]
    assert [float(v) for v in re.findall(r'data-value="([\d.]+)">[\d.]+</td>', of.table)] == list(values)


def test_a_missing_value_is_a_gap_and_not_zero() -> None:
    of = chart([profile("a", 20, None, 12, 5)])
    (trace,) = traces(of)
    assert trace["r"] == [20, None, 12, 5, 20]
    assert trace["connectgaps"] is False
    (data,) = outlines(of)
    assert data.count("M") == 1
    centre = f"{CENTRE[0]:g} {CENTRE[1]:g}"
    assert centre not in data
    assert len(re.findall("[ML]", data)) == 3
    assert '<td data-value="">unknown</td>' in of.table
    assert any("missing, not zero" in note for note in of.notes)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1, 2, 3), [[0, 1, 2, 0]]),
        ((1, None, 3, 4), [[2, 3, 0]]),
        ((None, 2, None, 4), [[1], [3]]),
        ((None, None, None), []),
        ((None, 2, 3, 4), [[1, 2, 3]]),
    ],
)
def test_outlines_run_between_gaps(values: tuple[float | None, ...], expected: list[list[int]]) -> None:
    assert runs(values) == expected


def test_at_most_four_outlines_are_drawn_and_the_table_has_all() -> None:
    series = [profile(f"model-{index}", 20, 15, 10, index) for index in range(6)]
    of = chart(series)
    assert len(traces(of)) == len(outlines(of)) == 4
    assert "model-5" in of.table
    assert any("4 of 6 series" in note for note in of.notes)
    styles = {(trace["line"]["dash"], trace["marker"]["symbol"]) for trace in traces(of)}
    assert len(styles) == 4
    assert all(trace["fill"] == "none" for trace in traces(of))


def test_each_outline_is_a_link_that_says_its_values() -> None:
    of = chart([profile("a", 20, None, 12.5, 5, scored=4)])
    (link,) = [attributes for tag, attributes in read(of.static).tags if tag == "a"]
    assert link["xlink:href"] == "cells/a/"
    assert link["aria-label"] == (
        "a* (4 of 5 tasks): completeness 20.00 of 25 (80.0 %), correctness unknown, "
        "specificity 12.50 of 25 (50.0 %), clarity 5.00 of 25 (20.0 %)"
    )


def test_axes_of_one_name_stay_apart_in_the_figure() -> None:
    of = chart([profile("a", 1, 2, 3)], axes=("same", "same", "same"))
    assert len(set(traces(of)[0]["theta"])) == 3


def test_the_first_axis_points_up_and_the_rest_follow_clockwise() -> None:
    assert corner(0, 4, 1) == pytest.approx((CENTRE[0], CENTRE[1] - RADIUS))
    assert corner(1, 4, 1) == pytest.approx((CENTRE[0] + RADIUS, CENTRE[1]))


def test_plotly_accepts_the_figure_and_it_is_small() -> None:
    of = chart([profile(f"model-{index}", 20, 15, 10, index) for index in range(4)])
    go.Figure(json.loads(of.json()))
    assert len(of.json().encode()) <= 20 * 1024
    assert len(of.static.encode()) <= 12 * 1024
    assert of.json() == chart([profile(f"model-{index}", 20, 15, 10, index) for index in range(4)]).json()


def test_series_without_any_value_are_left_to_the_table() -> None:
    of = chart([profile("a", None, None, None, None)])
    assert "No series of this chart has a value." in of.html("x.json")
    assert "data-chart" not in of.html("x.json")


def test_wrong_shapes_and_values_are_refused() -> None:
    with pytest.raises(PublishError, match="at least three"):
        chart([profile("a", 1, 2)], axes=("x", "y"))
    with pytest.raises(PublishError, match="2 values for 4 axes"):
        chart([profile("a", 1, 2)])
    with pytest.raises(PublishError, match="outside 0 to 25"):
        chart([profile("a", 1, 2, 3, 26)])


def test_no_word_of_a_shipped_axis_is_broken() -> None:
    names = tuple(ARTIFACT_WORDS.values())
    for turn in range(len(names)):
        axes = names[turn:] + names[:turn]
        drawn = chart([profile("a", 1, 2, 3, 4, 5)], axes, 100).static
        lines = re.findall(r"<tspan[^>]*>([^<]*)</tspan>", drawn)
        words = {word for name in names for word in name.split()}
        assert {word for line in lines for word in line.split()} == words
