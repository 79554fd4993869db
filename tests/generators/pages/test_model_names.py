"""Model names: raw ids and names that differ are told apart, and joined only where the table says so."""

from __future__ import annotations

from pathlib import Path

from runner.records import ModelName
from tests import examples
from tests.generators.pages.shown import committed, pages_of
from tests.generators.tables.made import Made


def test_raw_ids_under_one_name_are_told_apart_on_model_and_cell_pages(tmp_path: Path) -> None:
    wide = examples.cell("model-a", harness="pi").model_copy(
        update={"model": ModelName(raw_id="vendor/model-a[1m]", slug="model-a")}
    )
    pages = pages_of(tmp_path, [Made("task-a"), Made("task-b"), Made("task-a", cell=wide)])
    shown = pages["models/model-a.md"]
    rows = {row["Raw model id"]: row for row in shown.table("Raw model ids")}
    assert (rows["vendor/model-a"]["Harnesses"], rows["vendor/model-a"]["Trials"]) == ("loop", "2")
    assert rows["vendor/model-a[1m]"]["Harnesses"] == "pi"
    assert "2 raw ids stand under this one name" in shown.body.text
    cell = pages["cells/model-a_endpoint/pi/fix/hello-world/index.md"]
    assert cell.facts()["Raw model id"] == ("vendor/model-a[1m] other cells of this name sent vendor/model-a")


def test_two_raw_ids_within_one_cell_are_a_warning_of_that_cell(tmp_path: Path) -> None:
    other = examples.cell().model_copy(update={"model": ModelName(raw_id="vendor/other", slug="model-a")})
    pages = pages_of(tmp_path, [Made("task-a"), Made("task-b", cell=other)])
    cell = pages["cells/model-a_endpoint/loop/fix/hello-world/index.md"]
    assert cell.facts()["Raw model ids"] == "vendor/model-a, vendor/other"
    (row,) = cell.table("Data-quality warnings")
    assert (row["Warning"], row["Where"]) == ("several-raw-model-ids", "whole cell")


def test_two_names_of_one_model_name_each_other_and_share_a_row() -> None:
    pages = committed()
    shown = pages["models/deepseek-3-2.md"]
    assert shown.links()["deepseek-v3.2"] == "../deepseek-v3.2/"
    assert "version and settings may differ" in shown.body.text
    assert pages["models/deepseek-v3.2.md"].links()["deepseek-3-2"] == "../deepseek-3-2/"
    rows = pages["compare/harnesses.md"].table("Score: kiro-cli and pi")
    names = [row["Model"] for row in rows]
    name = next(name for name in names if name.startswith("deepseek"))
    assert name.startswith("deepseek-v3.2 kiro and ")
    assert name.endswith("; filed as deepseek-3-2 under kiro-cli")
    assert "Models under kiro-cli are managed by its vendor" in pages["compare/harnesses.md"].body.text
