"""The cost-quality chart: static drawing, figure and table tell the same, and nothing is made up."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest

from generators.charts import Chart, ParetoPoint, pareto_chart
from generators.charts.frame import NARROW, WIDE, Frame
from generators.charts.point import plan
from runner.errors import PublishError
from tests.generators.charts.examples import fleet, point
from tests.generators.markup import read

SVG = re.compile(r"<svg class=\"hm-svg hm-svg--(wide|narrow)\".*?</svg>")


def chart(points: list[ParetoPoint], **words: str) -> Chart:
    texts = {"slug": "pareto-pi-swe3-demo", "title": "Cost and quality", "scope": "pi · swe3 · demo", **words}
    return pareto_chart(points, **texts)


def figure(of: Chart) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(of.json())
    return loaded


def traces(of: Chart, mode: str) -> list[dict[str, Any]]:
    return [trace for trace in figure(of)["data"] if trace["mode"] == mode]


def drawings(of: Chart) -> dict[str, str]:
    return {match.group(1): match.group(0) for match in SVG.finditer(of.static)}


def drawn_places(of: Chart) -> list[tuple[float, float]]:
    """Centres of the linked marks of the wide drawing, read back from its path data."""
    found = []
    for data in re.findall(r"<a [^>]*><path class=\"[^\"]*\" d=\"([^\"]*)\"", drawings(of)["wide"]):
        corners = [tuple(map(float, pair.split())) for pair in re.findall(r"[ML](-?[\d.]+ -?[\d.]+)", data)]
        if "a5 5" in data:
            found.append((corners[0][0] + 5, corners[0][1]))
        else:
            xs, ys = zip(*corners, strict=True)
            found.append(((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2))
    return found


def test_both_renderers_and_the_table_show_the_same_numbers() -> None:
    of = chart(fleet())
    known = sorted((p.cost_usd, p.score) for p in fleet() if p.cost_usd is not None)
    plotted = sorted(
        pair for trace in traces(of, "markers+text") for pair in zip(trace["x"], trace["y"], strict=True)
    )
    assert plotted == known

    drawing = plan(fleet(), slug="x")
    cost, score = drawing.cost_axis("log"), drawing.score_axis()
    box = WIDE.plot
    read_back = sorted(
        (
            cost.value_at((x - box.left) / (box.right - box.left)),
            score.value_at((box.bottom - y) / (box.bottom - box.top)),
        )
        for x, y in drawn_places(of)
    )
    for (x, y), (cost_usd, value) in zip(read_back, known, strict=True):
        assert x == pytest.approx(cost_usd, rel=0.01)
        assert y == pytest.approx(value, abs=0.1)

    cells = re.findall(r'<td data-value="([^"]*)">', of.table)
    numbers = {float(value) for value in cells if value}
    assert {value for pair in known for value in pair if value is not None} <= numbers


def test_hover_box_and_screen_reader_name_score_cost_basis_and_membership() -> None:
    of = chart(fleet())
    spoken = [label for label in read(of.static).values("aria-label") if label.startswith("claude-opus-5")]
    assert spoken == [
        "claude-opus-5, score 75.7 (5 of 5 tasks), $8.28 per task (metered bill, cloud), "
        "probability of being on the frontier 0.97"
    ]
    hovers = [text for trace in traces(of, "markers+text") for text in trace["hovertext"]]
    (hover,) = [text for text in hovers if "claude-opus-5" in text]
    for fact in ("score 75.7 (5 of 5 tasks)", "$8.28 per task (metered bill, cloud)", "frontier 0.97"):
        assert fact in hover


def test_every_point_is_a_link_that_instant_navigation_leaves_alone() -> None:
    wide = drawings(chart(fleet()))["wide"]
    links = [attributes for tag, attributes in read(wide).tags if tag == "a"]
    assert len(links) == 6
    assert all(set(link) == {"xlink:href", "role", "aria-label"} for link in links)
    assert {link["role"] for link in links} == {"link"}
    assert links[0]["xlink:href"] == "cells/claude-opus-5/"


def test_a_cell_without_a_cost_is_listed_and_not_drawn_at_zero() -> None:
    of = chart(fleet())
    assert "kiro-auto" not in of.static
    assert all("kiro" not in str(trace) for trace in figure(of)["data"])
    (note,) = [note for note in of.notes if "Not on the chart" in note]
    assert '<a href="cells/kiro-auto/">kiro-auto</a> (cost unknown)' in note
    assert '<td data-value="">unknown</td>' in of.table


def test_an_incomplete_cell_carries_a_star_everywhere() -> None:
    of = chart(fleet())
    assert "claude-haiku-4-5*</text>" in of.static
    assert "claude-haiku-4-5*</a>" in of.table
    assert any("* Not every planned task was scored." in note for note in of.notes)
    complete = chart([replace(each, n_scored=5) for each in fleet()])
    assert "*" not in complete.table


def test_frontiers_stay_inside_a_basis_and_the_combined_one_is_marked_directional() -> None:
    of = chart(fleet())
    lines = {trace["name"]: trace for trace in traces(of, "lines")}
    assert lines["frontier, metered bill"]["x"] == [0.64, 3.81, 8.28]
    assert lines["frontier, hardware-derived"]["x"] == [1.71, 5.98]
    combined = lines["across cost bases, directional"]
    assert combined["x"] == [3.81, 5.98, 8.28]
    assert combined["line"]["dash"] != "solid"
    assert "across cost bases: directional only" in of.legend
    assert 'class="hm-combined"' in of.static


def test_one_basis_has_no_combined_line() -> None:
    of = chart([each for each in fleet() if each.basis == "metered"])
    assert [trace["name"] for trace in traces(of, "lines")] == ["frontier, metered bill"]
    assert "directional" not in of.legend


def test_shapes_tell_harnesses_apart_when_there_are_several_and_bases_otherwise() -> None:
    several = chart([point("a", 1, 50, harness="pi"), point("b", 2, 60, harness="codex")])
    symbols = {s for trace in traces(several, "markers+text") for s in trace["marker"]["symbol"]}
    assert symbols == {"circle-open", "square-open"}
    assert ">codex</li>" in several.legend
    one = chart([point("a", 1, 50), point("b", 2, 60, basis="credits")])
    assert [trace["marker"]["symbol"] for trace in traces(one, "markers+text")] == [
        ["circle-open"],
        ["square-open"],
    ]
    assert ">pi</li>" not in one.legend


def test_the_scale_is_logarithmic_by_spread_and_can_be_linear_only_with_a_zero() -> None:
    assert chart(fleet()).scale == "log"
    near = chart([point("a", 1.0), point("b", 2.0)])
    assert near.scale == "linear"
    assert figure(near)["layout"]["meta"]["ranges"].keys() == {"linear", "log"}
    zero = chart([point("a", 0.0), point("b", 20.0)])
    assert figure(zero)["layout"]["meta"]["ranges"].keys() == {"linear"}
    assert "Log cost axis" not in zero.html("x.json")


def test_an_axis_that_does_not_start_at_zero_says_so() -> None:
    assert any("not at 0" in note for note in chart(fleet()).notes)
    assert not any("not at 0" in note for note in chart([point("a", 1, 0), point("b", 2, 90)]).notes)


def test_scope_and_subset_stand_in_caption_data_and_slug() -> None:
    of = chart(fleet(), subset="without kiro")
    html = of.html("pareto.json")
    assert "pi · swe3 · demo" in html
    assert "Subset: without kiro" in html
    meta = figure(of)["layout"]["meta"]
    assert (meta["scope"], meta["subset"], meta["slug"]) == ("pi · swe3 · demo", "without kiro", of.slug)
    assert f'id="chart-{of.slug}"' in html


def test_plotly_accepts_the_figure_and_it_is_plain_json() -> None:
    of = chart(fleet())
    go.Figure(figure(of))
    assert "bdata" not in of.json()
    assert "template" not in of.json()


def test_bytes_are_the_same_each_time_and_in_any_order_of_points() -> None:
    first, second = chart(fleet()), chart(fleet()[::-1])
    assert first.json() == second.json()
    assert first.html("a.json") == second.html("a.json")


@pytest.mark.parametrize("count", [6, 24, 25, 70])
def test_sizes_stay_within_their_budget(count: int) -> None:
    points = [
        point(
            f"model-number-{index}-instruct",
            0.1 * 1.08**index,
            30 + (index * 37 % 60),
            harness=("pi", "claude-code", "kiro-cli")[index % 3],
            basis=("metered", "hardware-derived")[index % 2],
            membership=0.123,
            on_basis=index % 9 == 0,
            href=f"../../cells/model-number-{index}-instruct_bedrock/pi/swe3/mcp-gateway-registry/",
        )
        for index in range(count)
    ]
    of = chart(points)
    assert len(of.json().encode()) <= 20 * 1024 or count > 60
    # 24 links with long addresses are the most a drawing carries.
    assert max(len(svg.encode()) for svg in drawings(of).values()) <= 12 * 1024
    assert ("xlink:href" in of.static) == (count <= 24)


def test_labels_of_both_drawings_fit_their_frame() -> None:
    for name, svg in drawings(chart(fleet())).items():
        frame: Frame = WIDE if name == "wide" else NARROW
        for css, x, text in re.findall(
            r'<text class="hm-label([^"]*)" x="([\d.]+)" y="[\d.]+">([^<]*)<', svg
        ):
            width = len(text) * 12 * 0.55
            left = float(x) - {"": 0.0, " hm-x": width / 2, " hm-y": width}[css]
            assert left >= 0
            assert left + width <= frame.width


def test_narrow_pages_show_numbers_and_their_key() -> None:
    of = chart(fleet())
    narrow = drawings(of)["narrow"]
    assert "claude" not in re.sub(r'aria-label="[^"]*"', "", narrow)
    assert re.findall(r'class="hm-label[^"]*"[^>]*>(\d+)<', narrow)
    assert (
        '<ol class="hm-numbers"><li value="1"><a href="cells/claude-opus-5/">claude-opus-5</a></li>'
        in of.legend
    )


def test_a_chart_without_drawable_cells_is_a_sentence_and_a_table() -> None:
    for points in ([], [point("a", None)], [point("a", 1.0, None)]):
        of = chart(points)
        html = of.html("x.json")
        assert "No cell of this chart has both a score and a cost." in html
        assert "data-chart" not in html
        assert figure(of)["data"] == []


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0])
def test_an_amount_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(PublishError, match="no amount"):
        chart([point("a", bad)])
    with pytest.raises(PublishError, match="no amount"):
        chart([point("a", 1.0, bad)])


@pytest.mark.parametrize("words", [{"slug": "Bad Slug"}, {"slug": "../x"}, {"scope": " "}])
def test_a_chart_without_scope_or_with_a_bad_slug_is_refused(words: dict[str, str]) -> None:
    with pytest.raises(PublishError):
        chart(fleet(), **words)


def test_a_point_says_the_days_of_its_prices_and_one_without_a_cost_says_none() -> None:
    known = replace(point(), price_days="2026-08-15")
    assert "$1.00 per task (metered bill, cloud, 2026-08-15)" in known.facts()
    assert not any("2026-08-15" in fact for fact in replace(known, cost_usd=None).facts())
