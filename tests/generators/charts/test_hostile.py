"""Hostile text in every word of a chart."""

from __future__ import annotations

import json
import re

import pytest

from generators.charts import Chart, pareto_chart, radar_chart
from tests.generators.charts.examples import point, profile
from tests.generators.markup import LIVE_ADDRESS, read
from tests.hostile import Hostile, corpus

WORDS = (
    "figure figcaption strong span div button svg path text tspan a ul ol li p "
    "details summary table caption thead tbody tr th td"
)
TAGS = set(WORDS.split(" "))


def charts(text: str) -> list[Chart]:
    """A chart of each kind that carries the text wherever a caller can put one."""
    points = [
        point(text, 1.0, 50.0, harness=text, hosting=text, note=text, href=text, basis=text),
        point(text, None, 50.0, href=text),
    ]
    pareto = pareto_chart(points, slug="p", title=text, scope=f"x {text}", caption=text, subset=text)
    series = [profile(text, 1, 2, None)]
    radar = radar_chart(series, axes=(text, text, "x"), maximum=3, slug="r", title=text, scope=f"x {text}")
    return [pareto, radar]


@pytest.mark.parametrize("hostile", corpus(), ids=lambda hostile: hostile.name)
def test_no_word_of_a_chart_becomes_markup(hostile: Hostile) -> None:
    for chart in charts(hostile.text):
        page = chart.html("x.json")
        found = read(page)
        assert found.names <= TAGS
        assert not found.live()
        assert "\n" not in page
        for address in [*found.values("href"), *found.values("xlink:href")]:
            assert not LIVE_ADDRESS.match(address)


@pytest.mark.parametrize("hostile", corpus(), ids=lambda hostile: hostile.name)
def test_plotly_sees_only_the_markup_of_the_chart_itself(hostile: Hostile) -> None:
    for chart in charts(hostile.text):
        for trace in json.loads(chart.json())["data"]:
            for hover in trace.get("hovertext", []):
                assert set(re.findall("<[^>]*>", hover)) <= {"<b>", "</b>", "<br>"}
                assert not set(re.sub("</?b>|<br>", "", hover)) & {"<", ">"}
            for label in trace.get("text", []):
                assert not set(label) & {"<", ">"}
            for address in trace.get("customdata", []):
                assert not LIVE_ADDRESS.match(address)
