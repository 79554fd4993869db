"""Serving pages: every swept deployment with its figures, its basis, and what is not priced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generators.pages import serving
from generators.pages.rendering import Renderer
from generators.sources import load_worlds
from generators.tables.serving import distinct, economics
from runner.costs import HardwareRates
from tests.generators.committed import committed_world
from tests.generators.pages.shown import Shown
from tests.generators.tables.made import ROOT

DEPLOYMENTS = sorted(path.name for path in (ROOT / "results" / "throughput").iterdir())


@pytest.fixture(scope="module")
def pages() -> dict[str, Shown]:
    return {page.path: Shown(page, Renderer().render(page)) for page in serving.pages(committed_world())}


def test_every_swept_deployment_has_a_page_and_a_row(pages: dict[str, Shown]) -> None:
    assert sorted(path for path in pages if path != "serving/index.md") == sorted(
        f"serving/{name}.md" for name in DEPLOYMENTS
    )
    rows = pages["serving/index.md"].table("Deployments, hardware-derived dollars")
    assert [row["Deployment"] for row in rows] == DEPLOYMENTS


def test_the_row_of_a_deployment_has_its_rates_and_its_share_of_the_machine(pages: dict[str, Shown]) -> None:
    rows = pages["serving/index.md"].table("Deployments, hardware-derived dollars")
    row = next(row for row in rows if row["Deployment"] == "glm-5.2")
    assert row["USD an hour"] == "$27.72 hardware-derived, 2026-09-01"
    assert (row["Cheapest level"], row["Fastest level"]) == ("5", "10")
    assert (row["Task, blended"], row["Task, split"]) == ("$3.91", "$3.84")
    part = next(row for row in rows if row["Deployment"] == "qwen3.8-27b")
    assert (part["Machine"], part["USD an hour"]) == (
        "p5en.48xlarge 0.125 of it",
        "$3.465 hardware-derived, 2026-09-01",
    )


def test_a_machine_without_a_price_is_not_priced_anywhere_and_says_why(pages: dict[str, Shown]) -> None:
    index = pages["serving/index.md"]
    row = next(
        row for row in index.table("Deployments, hardware-derived dollars") if row["Deployment"] == "kimi-k3"
    )
    assert row["USD an hour"].startswith("not priced p6-b300.48xlarge is not in the price list")
    assert row["Task, blended"] == row["Task, split"] == "not priced"
    page = pages["serving/kimi-k3.md"]
    assert "No task is priced: p6-b300.48xlarge is not in the price list" in page.source
    assert "$" not in page.body.text
    assert "Not priced" in index.headings


def test_all_levels_are_shown_with_both_rates_and_bounds_as_bounds(pages: dict[str, Shown]) -> None:
    rows = pages["serving/qwen3.8-27b.md"].table("Levels of qwen3.8-27b, hardware-derived dollars")
    assert [row["Sessions at once"].split()[0] for row in rows] == [
        "1",
        "2",
        "5",
        "7",
        "10",
        "15",
        "20",
        "30",
    ]
    assert rows[0]["First token, ms"] == "2,040.0 p50 ≤ 2,500, p90 ≤ 2,500, p99 ≤ 5,000"
    assert rows[-1]["Sessions at once"] == "30 cheapest, fastest"


def test_every_page_says_basis_and_day_of_its_prices(pages: dict[str, Shown]) -> None:
    for shown in pages.values():
        if "$" in shown.body.text:
            assert "hardware-derived: machine prices of 2026-09-01" in shown.source, shown.page.path


def test_charts_show_what_is_known_and_leave_out_the_rest(pages: dict[str, Shown]) -> None:
    full, lean = pages["serving/qwen3.8-27b.md"], pages["serving/glm52-200k-throughput.md"]
    assert full.source.count("<figure") == 6
    assert 0 < lean.source.count("<figure") < 6
    assert "Cost of a million tokens" not in lean.source


def test_the_calculator_gets_raw_throughputs_and_prices_only(pages: dict[str, Shown]) -> None:
    asset = pages["serving/index.md"].page.assets[0]
    content = json.loads(asset.content)
    named = {each["name"]: each for each in content["deployments"]}
    assert asset.path == "data/serving.json"
    assert named["glm-5.2"]["usd_per_hour"] == {"commit_1yr": 40.43, "commit_3yr": 27.72, "on_demand": 63.296}
    assert named["glm-5.2"]["levels"][2]["prompt"] == 15678.55
    assert named["kimi-k3"]["usd_per_hour"] == {}


def test_a_store_without_sweeps_has_no_serving_pages(tmp_path: Path) -> None:
    world, _ = load_worlds(tmp_path / "results", ROOT / "datasets")
    assert list(serving.pages(world)) == []


def test_one_sweep_under_two_names_is_told_and_counted_once(pages: dict[str, Shown]) -> None:
    index, swept = pages["serving/index.md"], economics(committed_world().rates)
    groups = {tuple(sorted((each.name, *each.same_as))) for each in swept if each.same_as}
    assert ("qwen3-coder-30b", "qwen3-coder-30b-g6e") in groups
    assert len(groups) == 5
    assert f"{len(swept)} names stand for {len(swept) - 5} sweeps" in index.body.text
    for first, second in groups:
        assert f"{first}, {second}" in index.body.text
        assert f"the very figures of {second}: one sweep" in pages[f"serving/{first}.md"].body.text
    alone = next(each.name for each in swept if not each.same_as)
    assert "the very figures" not in pages[f"serving/{alone}.md"].body.text


def test_a_sweep_without_any_figure_is_the_same_as_none() -> None:
    sweep = committed_world().sweeps[0]
    bare = [
        sweep.model_copy(
            update={"deployment": sweep.deployment.model_copy(update={"name": name}), "levels": ()}
        )
        for name in ("one", "other")
    ]
    found = economics(HardwareRates(bare, committed_world().rates.prices))
    assert [each.same_as for each in found] == [(), ()]
    assert distinct(found) == 2
