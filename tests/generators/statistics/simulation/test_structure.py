"""Structure is taken from tables whose structure is known, and the stored one is what the records give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from generators.statistics.simulation.structure import (
    Floats,
    abilities,
    check_structure,
    judge_structure,
    load_structure,
)
from generators.tables.judge_boards import judge_boards
from runner.errors import ConfigurationError
from tests.generators.tables.made import committed


def made_board(generator: np.random.Generator, cells: int, tasks: int) -> tuple[Floats, Floats]:
    """A board with spreads of 10 between cells, 5 between tasks and 6 in the rest."""
    levels, hard = 10 * generator.standard_normal((cells, 1)), 5 * generator.standard_normal(tasks)
    scores = 60 + levels + hard + 6 * generator.standard_normal((cells, tasks))
    logs = 0.05 * levels + 0.8 * generator.standard_normal((cells, 1))
    logs = logs + 0.3 * generator.standard_normal(tasks) + 0.4 * generator.standard_normal((cells, tasks))
    return scores, np.exp(logs)


def test_the_spreads_that_made_boards_are_found_again() -> None:
    generator = np.random.default_rng(1)
    found = judge_structure([made_board(generator, 20, 30) for _ in range(30)], "made")
    assert (found.groups, found.cells) == (30, 600)
    assert found.mean == pytest.approx(60, abs=1.5)
    assert found.cell_spread == pytest.approx(10, rel=0.1)
    assert found.task_spread == pytest.approx(5, rel=0.1)
    assert found.rest_spread == pytest.approx(6, rel=0.05)
    assert found.log_cost_slope == pytest.approx(0.05, abs=0.01)
    assert found.log_cost_spread == pytest.approx(0.8, rel=0.1)
    assert found.log_cost_task_spread == pytest.approx(0.3, rel=0.15)
    assert found.log_cost_rest_spread == pytest.approx(0.4, rel=0.05)
    assert found.rest_shape[10] == pytest.approx(0, abs=0.05)
    assert list(found.rest_shape) == sorted(found.rest_shape)


def test_boards_of_two_cells_tell_no_parts_apart() -> None:
    with pytest.raises(ValueError, match="three cells"):
        judge_structure([made_board(np.random.default_rng(0), 2, 9)], "made")


def test_a_board_with_unknown_costs_still_tells_of_scores() -> None:
    scores, costs = made_board(np.random.default_rng(0), 6, 9)
    costs[:] = np.nan
    found = judge_structure([(scores, costs)], "made")
    assert found.rest_spread > 0
    assert (found.log_cost_spread, found.log_cost_slope) == (0.0, 0.0)


def test_difficulty_and_costs_that_made_a_table_are_found_again() -> None:
    generator = np.random.default_rng(2)
    rates = np.linspace(0.3, 0.9, 30)
    hard = 2.5 * generator.standard_normal(1500)
    chances = 1 / (1 + np.exp(hard - abilities(rates, 2.5)[:, None]))
    resolved = (generator.random(chances.shape) < chances).astype(float)
    shared = 0.5**0.5 * generator.standard_normal(1500)
    costs = np.exp(0.2 + 0.9 * (shared + 0.5**0.5 * generator.standard_normal(chances.shape)))
    costs[0, :50] = 0.0
    found = check_structure(resolved, costs, "made")
    assert found.difficulty_spread == pytest.approx(2.5, rel=0.1)
    assert found.shared_cost == pytest.approx(0.5, abs=0.06)
    assert [system.rate for system in found.systems] == pytest.approx(list(rates), abs=0.05)
    assert found.systems[0].log_cost == pytest.approx(0.2, abs=0.1)
    assert found.systems[9].log_cost_spread == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("spread", [0.0, 1.0, 4.4])
def test_abilities_give_back_the_rates(spread: float) -> None:
    rates = np.array([0.05, 0.5, 0.95])
    generator = np.random.default_rng(0)
    hard = spread * generator.standard_normal(200_000)
    solved = [float((1 / (1 + np.exp(hard - ability))).mean()) for ability in abilities(rates, spread)]
    assert solved == pytest.approx(list(rates), abs=0.005)


def test_the_stored_structure_of_judge_scores_is_that_of_the_records() -> None:
    stored = load_structure().judge
    now = judge_structure(judge_boards(committed()), stored.source)
    names = ("groups", "cells", "mean", "cell_spread", "task_spread", "rest_spread", "rest_shape")
    assert {name: getattr(now, name) for name in names} == {name: getattr(stored, name) for name in names}


def test_the_stored_structure_of_checks_names_its_source_and_holds_no_row_of_it() -> None:
    stored = load_structure().checks
    assert "openhands-index-results at 3015ac612e7196f428e6e8a3948965d32d9a3331, MIT" in stored.source
    assert (len(stored.systems), stored.tasks) == (41, 500)


@pytest.mark.parametrize("content", [None, "{}", "no JSON"])
def test_a_broken_structure_is_explained(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "structure.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_structure(path)
