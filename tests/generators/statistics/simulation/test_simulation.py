"""The simulation with reduced counts keeps every promise, and shows a method that breaks one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from generators.reference import load_reference
from generators.statistics.intervals import Interval
from generators.statistics.simulation.calibration import calibration
from generators.statistics.simulation.claims import equal_boards, real_boards
from generators.statistics.simulation.coverage import QUESTIONS, Question, coverage, reference_width
from generators.statistics.simulation.measurement import (
    RESULT,
    SEED,
    Effort,
    lines,
    simulate,
    statistics_command,
)
from generators.statistics.simulation.populations import Floats, Population, made_populations
from generators.statistics.simulation.result import (
    LEAST_COVERAGE,
    CalibrationRow,
    StatisticsMeasurement,
    merged,
    pool,
    read_measurement,
    write_measurement,
)
from generators.statistics.simulation.structure import load_structure
from generators.statistics.verdict import Kind
from runner.errors import ConfigurationError
from tests.generators.tables.made import ROOT

SMALL = Effort(
    tasks=(5, 21), draws=300, equal_boards=60, real_boards=4, frontier_tasks=(21,), frontier_boards=60
)
TINY = Effort(
    tasks=(6,),
    draws=5,
    equal_boards=2,
    real_boards=1,
    frontier_tasks=(21,),
    frontier_cells=(3,),
    frontier_boards=2,
)


@pytest.fixture(scope="module")
def populations() -> tuple[Population, ...]:
    """The two made ones."""
    return made_populations(load_structure(), SEED)


@pytest.fixture(scope="module")
def small(populations: tuple[Population, ...]) -> StatisticsMeasurement:
    """A measurement with reduced counts."""
    return simulate(populations, SMALL, seed=SEED, taken_on=date(2026, 1, 2))


def test_intervals_in_use_cover_and_are_no_wider_than_the_adjusted_one(small: StatisticsMeasurement) -> None:
    for row in small.coverage:
        if row.promised:
            # 300 draws of a true 95 % fall below this in one of thousands.
            assert row.coverage >= 0.9, row
            if row.reference_width is not None:
                assert row.mean_width <= row.reference_width + 1e-9, row


def test_the_usual_interval_of_five_outcomes_is_seen_to_fail(small: StatisticsMeasurement) -> None:
    (row,) = (
        row
        for row in small.coverage
        if (row.what, row.method, row.tasks, row.population)
        == ("difference of rates", "paired t", 5, "made checks")
    )
    assert row.coverage < 0.75
    assert not row.promised


def test_boards_of_equal_cells_hardly_ever_claim(small: StatisticsMeasurement) -> None:
    for row in small.equal_boards:
        assert row.share_false <= 0.1, row
        assert row.boards == 60
    assert all(row.false_boards == 0 for row in small.equal_boards if row.tasks == 5)


def test_claims_about_unequal_cells_are_right(small: StatisticsMeasurement) -> None:
    decided = [row for row in small.claims if row.population == "made judge scores" and row.tasks == 21]
    assert decided[0].better > decided[0].pairs / 2
    assert sum(row.better_wrong for row in small.claims) <= 2


def test_stated_membership_is_near_the_true_share(small: StatisticsMeasurement) -> None:
    for row in pool(small.calibration):
        if row.points >= 150:
            assert abs(row.stated - row.true) <= 0.12, row


def test_what_is_drawn_depends_on_the_seed_only(populations: tuple[Population, ...]) -> None:
    day = date(2026, 1, 2)
    both = simulate(populations, TINY, seed=1, taken_on=day)
    alone = simulate(populations[1:], TINY, seed=1, taken_on=day)
    assert both == simulate(populations, TINY, seed=1, taken_on=day)
    assert [row for row in both.coverage if row.population == "made judge scores"] == list(alone.coverage)
    assert both != simulate(populations, TINY, seed=2, taken_on=day)


def test_a_method_that_claims_too_much_breaks_the_promise(
    populations: tuple[Population, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def narrow(values: Floats) -> Interval:
        mean = float(values.mean())
        return Interval(mean, mean - 1, mean + 1, len(values))

    question = Question("rate", "too narrow", True, False, False, narrow)
    monkeypatch.setitem(QUESTIONS, Kind.CHECK, (question,))
    rows = tuple(coverage(populations[0], 21, 100, np.random.default_rng(0)))
    assert rows[0].coverage < 0.5
    broken = simulate(populations[:1], TINY, seed=1, taken_on=date(2026, 1, 2)).model_copy(
        update={"coverage": rows}
    )
    assert not broken.holds
    assert broken.criteria[0].worst == rows[0].coverage
    assert any(line.startswith("FAILS: 95 % intervals") for line in lines(broken))


def test_cells_that_differ_in_truth_are_not_equal_boards(populations: tuple[Population, ...]) -> None:
    generator = np.random.default_rng(0)
    equal = equal_boards(populations[1], 21, 10, generator)
    real = real_boards(populations[1], 21, 10, generator)
    assert equal.false_boards <= 2
    assert real.better > 100


def test_a_perfect_board_is_stated_as_such() -> None:
    scores = np.array([[50.0, 52.0] * 20, [90.0, 92.0] * 20, [40.0, 42.0] * 20])
    costs = np.array([[1.0] * 40, [2.0] * 40, [3.0] * 40])
    sure = Population("sure", Kind.SCORE, "made", scores, costs)
    rows = list(calibration(sure, 21, 3, 10, np.random.default_rng(0)))
    assert [(row.points, row.stated, row.true) for row in rows] == [(10, 0.0, 0.0), (20, 1.0, 1.0)]


def test_the_reference_width_is_the_formula_worked_out_by_hand() -> None:
    # n = 8, three won and one lost: 2 z sqrt(0.5 - 0.04) / sqrt(10).
    values = 100.0 * np.array([1, 1, 1, -1, 0, 0, 0, 0])
    assert reference_width(values) == pytest.approx(100 * 2 * 1.959964 * (0.46 / 10) ** 0.5, rel=1e-6)


def test_pooling_keeps_points_and_weighs_by_them() -> None:
    row = CalibrationRow(
        population="p", tasks=21, cells=5, lowest=0.2, highest=0.5, points=10, stated=0.3, true=0.4
    )
    more = row.model_copy(update={"cells": 20, "points": 30, "stated": 0.4, "true": 0.2})
    (found,) = pool([row, more])
    assert (found.cells, found.points) == (0, 40)
    assert found.stated == pytest.approx(0.375)
    assert found.true == pytest.approx(0.25)


def test_the_stored_result_keeps_every_promise_with_full_counts() -> None:
    stored = read_measurement(ROOT / RESULT)
    assert stored is not None
    assert stored.holds, [criterion for criterion in stored.criteria if not criterion.holds]
    assert {source.population for source in stored.sources} == {
        "made checks",
        "made judge scores",
        "public table",
    }
    assert {row.tasks for row in stored.coverage} == {5, 10, 21, 50}
    assert {row.boards for row in stored.equal_boards} == {1000}
    assert stored.criteria[0].limit == LEAST_COVERAGE


def test_a_first_row_of_the_stored_result_is_what_the_code_gives(
    populations: tuple[Population, ...],
) -> None:
    stored = read_measurement(ROOT / RESULT)
    assert stored is not None
    effort = replace(Effort(), tasks=(5,), equal_boards=1, real_boards=1, frontier_tasks=())
    now = simulate(populations[1:], effort, seed=stored.seed, taken_on=stored.taken_on)
    kept = [row for row in stored.coverage if row.tasks == 5 and row.population == "made judge scores"]
    assert [(row.what, row.method) for row in now.coverage] == [(row.what, row.method) for row in kept]
    # Another processor may add in another order.
    assert [row.coverage for row in now.coverage] == pytest.approx([row.coverage for row in kept], abs=0.005)
    assert [row.mean_width for row in now.coverage] == pytest.approx(
        [row.mean_width for row in kept], rel=1e-6
    )


def test_the_stored_calibration_is_what_the_code_gives(populations: tuple[Population, ...]) -> None:
    stored = read_measurement(ROOT / RESULT)
    assert stored is not None
    boards, generator = Effort().frontier_boards, np.random.default_rng((stored.seed, 21, 5))
    now = list(calibration(populations[1], 21, 5, boards, generator))
    kept = [
        row
        for row in stored.calibration
        if (row.population, row.tasks, row.cells) == ("made judge scores", 21, 5)
    ]
    assert [row.points for row in now] == pytest.approx([row.points for row in kept], abs=3)
    assert [row.stated for row in now] == pytest.approx([row.stated for row in kept], abs=0.01)
    assert [row.true for row in now] == pytest.approx([row.true for row in kept], abs=0.03)


def test_rows_of_a_table_that_is_not_named_again_stay(small: StatisticsMeasurement) -> None:
    other = small.model_copy(
        update={
            name: tuple(
                row.model_copy(update={"population": "elsewhere"}) for row in getattr(small, name)[:1]
            )
            for name in ("sources", "coverage", "equal_boards", "claims", "calibration")
        }
    )
    found = merged(other, small)
    assert len(found.coverage) == len(small.coverage) + 1
    assert merged(found, small) == found
    # What is measured again stands where it stood: the stored file shows no change where there is none.
    assert merged(found, other) == found
    assert merged(None, small) is small


def test_the_command_stores_shows_and_tells_by_its_exit_whether_all_holds(tmp_path: Path) -> None:
    said: list[str] = []
    code = statistics_command(tmp_path, said.append, effort=TINY)
    stored = read_measurement(tmp_path / RESULT)
    assert stored is not None
    assert code == (0 if stored.holds else 2)
    assert said[:-1] == lines(stored)
    assert said[-1] == "written: site_src/reference/statistics.json"


def test_nothing_stored_is_no_fault_and_something_else_is(
    tmp_path: Path, small: StatisticsMeasurement
) -> None:
    path = tmp_path / "statistics.json"
    assert read_measurement(path) is None
    write_measurement(path, small)
    assert read_measurement(path) == small
    path.write_text('{"seed": 1}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="no result of a simulation"):
        read_measurement(path)


def test_without_rows_no_promise_is_called_kept(small: StatisticsMeasurement) -> None:
    empty = small.model_copy(
        update={"coverage": (), "equal_boards": (), "claims": (), "calibration": (), "sources": ()}
    )
    assert [criterion.holds for criterion in empty.criteria] == [False] * 4
    assert [criterion.worst for criterion in empty.criteria] == [None] * 4
    assert "not measured" in "\n".join(lines(empty))


def test_the_stored_result_is_part_of_what_pages_are_made_from(tmp_path: Path) -> None:
    stored = load_reference(ROOT / "site_src").statistics
    assert stored is not None
    assert stored == read_measurement(ROOT / RESULT)
    assert load_reference(tmp_path).statistics is None
