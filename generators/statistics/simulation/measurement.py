"""Measurement: ``invoke measure statistics``, from populations to a stored table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from generators.statistics.simulation.calibration import calibration
from generators.statistics.simulation.claims import equal_boards, real_boards
from generators.statistics.simulation.coverage import coverage
from generators.statistics.simulation.populations import Population, made_populations, public_table
from generators.statistics.simulation.result import (
    CalibrationRow,
    ClaimsRow,
    CoverageRow,
    EqualBoardsRow,
    Source,
    StatisticsMeasurement,
    merged,
    pool,
    read_measurement,
    write_measurement,
)
from generators.statistics.simulation.structure import load_structure

SEED = 20240517
RESULT = Path("site_src", "reference", "statistics.json")


@dataclass(frozen=True)
class Effort:
    """How much is drawn."""

    tasks: tuple[int, ...] = (5, 10, 21, 50)
    draws: int = 1000
    equal_boards: int = 1000
    real_boards: int = 100
    frontier_tasks: tuple[int, ...] = (21, 50)
    frontier_cells: tuple[int, ...] = (5, 10, 20)
    frontier_boards: int = 300


def simulate(
    populations: Sequence[Population], effort: Effort, *, seed: int, taken_on: date
) -> StatisticsMeasurement:
    """All rows for all populations. The same seed gives the same rows, whichever populations are with it."""
    covered: list[CoverageRow] = []
    equal: list[EqualBoardsRow] = []
    claims: list[ClaimsRow] = []
    calibrated: list[CalibrationRow] = []
    for population in populations:
        for tasks in effort.tasks:
            generator = np.random.default_rng((seed, tasks))
            covered.extend(coverage(population, tasks, effort.draws, generator))
            equal.append(equal_boards(population, tasks, effort.equal_boards, generator))
            claims.append(real_boards(population, tasks, effort.real_boards, generator))
        for tasks in effort.frontier_tasks:
            for cells in effort.frontier_cells:
                generator = np.random.default_rng((seed, tasks, cells))
                calibrated.extend(calibration(population, tasks, cells, effort.frontier_boards, generator))
    return StatisticsMeasurement(
        taken_on=taken_on,
        version=version("harnessmark"),
        seed=seed,
        sources=tuple(
            Source(
                population=each.name,
                systems=each.scores.shape[0],
                tasks=each.scores.shape[1],
                source=each.source,
            )
            for each in populations
        ),
        coverage=tuple(covered),
        equal_boards=tuple(equal),
        claims=tuple(claims),
        calibration=tuple(calibrated),
    )


def statistics_command(
    root: Path,
    say: Callable[[str], None],
    *,
    table: str = "",
    source: str = "",
    effort: Effort | None = None,
) -> int:
    """Simulate, show the table and store it; 2 where a promise is not kept.

    Args:
        root: folder of the project.
        say: shows a line.
        table: folder with a copy of a public table to measure as well; its rows stay when it is not named.
        source: what to name that table.
        effort: how much to draw.

    Raises:
        ConfigurationError: no table is below the folder, or the stored result is broken.
    """
    populations = list(made_populations(load_structure(), SEED))
    if table:
        populations.append(public_table(Path(table), source or "a table that was not named"))
    path = root / RESULT
    kept = read_measurement(path)
    now = simulate(populations, effort or Effort(), seed=SEED, taken_on=datetime.now(UTC).date())
    found = merged(kept, now)
    write_measurement(path, found)
    for line in lines(found):
        say(line)
    say(f"written: {RESULT.as_posix()}")
    return 0 if found.holds else 2


def lines(found: StatisticsMeasurement) -> list[str]:
    """The table in words."""
    shown = [
        "coverage of nominal 95 % intervals, and mean width (points, or dollars for costs); * is held to it"
    ]
    keys = dict.fromkeys((row.population, row.what, row.method) for row in found.coverage)
    for key in keys:
        its = [row for row in found.coverage if (row.population, row.what, row.method) == key]
        each = "  ".join(f"n={row.tasks}: {100 * row.coverage:.1f} % {row.mean_width:.2f}" for row in its)
        shown.append(f"  {key[0]}, {key[1]}, {key[2]}{' *' if its[0].promised else ''}: {each}")
    shown.append("boards of equal cells that claim a difference")
    for board in found.equal_boards:
        shown.append(
            f"  {board.population}, n={board.tasks}: {board.false_boards} of {board.boards}; "
            f"{100 * board.share_ties:.1f} % of pairs called a tie"
        )
    shown.append("boards of unequal cells")
    for claim in found.claims:
        shown.append(
            f"  {claim.population}, n={claim.tasks}: of {claim.pairs} pairs {claim.better} better "
            f"({claim.better_wrong} wrong), {claim.ties} ties ({claim.ties_wrong} wrong)"
        )
    shown.append("stated frontier membership beside the true share (points)")
    rows = [*found.calibration, *pool(found.calibration)]
    for place in dict.fromkeys((row.population, row.tasks, row.cells) for row in rows):
        ranges = [row for row in rows if (row.population, row.tasks, row.cells) == place]
        each = "  ".join(f"{row.stated:.2f}: {row.true:.2f} ({row.points})" for row in ranges)
        boards = f"boards of {place[2]}" if place[2] else "all boards"
        shown.append(f"  {place[0]}, n={place[1]}, {boards}: {each}")
    for criterion in found.criteria:
        worst = "not measured" if criterion.worst is None else f"{criterion.worst:.3f}"
        verdict = "holds" if criterion.holds else "FAILS"
        shown.append(f"{verdict}: {criterion.name}: {worst} (limit {criterion.limit:g}), {criterion.where}")
    return shown
