"""Cells: what is grouped, what is kept apart, and agreement with every published summary."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from generators.tables.cells import Cell
from generators.tables.profiles import artifact_means, criterion_means, tier_means
from generators.tables.quality import explain, occurrences
from generators.tables.scoring import ScoreState
from runner.records import DataWarning, ModelName
from tests import examples
from tests.generators.tables.made import Made, cells, committed, one_cell
from tests.importers import figures

FILES = figures.run_files()


@cache
def published_cells() -> dict[tuple[str, ...], Cell]:
    """Committed cells by key."""
    return {cell.key: cell for cell in committed()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_published_summary_is_what_our_figures_say(path: Path) -> None:
    summary = figures.read(path)["published_summary"]
    cell = published_cells()[figures.cell_of_file(path).trials[0].record.identity.cell.key]
    mean = cell.figures["mean_score"]
    assert (mean.n, mean.m) == (summary["num_scored"], summary["num_tasks"])
    assert figures.prints_as(mean.amount, summary["mean_task_score_excl_failed"])
    assert sorted(trial.task for trial in cell.counted if trial.score is None) == sorted(
        summary["failed_tasks"]
    )


def test_demonstration_trials_make_a_cell_of_their_own(tmp_path: Path) -> None:
    found = cells(tmp_path, [Made("task-a"), Made("task-b", changes={"demonstration": True})])
    counted = [(cell.demonstration, len(cell.counted)) for cell in found]
    assert counted == [(False, 1), (True, 1)]


def test_another_rubric_is_left_out_and_named(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made("task-a"), Made("task-b"), Made("task-c", (1, 1, 1, 1), rubric="older-1"))
    assert cell.figures["mean_score"].n == 2
    assert cell.figures["mean_score"].amount == 75.0
    assert [note.code for note, task in cell.warnings() if task is None] == ["other-rubric-left-out"]


def test_another_version_of_the_dataset_is_left_out_and_named(tmp_path: Path) -> None:
    cell = one_cell(
        tmp_path,
        Made("task-a", digest="a" * 64),
        Made("task-b", digest="a" * 64),
        Made("task-c", (1, 1, 1, 1), digest="b" * 64),
    )
    assert cell.dataset_digest == "a" * 64
    assert [trial.task for trial in cell.excluded] == ["task-c"]
    assert "another version" in cell.excluded[0].state_reason
    assert "other-dataset-version-left-out" in {note.code for note in cell.notes}


def test_two_raw_ids_under_one_name_are_told(tmp_path: Path) -> None:
    other = examples.cell().model_copy(
        update={"model": ModelName(raw_id="vendor/model-a[1m]", slug="model-a")}
    )
    cell = one_cell(tmp_path, Made("task-a"), Made("task-b", cell=other))
    assert cell.raw_ids == ("vendor/model-a", "vendor/model-a[1m]")
    assert "several-raw-model-ids" in {note.code for note in cell.notes}


def test_warnings_keep_their_task(tmp_path: Path) -> None:
    warning = DataWarning(code="moving-ref", text="the task names main")
    cell = one_cell(tmp_path, Made("task-a", warnings=(warning,)))
    assert cell.warnings() == [(warning, "task-a")]
    found = occurrences([cell])
    assert [(entry.task, entry.text) for entry in found["moving-ref"]] == [("task-a", "the task names main")]


def test_every_code_in_the_committed_results_is_explained() -> None:
    for code in occurrences(published_cells().values()):
        assert "no explanation" not in explain(code), code


def test_profiles_are_means_over_scored_trials(tmp_path: Path) -> None:
    cell = one_cell(tmp_path, Made("task-a", (25, 0, 10, 20)), Made("task-b", (15, 10, 20, 20)))
    means = criterion_means(cell)
    assert {name: value.amount for name, value in means.items()} == {
        "completeness": 80.0,
        "correctness": 20.0,
        "specificity": 60.0,
        "risk_awareness": 80.0,
    }
    total = artifact_means(cell)["implementation"]
    assert (total.amount, total.n, total.m) == (60.0, 2, 2)


def test_tiers_leave_failed_trials_out_like_every_other_figure() -> None:
    cell = next(
        cell for cell in published_cells().values() if cell.sample.failed and len(tier_means(cell)) > 1
    )
    tiers = tier_means(cell)
    assert sum(value.n for value in tiers.values()) == len(cell.sample.scores)
    weighted = sum((value.amount or 0.0) * value.n for value in tiers.values())
    assert weighted / len(cell.sample.scores) == pytest.approx(cell.figures["mean_score"].amount)


@pytest.mark.parametrize(
    ("model", "scores"),
    [
        ("claude-haiku-4-5", [54.80, 65.36, 56.53, 52.48]),
        ("claude-sonnet-5", [73.64, 76.52, 73.57, 66.20]),
        ("claude-opus-5", [79.04, 79.92, 77.93, 73.52]),
    ],
)
def test_the_published_tier_means_follow_from_our_records(model: str, scores: list[float]) -> None:
    cell = published_cells()[f"{model}_bedrock", "pi", "swe3", "mcp-gateway-registry-v2"]
    tiers = tier_means(cell)
    assert list(tiers) == ["trivial", "low", "medium", "high"]
    assert [round(value.amount or 0.0, 2) for value in tiers.values()] == scores


def test_no_trial_of_the_store_is_lost() -> None:
    held = sum(len(cell.trials) for cell in published_cells().values())
    assert held == len(figures.committed())
    states = {trial.state for cell in published_cells().values() for trial in cell.trials}
    assert states == set(ScoreState)


def test_warnings_of_a_superseded_trial_are_not_counted_against_the_figures_of_its_cell() -> None:
    [cell] = [
        cell
        for cell in committed()
        if cell.identity.key == ("claude-opus-5_bedrock", "pi", "swe3", "mcp-gateway-registry")
    ]
    codes = {warning.code for warning, _ in cell.warnings()}
    assert "last-turn-counters" not in codes
    assert {warning.code for warning, _ in cell.warnings_left_out()} >= {"last-turn-counters"}
