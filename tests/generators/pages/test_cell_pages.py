"""Cell and task pages: every trial by name, every unknown with its reason, sources and neighbours."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators.tables.figures import FIGURES
from runner.records import CostBasis, DataWarning, JudgementStatus, Outcome, Source, Standing
from runner.records.check import CheckStatus
from tests import examples
from tests.generators.pages.shown import Shown, pages_of
from tests.generators.tables.made import Made

CELL = "cells/model-a_endpoint/loop/fix/hello-world/index.md"
FAILED = JudgementStatus.ZERO_BY_MISSING_ARTIFACTS


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """A cell with a scored, an unpriced, a failed, a superseded and an unjudged trial."""
    source = Source(repository="someone/results", commit="ab" * 20, path="runs/one.json", license="MIT-0")
    warning = DataWarning(code="low-output-per-turn", text="3 output tokens a turn")
    pages = pages_of(
        tmp_path_factory.mktemp("made"),
        [
            Made("task-a", (19, 14, 22, 20), cost=1.5, warnings=(warning,), changes={"source": source}),
            Made("task-b", (14, 14, 14, 13), cost=None),
            Made("task-c", (0, 0, 0, 0), cost=0.5, status=FAILED),
            Made("task-d", None, cost=2.0, outcome=Outcome.TIMEOUT),
            Made("task-a", (1, 1, 1, 1), cost=9.0, trial=2, standing=Standing.SUPERSEDED),
        ],
    )
    return pages[CELL]


def row(shown: Shown, label: str, head: str, name: str) -> dict[str, str]:
    """The row whose first entry begins with ``name``."""
    return next(found for found in shown.table(label) if found[head].startswith(name))


def test_every_counted_trial_is_a_row(cell: Shown) -> None:
    rows = cell.table("Tasks of this cell")
    assert [found["Task"] for found in rows] == ["task-a", "task-b", "task-c", "task-d"]
    assert [found["State"] for found in rows] == ["scored", "scored", "failed", "not scored"]


def test_an_unknown_cost_is_written_with_its_reason(cell: Shown) -> None:
    assert row(cell, "Tasks of this cell", "Task", "task-b")["Cost"] == "not priced the gateway did not say"
    assert row(cell, "Tasks of this cell", "Task", "task-a")["Cost"] == "$1.50 metered, 2026-01-31"


def test_what_is_not_in_the_mean_is_named_with_why(cell: Shown) -> None:
    rows = cell.table("Trials that are not in the mean score")
    assert [(found["Task"], found["Trial"], found["State"]) for found in rows] == [
        ("task-a", "trial 2", "left out"),
        ("task-c", "trial 1", "failed"),
        ("task-d", "trial 1", "not scored"),
    ]
    assert "superseded: replaced" in rows[0]["Why"]
    assert "nothing to judge" in rows[1]["Why"]


def test_every_figure_stands_with_value_count_and_formula(cell: Shown) -> None:
    rows = cell.table("All figures of this cell")
    assert [found["Figure"] for found in rows] == [figure.title for figure in FIGURES]
    mean = row(cell, "All figures of this cell", "Figure", "Mean score")
    assert mean["Value"] == "65.0 95 %: 0.0 to 100.0; between 32.5 and 57.5 if all were scored, failures as 0"
    assert (mean["n of m"], mean["Formula"]) == ("2 of 4", "sum(score) / n scored")
    assert row(cell, "All figures of this cell", "Figure", "Score, worst case")["Value"] == "32.5"
    assert row(cell, "All figures of this cell", "Figure", "Score, best case")["Value"] == "57.5"


def test_warnings_stand_in_words_and_lead_to_their_code(cell: Shown) -> None:
    (found,) = cell.table("Data-quality warnings")
    assert found == {
        "Warning": "low-output-per-turn",
        "Where": "task-a",
        "What was found": "3 output tokens a turn",
    }
    assert cell.links()["low-output-per-turn"].endswith("data/quality/#low-output-per-turn")


def test_the_source_of_imported_figures_is_linked_to_the_commit(cell: Shown) -> None:
    (found,) = cell.table("Sources of the imported figures")
    assert (found["Repository"], found["Licence"], found["Trials"]) == ("someone/results", "MIT-0", "1")
    commit = "ab" * 20
    assert cell.links()["runs/one.json"] == f"https://github.com/someone/results/blob/{commit}/runs/one.json"


def test_identity_names_raw_id_and_what_is_not_reported(cell: Shown) -> None:
    facts = cell.facts()
    assert facts["Raw model id"] == "vendor/model-a"
    assert facts["Effort"] == "not stated"
    assert facts["Newest run"] == "2026-01-31"
    assert facts["Machine that served the model"] == "not reported"
    assert facts["Judge"] == "judge-model"
    assert facts["Read the repository"] == "yes"


def test_a_failed_trial_is_not_open_in_the_bounds_of_the_profile(cell: Shown) -> None:
    rows = cell.table("Mean scores by artifact and criterion, criteria of 25 points")
    assert rows[0]["Artifact"] == "Implementation"
    assert rows[0]["Completeness"].startswith("16.5 2 of 4; 95 %: 0.0 to 25.0; between 8.2 and 14.5 if")
    assert rows[0]["Total"].startswith("65.0 (2 of 4) 95 %: 0.0 to 100.0; between 32.5 and 57.5 if")


def test_the_downloads_lie_where_the_page_says(cell: Shown) -> None:
    links = cell.links()
    assert links["run-summary.json"].endswith(
        "data/cells/model-a_endpoint/loop/fix/hello-world/run-summary.json"
    )
    assert links["run-summary.txt"].endswith("/run-summary.txt")


def test_a_cell_page_stays_out_of_the_search_and_shows_its_way(cell: Shown) -> None:
    assert cell.page.in_search is False
    assert [crumb.text for crumb in cell.page.crumbs] == ["Home", "Harnesses", "loop", "with fix"]


def test_neighbours_are_those_of_the_table(tmp_path: Path) -> None:
    trials = [
        Made("task-a", (points, points, points, points), cell=examples.cell(name))
        for name, points in (("low", 5), ("middle", 10), ("high", 15))
    ]
    pages = pages_of(tmp_path, trials)
    links = pages["cells/middle_endpoint/loop/fix/hello-world/index.md"].links()
    assert links["Next above high"].endswith("high_endpoint/loop/fix/hello-world/")
    assert links["Next below low"].endswith("low_endpoint/loop/fix/hello-world/")


def test_a_cell_off_the_line_is_only_not_seen_on_the_frontier(tmp_path: Path) -> None:
    trials = [
        Made("task-a", (20, 20, 20, 20), cost=1.0, cell=examples.cell("best")),
        Made("task-a", (10, 10, 10, 10), cost=2.0, cell=examples.cell("worse")),
    ]
    pages = pages_of(tmp_path, trials)
    worse = pages["cells/worse_endpoint/loop/fix/hello-world/index.md"]
    assert "It was not seen on the frontier among the 2 cells with metered costs" in worse.body.text
    best = pages["cells/best_endpoint/loop/fix/hello-world/index.md"]
    assert "It is on the frontier among the 2 cells" in best.body.text
    assert "of the draws, a share that is untested below 20 tasks." in best.body.text


def test_a_cell_that_only_checks_grade_shows_what_was_resolved(tmp_path: Path) -> None:
    passed, failed = CheckStatus.PASSED, CheckStatus.FAILED
    free: dict[str, object] = {}
    pages = pages_of(
        tmp_path,
        [
            Made("task-a", None, 0.0, CostBasis.NONE, checks=(passed, passed), changes=free),
            Made("task-b", None, 0.0, CostBasis.NONE, checks=(passed, failed), changes=free),
        ],
    )
    shown = pages[CELL]
    rows = shown.table("Tasks of this cell")
    assert [(found["State"], found["Checks passed"]) for found in rows] == [
        ("resolved", "2 of 2"),
        ("not resolved", "1 of 2"),
    ]
    assert "Score" not in rows[0]
    assert rows[0]["Cost"] == "none no cost by design"
    assert "Resolved50 %2 of 2" in shown.body.text
    assert "Trials that are not in the mean score" not in shown.labels()


def test_a_task_page_lists_every_cell_and_leads_to_its_neighbours(tmp_path: Path) -> None:
    trials = [
        Made("quarter-hour-default", (20, 20, 20, 20), cell=examples.cell("one")),
        Made("quarter-hour-default", (10, 10, 10, 10), cell=examples.cell("two", harness="pi")),
        Made("not-in-the-dataset", (10, 10, 10, 10), cell=examples.cell("one")),
    ]
    pages = pages_of(tmp_path, trials)
    shown = pages["tasks/hello-world/quarter-hour-default.md"]
    rows = shown.table("quarter-hour-default with fix")
    assert [(found["Model"], found["Harness"], found["Score"]) for found in rows] == [
        ("one endpoint", "loop", "80.0"),
        ("two endpoint", "pi", "40.0"),
    ]
    assert shown.facts()["Hidden checks"] != "none"
    assert any(text.startswith("Next task") for text in shown.links())
    unknown = pages["tasks/hello-world/not-in-the-dataset.md"]
    assert unknown.facts()["Description"].startswith("not known")


def test_a_cell_says_how_much_one_task_weighs_and_what_repeats_tell(tmp_path: Path) -> None:
    passed, failed = (CheckStatus.PASSED,), (CheckStatus.FAILED,)
    trials = [
        Made(f"task-{place}", points, cost=cost, trial=number, checks=passed if number == 1 else failed)
        for number in (1, 2)
        for place, (points, cost) in enumerate([((20, 20, 20, 20), 9.0), ((10, 10, 10, 10), 1.0)])
    ]
    facts = pages_of(tmp_path, trials)[CELL].facts()
    assert facts["Cost of the middle task"].startswith("$5.00 median; no interval: 2 of the 6 tasks")
    assert facts["Cost in the dearest tenth of tasks"].startswith("18 % of all, over 2 tasks")
    assert facts["Chance between trials of one task"].startswith("0 %")
    assert facts["Resolved by at least one of 2 trials"].startswith("100 % (2 of 2) pass@2")
    assert facts["Resolved by all of 2 trials"].startswith("0 % (2 of 2) pass^2")


def test_a_cell_of_single_trials_says_that_chance_between_them_is_unknown(cell: Shown) -> None:
    facts = cell.facts()
    assert facts["Chance between trials of one task"] == "not known no two tasks were tried twice"
    assert not any(name.startswith("Resolved by") for name in facts)
