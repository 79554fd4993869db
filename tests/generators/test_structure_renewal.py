"""The structure of the populations is taken from the records again, and from a table where one is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from generators.statistics.simulation.structure import PATH, load_structure
from generators.structure_renewal import renew_structure
from runner.errors import ConfigurationError
from tests.generators.tables.made import ROOT


def test_without_a_table_the_checks_stay_and_judge_scores_are_those_of_the_records(tmp_path: Path) -> None:
    path = tmp_path / "structure.json"
    shutil.copy(PATH, path)
    said: list[str] = []
    assert renew_structure(ROOT, said.append, path=path) == 0
    now, before = load_structure(path), load_structure()
    assert now.checks == before.checks
    assert now.judge.rest_spread == before.judge.rest_spread
    assert now.judge.cells == before.judge.cells
    assert said[0].startswith("checks: 41 systems, 500 tasks")


def test_a_table_that_is_named_takes_the_place_of_the_checks(tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "structure.json"
    shutil.copy(PATH, path)
    for place, name in enumerate(("one", "two", "three")):
        sidecar = tmp_path / "table" / name / "instance_results" / "swe-bench.json"
        sidecar.parent.mkdir(parents=True)
        rows = {f"t{task}": {"resolved": task % (place + 2) == 0, "cost": 0.5 + task} for task in range(20)}
        sidecar.write_text(json.dumps(rows), encoding="utf-8")
    renew_structure(ROOT, said.append, table=str(tmp_path / "table"), source="made here", path=path)
    now = load_structure(path)
    assert (len(now.checks.systems), now.checks.tasks) == (3, 20)
    assert now.checks.source.startswith("made here; figures of its")
    with pytest.raises(ConfigurationError, match="no table"):
        renew_structure(ROOT, said.append, table=str(tmp_path / "nowhere"), path=path)
    assert load_structure(path) == now
