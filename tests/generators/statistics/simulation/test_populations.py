"""Populations: made ones have the structure they are made from, and a public table is read as it is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from generators.statistics.simulation.populations import (
    made_checks,
    made_judge_scores,
    made_populations,
    public_table,
)
from generators.statistics.simulation.structure import check_structure, judge_structure, load_structure
from generators.statistics.verdict import Kind
from runner.errors import ConfigurationError


def write_table(folder: Path, systems: dict[str, dict[str, object]]) -> Path:
    """Sidecars as their publisher lays them out."""
    for name, rows in systems.items():
        path = folder / "results" / name / "instance_results" / "swe-bench.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(rows), encoding="utf-8")
    return folder


def row(resolved: bool | None, cost: float | None) -> dict[str, object]:
    """One result."""
    return {"resolved": resolved, "cost": cost}


def test_made_checks_have_the_rates_and_costs_they_are_made_from() -> None:
    structure = load_structure().checks
    made = made_checks(structure, 3)
    assert made.kind is Kind.CHECK
    assert set(np.unique(made.scores)) == {0.0, 100.0}
    rates = np.array([system.rate for system in structure.systems])
    assert np.abs(made.true_scores / 100 - rates).mean() < 0.03
    again = check_structure(made.scores / 100, made.costs, "again")
    assert again.shared_cost == pytest.approx(structure.shared_cost, abs=0.05)
    assert again.difficulty_spread == pytest.approx(structure.difficulty_spread, rel=0.15)


def test_made_judge_scores_have_the_spreads_they_are_made_from() -> None:
    structure = load_structure().judge
    made = made_judge_scores(structure, 3)
    again = judge_structure([(made.scores[:60], made.costs[:60])], "again")
    assert again.cell_spread == pytest.approx(structure.cell_spread, rel=0.25)
    assert again.task_spread == pytest.approx(structure.task_spread, rel=0.1)
    assert again.rest_spread == pytest.approx(structure.rest_spread, rel=0.1)
    assert again.log_cost_rest_spread == pytest.approx(structure.log_cost_rest_spread, rel=0.05)
    assert made.scores.min() >= 0
    assert made.scores.max() <= 100


def test_one_seed_makes_one_population() -> None:
    structure = load_structure()
    for one, two, other in zip(
        made_populations(structure, 1),
        made_populations(structure, 1),
        made_populations(structure, 2),
        strict=True,
    ):
        assert np.array_equal(one.scores, two.scores)
        assert np.array_equal(one.costs, two.costs)
        assert not np.array_equal(one.scores, other.scores)


def test_a_public_table_keeps_common_tasks_and_leaves_out_systems_without_costs(tmp_path: Path) -> None:
    table = write_table(
        tmp_path,
        {
            "b": {"t1": row(True, 0.5), "t2": row(None, None), "t3": row(True, 1.0)},
            "a": {"t2": row(True, 2.0), "t1": row(False, 1.0)},
            "free": {"t1": row(True, 0.0), "t2": row(True, 0.0)},
        },
    )
    found = public_table(table, "made here")
    assert found.scores.tolist() == [[0.0, 100.0], [100.0, 0.0]]
    assert found.costs.tolist() == [[1.0, 2.0], [0.5, 0.0]]
    assert found.true_scores.tolist() == [50.0, 50.0]
    assert found.source == "made here"


def test_a_folder_without_a_table_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no table of results"):
        public_table(tmp_path, "")
    with pytest.raises(ConfigurationError, match="no table of results"):
        public_table(write_table(tmp_path, {"one": {"t": row(True, 1.0)}}), "")


@pytest.mark.parametrize(
    "content", ["not json", "[]", '{"t": {"resolved": true}}', '{"t": 3}', '{"t": {"cost": "x"}}']
)
def test_a_broken_table_is_named(tmp_path: Path, content: str) -> None:
    table = write_table(tmp_path, {"a": {"t": row(True, 1.0)}})
    broken = table / "results" / "b" / "instance_results" / "swe-bench.json"
    broken.parent.mkdir(parents=True)
    broken.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError) as told:
        public_table(table, "")
    assert str(broken) in str(told.value)
