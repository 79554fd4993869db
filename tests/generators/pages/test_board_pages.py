"""Pages about many cells: home, harness, harness x skill, skill, model, dataset and comparison."""

from __future__ import annotations

import pytest

from runner.records import CostBasis, JudgementStatus
from tests import examples
from tests.generators.pages.shown import Shown, pages_of
from tests.generators.tables.made import Made

PAGE = "harnesses/loop/fix.md"


def trial(model: str, points: int, cost: float | None, task: str = "task-a", **parts: str) -> Made:
    """A trial with ``points`` on each criterion."""
    basis = CostBasis(parts.pop("basis", "metered"))
    rubric = parts.pop("rubric", "implementation-1")
    cell = examples.cell(model, **parts)
    return Made(task, (points, points, points, points), cost, basis, rubric=rubric, cell=cell)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Two bases, an unpriced cell, one under another rubric, a failed trial, and a second harness."""
    return pages_of(
        tmp_path_factory.mktemp("made"),
        [
            trial("cheap", 10, 1.0),
            trial("better", 15, 3.0),
            trial("worse", 9, 2.0),
            trial("paid-in-credits", 20, 5.0, basis="credits"),
            trial("no-bill", 12, None),
            trial("older", 25, 1.0, rubric="older-1"),
            Made(
                "task-b",
                (0, 0, 0, 0),
                cost=1.0,
                status=JudgementStatus.ZERO_BY_MISSING_ARTIFACTS,
                cell=examples.cell("cheap"),
            ),
            trial("cheap", 11, 0.5, harness="pi"),
        ],
    )


def test_each_basis_has_a_frontier_table_with_steps(pages: dict[str, Shown]) -> None:
    rows = pages[PAGE].table("Frontier within metered costs")
    assert [found["Model"] for found in rows] == ["cheap", "better"]
    assert rows[0]["Cost added"] == "start"
    assert (rows[1]["Cost added"], rows[1]["Score added"]) == ("+$2.00", "+20.0")
    assert rows[1]["Dollars for each point more"] == "$0.10"
    assert [found["Model"] for found in pages[PAGE].table("Frontier within credit-based costs")] == [
        "paid-in-credits"
    ]


def test_the_frontier_across_bases_is_marked_as_directional(pages: dict[str, Shown]) -> None:
    rows = pages[PAGE].table("Frontier across cost bases, directional only")
    assert [found["Cost basis"] for found in rows] == ["metered", "metered", "credits"]
    assert "Directional only" in pages[PAGE].body.text


def test_the_full_table_holds_every_cell_with_its_place(pages: dict[str, Shown]) -> None:
    found = pages[PAGE].table("All cells: loop, fix, hello-world")
    rows = {row["Model"].split()[0]: row for row in found}
    assert list(rows) == ["paid-in-credits", "better", "no-bill", "cheap", "worse"]
    assert rows["cheap"]["Mean score"] == (
        "40.0 (1 of 2) no interval: one task only; 20.0 with failures as 0"
    )
    assert rows["cheap"]["Cost per task"] == (
        "$1.00 (1 of 1) no interval: one task only; metered, 2026-01-31"
    )
    assert rows["worse"]["Frontier"] == "not seen on it"
    assert rows["no-bill"]["Frontier"] == "no point"
    assert rows["no-bill"]["Cost per task"] == "not priced the gateway did not say"
    assert rows["paid-in-credits"]["Cost basis"] == "credits cloud"


def test_a_cell_under_another_rubric_is_set_apart_with_its_figures(pages: dict[str, Shown]) -> None:
    (found,) = pages[PAGE].table("Cells of hello-world that are not compared with the others")
    assert found["Mean score"] == "100.0 (1 of 1) no interval: one task only"
    assert "judged under another rubric: older-1" in found["Model"]


def test_failed_trials_are_named(pages: dict[str, Shown]) -> None:
    (found,) = pages[PAGE].table("Trials that are not in the mean scores")
    assert (found["Model"], found["Task"], found["State"]) == ("cheap", "task-b", "failed")


def test_the_chart_holds_every_priced_cell_and_lies_beside_the_page(pages: dict[str, Shown]) -> None:
    shown = pages[PAGE]
    paths = [asset.path for asset in shown.page.assets]
    assert paths[0] == "data/charts/pareto-loop-fix-hello-world.json"
    content = shown.page.assets[0].content.decode()
    for name in ("cheap", "better", "worse", "paid-in-credits"):
        assert name in content
    assert "no-bill" not in content
    assert "no-bill (cost: the gateway did not say)" in shown.body.text


def test_how_membership_was_computed_is_said(pages: dict[str, Shown]) -> None:
    assert "Membership: all 3 distinct ways to draw 2 tasks again." in pages[PAGE].body.text


def test_the_home_page_shows_all_harnesses_and_the_newest_run(pages: dict[str, Shown]) -> None:
    home = pages["index.md"]
    assert "Newest run2026-01-31" in home.body.text
    frontier = home.table("Frontier within metered costs")
    assert [(found["Model"], found["Harness"]) for found in frontier] == [("cheap", "pi"), ("better", "loop")]
    assert "no claim that one cell is better than another can be proven" in home.body.text
    assert home.links()["loop with fix"] == "harnesses/loop/fix/"


def test_turns_are_never_shown_across_harnesses(pages: dict[str, Shown]) -> None:
    for path, shown in pages.items():
        for label, rows in shown.tables():
            heads = set(rows[0]) if rows else set()
            if "Harness" in heads:
                assert "Turns per task" not in heads, (path, label)
    assert "Turns per task" in pages[PAGE].table("All cells: loop, fix, hello-world")[0]


def test_the_harness_page_lists_its_cells_by_skill_and_dataset(pages: dict[str, Shown]) -> None:
    shown = pages["harnesses/loop.md"]
    assert shown.headings[:3] == ["loop", "With fix", "hello-world"]
    assert shown.facts()["How it counts turns"] == "model answers"
    assert len(shown.table("fix on hello-world")) == 6


def test_indexes_count_what_is_there(pages: dict[str, Shown]) -> None:
    harnesses = {
        found["Harness"].split()[0]: found for found in pages["harnesses/index.md"].table("Harnesses")
    }
    assert (harnesses["loop"]["Cells"], harnesses["pi"]["Cells"]) == ("6", "1")
    models = {found["Model"]: found for found in pages["models/index.md"].table("Models")}
    assert (models["cheap"]["Cells"], models["cheap"]["Harnesses"]) == ("2", "loop, pi")
    skills = pages["skills/index.md"].table("Skills")
    assert [found["Cells"] for found in skills] == ["7"]
    datasets = {found["Dataset"].split()[0]: found for found in pages["datasets/index.md"].table("Datasets")}
    assert datasets["hello-world"]["Cells"] == "7"


def test_the_model_page_puts_harnesses_side_by_side(pages: dict[str, Shown]) -> None:
    shown = pages["models/cheap.md"]
    (raw,) = shown.table("Raw model ids")
    assert (raw["Raw model id"], raw["Harnesses"]) == ("vendor/cheap", "loop, pi")
    rows = shown.table("cheap: fix on hello-world")
    assert [found["Harness"] for found in rows] == ["pi", "loop"]


def test_the_dataset_page_says_from_which_version_trials_were_made(pages: dict[str, Shown]) -> None:
    facts = pages["datasets/hello-world.md"].facts()
    assert facts["Trials made from this version"] == "0"
    assert facts["Trials that do not record the version"] == "8"
    rows = {
        found["Task"].split()[0]: found
        for found in pages["datasets/hello-world.md"].table("Tasks of hello-world")
    }
    assert rows["task-b"]["Mean score"].startswith("not known")
    assert "(7 of 7) 95 %: " in rows["task-a"]["Mean score"]


def test_the_comparison_pairs_the_same_model(pages: dict[str, Shown]) -> None:
    shown = pages["compare/harnesses.md"]
    assert shown.headings[1] == "loop and pi: fix on hello-world"
    (found,) = shown.table("Score: loop and pi")
    assert found == {
        "Model": "cheap endpoint",
        "loop": "40.0",
        "pi": "44.0",
        "Difference": "−4.0",
        "Common tasks": "1 of 2",
        "Ahead in these data": "pi",
        "Our verdict": "not enough data 1 common task, at least 6 needed",
    }
    tally = {
        row["Measure"]: row for row in shown.table("Tally of loop and pi by the published rule, and ours")
    }
    assert tally["Score"] == {
        "Measure": "Score",
        "loop ahead": "0",
        "pi ahead": "1",
        "Tie": "0",
        "Not comparable": "0",
        "Our verdicts on the same data": "1 not enough data",
    }
    assert tally["Minutes per task"]["Tie"] == "1"
    assert "p = 0.0625" in shown.body.text


def test_no_harness_appears_twice_as_its_own_rival(pages: dict[str, Shown]) -> None:
    assert not any("loop and loop" in heading for heading in pages["compare/harnesses.md"].headings)
