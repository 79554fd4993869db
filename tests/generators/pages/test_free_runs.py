"""Free runs: where nothing is billed and only checks grade, pages say so in those words."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators.pages.home import tiles
from generators.sources import load_worlds
from runner.records import CostBasis
from runner.records.check import CheckStatus
from tests.generators.pages.shown import Shown, show
from tests.generators.tables.made import ROOT, Made, write


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two free trials, one of them resolved."""
    root = tmp_path_factory.mktemp("free") / "results"
    write(
        root,
        [
            Made("task-a", None, 0.0, CostBasis.NONE, checks=(CheckStatus.PASSED,)),
            Made("task-b", None, 0.0, CostBasis.NONE, checks=(CheckStatus.FAILED,)),
        ],
    )
    return root


@pytest.fixture(scope="module")
def pages(results: Path) -> dict[str, Shown]:
    """Its pages."""
    return show(load_worlds(results, ROOT / "datasets")[0])


def test_a_table_of_cells_says_none_and_not_unknown(pages: dict[str, Shown]) -> None:
    (row,) = pages["harnesses/loop/fix.md"].table("All cells: loop, fix, hello-world")
    assert row["Cost per task"] == "none no cost by design"
    assert row["Cost basis"] == "none cloud"
    assert row["Resolved"] == "50 % (2 of 2) 95 %: 9 % to 91 %"
    assert "Mean score" not in row


def test_the_tile_of_trials_counts_what_checks_resolved(results: Path) -> None:
    world, _ = load_worlds(results, ROOT / "datasets")
    (trials,) = [tile for tile in tiles(world) if tile.name == "Trials"]
    assert (trials.value, trials.note) == ("2", "1 of 2 with checks are resolved")


def test_a_page_without_a_chart_says_why(pages: dict[str, Shown]) -> None:
    text = pages["harnesses/loop/fix.md"].body.text
    assert "a point needs a known score and a known cost, and no cell here has both" in text


def test_the_trial_says_that_nothing_was_billed(pages: dict[str, Shown]) -> None:
    shown = pages["cells/model-a_endpoint/loop/fix/hello-world/task-a/1.md"]
    (row,) = shown.table("Costs of this trial")
    assert (row["Basis"], row["Cost"]) == ("none used in tables and charts", "none no cost by design")
    assert "Costnoneno cost by design" in shown.body.text
